"""The list of all lessons as a path: in the curriculum's groups and order, each with what a reader chooses by.

The groups are those of lessons.toml. All else is the notebook's own: its error, its minutes, and the first sentence
of what it asks a reader to remember. docs/assets/lesson-path.js adds how far a reader came, which only a browser knows.
"""

import json
import re
from itertools import groupby
from pathlib import Path
from typing import Any

from samedevice.catalog import Lesson, load
from site_build.build_error import BuildError
from site_build.escaping import escaped, sentences
from site_build.names import group_anchor

_MINUTES = re.compile(r"^(\d+ minutes)[.,]", re.M)
_FIRST_TO_REMEMBER = re.compile(r"^## Remember\n+1\. (.+?\.)(?= |$)", re.M)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")


def lesson_list(notebooks: Path) -> str:
    """Return the list as Markdown, of each notebook in `notebooks`, in its group.

    Raises:
        BuildError: a lesson says neither how many minutes it takes nor what to remember.
    """
    lessons = [lesson for lesson in load().lessons.values() if (notebooks / f"{lesson.slug}.ipynb").exists()]
    parts = []
    for group, members in groupby(lessons, key=lambda lesson: lesson.group):
        parts.append(f"## {escaped(group)} {{ #{group_anchor(group)} .lesson-group }}")
        parts.append("\n".join(_entry(lesson, notebooks) for lesson in members))
    return "\n\n".join(parts)


def _entry(lesson: Lesson, notebooks: Path) -> str:
    file = notebooks / f"{lesson.slug}.ipynb"
    notebook = json.loads(file.read_text(encoding="utf-8"))
    name = escaped(f"{lesson.slug[:2]} · {lesson.title}")
    gpus = ", two GPUs" if notebook["metadata"].get("gpus") == 2 else ""
    questions = sum("predict" in cell["metadata"].get("tags", []) for cell in notebook["cells"])
    return "<br>\n  ".join(
        (
            f"- **[{name}](../notebooks/{file.name})** <small>{_found(_MINUTES, notebook, file)}{gpus}</small>"
            f'<small class="standing" data-questions="{questions}"></small>',
            f"<code>{escaped(notebook['metadata']['title'])}</code>",
            sentences(_LINK.sub(r"\1", _found(_FIRST_TO_REMEMBER, notebook, file))),  # the row is one link
        )
    )


def _found(pattern: re.Pattern[str], notebook: dict[str, Any], file: Path) -> str:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown" and (found := pattern.search("".join(cell["source"]))):
            return found[1]
    raise BuildError(f"The list of lessons wants what {file.name} does not say: {pattern.pattern}")
