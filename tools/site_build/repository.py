"""The repository on GitHub that this checkout is of: the site's own address and its links to files follow from it.

The address that stands in the files is upstream's. A fork's site is the fork's all the same, though nobody has edited a
file: GitHub tells a workflow where it runs, and git tells where a clone comes from.
"""

import os
import re
import subprocess
from pathlib import Path

_ON_GITHUB = re.compile(r"(?:https://(?:[^/@]*@)?|(?:ssh://)?git@)github\.com[:/]([\w.-]+)/([\w.-]+?)(?:\.git)?/?")


def repository(project: Path, written: str | None) -> str | None:
    """Return https://github.com/OWNER/NAME: where this workflow runs, else a git remote, else what is `written`."""
    names = os.environ.get("GITHUB_REPOSITORY") or _of_a_remote(project)
    return f"https://github.com/{names}" if names else written


def published_address(repository: str | None) -> str | None:
    """Return the address at which GitHub Pages publishes: `https://github.com/a/b` gives `https://a.github.io/b/`."""
    names = _ON_GITHUB.fullmatch(repository or "")
    if not names:
        return None
    host = f"{names[1].lower()}.github.io"
    return f"https://{host}/" if names[2].lower() == host else f"https://{host}/{names[2]}/"


def in_colab(repository: str | None, place: str) -> str:
    """Return the address at which Colab opens a notebook. Its branch `colab` has no answers to what is asked."""
    return f"{repository}/blob/colab/{place}".replace("//github.com/", "//colab.research.google.com/github/")


def leading_here(text: str, written: str | None, repository: str | None) -> str:
    """Return a page's text whose links to the repository that is `written` in it lead to this one."""
    old, new = _ON_GITHUB.fullmatch(written or ""), _ON_GITHUB.fullmatch(repository or "")
    if not old or not new or old[0] == new[0]:
        return text
    text = text.replace(f"https://{old[1]}.github.io/{old[2]}/", published_address(repository) or "")
    return text.replace(f"{old[1]}/{old[2]}", f"{new[1]}/{new[2]}")


def _of_a_remote(project: Path) -> str | None:
    """Return OWNER/NAME of the remote `origin`, else of another that is on github.com."""
    if not (project / ".git").exists():  # a folder inside a repository of something else
        return None
    ask = ["git", "config", "--get-regexp", r"^remote\..*\.url$"]
    try:
        said = subprocess.run(ask, cwd=project, capture_output=True, text=True).stdout
    except OSError:  # there is no git
        return None
    remotes = [line.split(maxsplit=1) for line in said.splitlines()]
    remotes.sort(key=lambda remote: remote[0] != "remote.origin.url")
    found = [names for _, address in remotes if (names := _ON_GITHUB.fullmatch(address))]
    return f"{found[0][1]}/{found[0][2]}" if found else None
