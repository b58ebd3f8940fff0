"""CONTRIBUTING.md and MAINTAINING.md as pages of the site.

GitHub looks for these files beside the README, so they stay there and no copy is kept. Their links count from that
folder, as GitHub wants it. On the site, a link from one guide to the other leads to its
page, so does a link to a page of docs/ or to a lesson, and a link to any other file leads to that file on GitHub. A
link to a file that is not there is left as it is, and MkDocs reports it.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from site_build.front_matter import front_matter


class Guide(NamedTuple):
    file: str
    name: str
    title: str
    description: str


GUIDES = {
    "contributing.md": Guide(
        "CONTRIBUTING.md",
        "Contributing",
        "Contribute to Same Device",
        "How to correct a sentence, or to add a message, a failure or a rule of the simulation, and how to test it.",
    ),
    "maintaining.md": Guide(
        "MAINTAINING.md",
        "Maintaining",
        "Maintain Same Device",
        "How each part of the project is tested and released, and what to do when PyTorch, Colab or GitHub changes.",
    ),
}

_CODE_OR_LINK = re.compile(r"^ *```.*?^ *```|`[^`\n]+`|(?<=\]\()[^)\s]+(?=\))", re.S | re.M)


def guide_page(place: str, root: Path, repository: str | None, pages: Collection[str]) -> str:
    """Return the Markdown of the page at `place`, from a file of `root`.

    Args:
        place: a key of GUIDES.
        root: the folder of the guides.
        repository: the address of the repository on GitHub, to whose files links lead.
        pages: the places of the site's other files, as they are below docs/.
    """
    guide = GUIDES[place]
    places = {other.file: page for page, other in GUIDES.items()}

    def of_the_site(found: re.Match[str]) -> str:
        path, mark, anchor = found[0].partition("#")
        page = places.get(path, path.removeprefix("docs/"))
        if found[0].startswith("`") or not path or "://" in path:
            return found[0]
        if page in places.values() or page in pages:
            return page + mark + anchor
        if repository and (root / path).exists():
            return f"{repository}/{'tree' if (root / path).is_dir() else 'blob'}/main/{found[0]}"
        return found[0]

    text = (root / guide.file).read_text(encoding="utf-8")
    return front_matter(guide.title, guide.description) + "\n\n" + _CODE_OR_LINK.sub(of_the_site, text)
