"""The project's scripts without their comments: these are for editors, and a fifth of the weight."""

import re
from pathlib import Path

# A comment of whole lines, or one behind a sign that ends a part of code. No text of the scripts has such a part: a
# test compares what they do.
_COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/) *\n|(?<=[;,{(&|)\]>]) // .*$", re.M)


def remove_comments(site: Path) -> None:
    """Write each of the built site's own scripts anew, without its comments."""
    for script in [*(site / "assets").glob("*.js"), *(site / "assets/doctor").glob("*.js")]:
        script.write_text(without_comments(script.read_text("utf-8")), "utf-8")


def without_comments(script: str) -> str:
    return _COMMENT.sub("", script)
