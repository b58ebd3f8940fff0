"""When what a page is made of last changed, for the sitemap: by git, to the day. The day of a build says nothing."""

import functools
import subprocess
from pathlib import Path

from mkdocs.structure.files import File

# A copy that an action of GitHub makes has one commit only, by which everything changed today.
_IS_SHALLOW = ("git", "rev-parse", "--is-shallow-repository")
_LOG = ("git", "log", "--format=%x00%cs", "--name-only", "--no-renames", "--", "docs", "notebooks", "src")


def last_changed(file: File, project: Path) -> str | None:
    """Return the day, such as "2026-03-01"; None where git does not know it.

    Of the causes, which share a file, no day is known.
    """
    place = file.src_uri
    if place.startswith("errors/sd"):
        source = f"src/samedevice/catalog/messages/{place.removeprefix('errors/').removesuffix('.md').upper()}.toml"
    else:
        source = place if place.endswith(".ipynb") else f"docs/{place}"
    return _days(project).get(source)


@functools.cache
def _days(project: Path) -> dict[str, str]:
    if not (project / ".git").exists() or _git(_IS_SHALLOW, project).strip() != "false":
        return {}
    days: dict[str, str] = {}
    for commit in _git(_LOG, project).split("\0")[1:]:  # the newest first
        day, *names = commit.split("\n")
        for name in filter(None, names):
            days.setdefault(name, day)
    return days


def _git(command: tuple[str, ...], project: Path) -> str:
    try:
        return subprocess.run(command, cwd=project, capture_output=True, encoding="utf-8").stdout
    except OSError:  # there is no git
        return ""
