"""Write the address of the project's repository on GitHub wherever it stands, or say what the address is.

`make repository URL=https://github.com/me/mine` is for the first push, and for a project that moves. The address in
pyproject.toml says what to look for; its forms are https://github.com/OWNER/NAME (so too in the Colab links and in each
notebook's first cell), OWNER.github.io/NAME, where the site is served, and the README's `cd NAME`. A fork does not need
this: its site takes its address from GitHub or from git (tools/site_build/repository.py), and its code is upstream's.

`python3 tools/repository.py --check` says in one line, on GitHub, what is still to be done, or whose address this is:
CI begins with it. A clone elsewhere is told nothing, because its reader may be anybody. `--release` fails if the
address is another's, because a package that was published from here would lead its readers to somebody else's site.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

# The owner's name until there is a repository.
PLACEHOLDER = "your_name"


def main(root: Path, arguments: list[str]) -> int:
    owner, name = held(root)
    running = os.environ.get("GITHUB_REPOSITORY")
    if arguments == ["--check"]:
        say(what_to_know((owner, name), running, is_fork()))
        return 0
    if arguments == ["--release"]:
        return may_be_released((owner, name), running)
    address = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?", arguments[0]) if arguments else None
    if len(arguments) != 1 or not address:
        print("Name the repository on GitHub: make repository URL=https://github.com/OWNER/NAME", file=sys.stderr)
        return 2
    changed = rewrite(root, (owner, name), (address[1], address[2]))
    print("\n".join(["Rewritten in:", *changed]) if changed else "Nothing to rewrite: this is the address already.")
    return 0


def held(root: Path) -> tuple[str, str]:
    """Return the owner and the name that stand in pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    owner, name = project["urls"]["Repository"].split("/")[-2:]
    return owner, name


def what_to_know(ours: tuple[str, str], running: str | None, fork: bool) -> str:
    """Return one sentence, or "". RUNNING is the repository whose workflow this is; GitHub ignores case."""
    upstream = "/".join(ours)
    if running is None or running.lower() == upstream.lower():
        return ""
    if ours[0] == PLACEHOLDER:
        return f"Run {command(running)} once, so that Colab and the links work."
    if fork:
        return f"This is the fork {running}: the site's address and links are its own, the package is {upstream}'s."
    return f"This is {running}, but the package and Colab lead to {upstream}: run {command(running)} if it moved."


def command(repository: str) -> str:
    return f"`make repository URL=https://github.com/{repository}`"


def is_fork() -> bool:
    """Tell whether the workflow's repository is a fork: the event that started it says so."""
    event = os.environ.get("GITHUB_EVENT_PATH")
    if not event or not Path(event).exists():
        return False
    return bool(json.loads(Path(event).read_text("utf-8")).get("repository", {}).get("fork"))


def say(sentence: str) -> None:
    """Print it; on GitHub it is a notice on the run's page."""
    if sentence:
        print(f"::notice title=Address::{sentence}" if os.environ.get("GITHUB_ACTIONS") == "true" else sentence)


def may_be_released(ours: tuple[str, str], running: str | None) -> int:
    if ours[0] != PLACEHOLDER and (running is None or running.lower() == "/".join(ours).lower()):
        return 0
    print(
        f"{command(running or 'OWNER/NAME')} and commit what it changes: a package is published once.", file=sys.stderr
    )
    return 2


def rewrite(root: Path, old: tuple[str, str], new: tuple[str, str]) -> list[str]:
    """Replace OLD's owner and name by NEW's in every text file of the repository; return the files changed."""
    owner, name = map(re.escape, old)
    # With the folder that `git clone` makes and that the README enters.
    pattern = re.compile(rf"(?<![\w.-]){owner}(\.github\.io)?/{name}(?:((?:\.git)? && cd ){name})?(?![\w-])")

    def renamed(found: re.Match[str]) -> str:
        return f"{new[0]}{found[1] or ''}/{new[1]}" + (f"{found[2]}{new[1]}" if found[2] else "")

    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    changed = []
    for file in sorted(filter(None, names)):
        path = root / file
        try:
            before = path.read_text("utf-8")
        except (UnicodeDecodeError, FileNotFoundError):  # a picture; a file deleted but not yet committed
            continue
        after = pattern.sub(renamed, before)
        if after != before:
            path.write_text(after, "utf-8")
            changed.append(file)
    return changed


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parent.parent, sys.argv[1:]))
