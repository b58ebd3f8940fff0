"""The project's scripts without the lines that are comments: these are for editors, and a fifth of the weight."""

import re
from pathlib import Path

# A comment that is a line of its own. Template literals of the scripts have no such line: a test compares what they do.
_COMMENT = re.compile(r"^ *(?://.*|/\*\*.*\*/) *\n", re.M)


def remove_comments(site: Path) -> None:
    """Write each of the built site's own scripts anew, without its lines of comment."""
    for script in [*(site / "assets").glob("*.js"), *(site / "assets/doctor").glob("*.js")]:
        script.write_text(without_comments(script.read_text("utf-8")), "utf-8")


def without_comments(script: str) -> str:
    return _COMMENT.sub("", script)
