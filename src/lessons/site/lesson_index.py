"""The list of all lessons, in the curriculum's order, from lessons.toml and what each notebook says of itself.

`<!-- lessons -->` on a page is where it comes.
"""

import json
from pathlib import Path

from lessons.site.escaping import escaped
from samedevice.catalog import load

_PLACE = "<!-- lessons -->"


def with_lessons(markdown: str, notebooks: Path) -> str:
    """`markdown` with the list in its place: of each notebook in `notebooks` its title, description and GPUs."""
    if _PLACE not in markdown:
        return markdown
    entries = []
    for lesson in load().lessons.values():
        file = notebooks / f"{lesson.slug}.ipynb"
        if file.exists():
            about = json.loads(file.read_text(encoding="utf-8"))["metadata"]
            name = escaped(f"{lesson.slug[:2]} · {lesson.title}")
            gpus = " Two GPUs." if about.get("gpus") == 2 else ""
            entries.append(f"- **[{name}](../notebooks/{file.name})**<br>\n  {escaped(about['description'])}{gpus}")
    return markdown.replace(_PLACE, "\n".join(entries))
