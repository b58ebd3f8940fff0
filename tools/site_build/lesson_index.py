"""The list of all lessons, in the curriculum's groups and order, each with the error that a reader sees.

The groups are those of lessons.toml, and the errors are the titles in the notebooks' metadata.
"""

import json
from itertools import groupby
from pathlib import Path

from samedevice.catalog import Lesson, load
from site_build.escaping import escaped
from site_build.names import group_anchor


def lesson_list(notebooks: Path) -> str:
    """Return the list as Markdown: the name, the title and the GPUs of each notebook in `notebooks`, in its group."""
    lessons = [lesson for lesson in load().lessons.values() if (notebooks / f"{lesson.slug}.ipynb").exists()]
    parts = []
    for group, members in groupby(lessons, key=lambda lesson: lesson.group):
        parts.append(f"## {escaped(group)} {{ #{group_anchor(group)} .lesson-group }}")
        parts.append("\n".join(_entry(lesson, notebooks) for lesson in members))
    return "\n\n".join(parts)


def _entry(lesson: Lesson, notebooks: Path) -> str:
    file = notebooks / f"{lesson.slug}.ipynb"
    metadata = json.loads(file.read_text(encoding="utf-8"))["metadata"]
    name = escaped(f"{lesson.slug[:2]} · {lesson.title}")
    gpus = " (two GPUs)" if metadata.get("gpus") == 2 else ""
    return f"- **[{name}](../notebooks/{file.name})**<br>\n  {escaped(metadata['title'])}{gpus}"
