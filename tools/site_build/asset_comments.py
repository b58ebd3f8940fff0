"""The project's scripts and style sheets without their comments: these are for editors, and a fifth of the weight."""

import re
from pathlib import Path

# A comment of whole lines, or one behind a sign that ends a part of code. No text of the scripts has such a part: a
# test compares what they do.
_IN_SCRIPT = re.compile(r"^ *(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/) *\n|(?<=[;,{(&|)\]>]) // .*$", re.M)
# No text of the style sheets has the signs of one.
_IN_SHEET = re.compile(r"\s*/\*.*?\*/", re.S)


def remove_comments(site: Path) -> None:
    """Write each of the built site's own scripts and style sheets anew, without its comments."""
    for script in [*(site / "assets").glob("*.js"), *(site / "assets/doctor").glob("*.js")]:
        script.write_text(without_comments(script.read_text("utf-8")), "utf-8")
    for sheet in (site / "assets").glob("*.css"):
        sheet.write_text(_IN_SHEET.sub("", sheet.read_text("utf-8")), "utf-8")


def without_comments(script: str) -> str:
    return _IN_SCRIPT.sub("", script)
