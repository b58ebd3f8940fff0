"""Rewrite the project's address on GitHub wherever it stands, for a fork: `make address URL=https://github.com/me/mine`.

The address in pyproject.toml says what to look for; its forms are https://github.com/OWNER/NAME (so too in the Colab
links and in each notebook's first cell) and OWNER.github.io/NAME, where the site is served.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path


def main(root: Path, arguments: list[str]) -> int:
    address = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?", arguments[0]) if arguments else None
    if len(arguments) != 1 or not address:
        print("Name the repository on GitHub: make address URL=https://github.com/OWNER/NAME", file=sys.stderr)
        return 2
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    old_owner, old_name = project["urls"]["Repository"].split("/")[-2:]
    changed = rewrite(root, (old_owner, old_name), (address[1], address[2]))
    print("\n".join(["Rewritten in:", *changed]) if changed else "Nothing to rewrite: this is the address already.")
    return 0


def rewrite(root: Path, old: tuple[str, str], new: tuple[str, str]) -> list[str]:
    """Replace OLD's owner and name by NEW's in every text file of the repository; return the files changed."""
    pattern = re.compile(rf"(?<![\w.-]){re.escape(old[0])}(\.github\.io)?/{re.escape(old[1])}(?![\w-])")
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    changed = []
    for name in sorted(filter(None, names)):
        path = root / name
        try:
            before = path.read_text("utf-8")
        except (UnicodeDecodeError, FileNotFoundError):  # a picture; a file deleted but not yet committed
            continue
        after = pattern.sub(lambda match: f"{new[0]}{match[1] or ''}/{new[1]}", before)
        if after != before:
            path.write_text(after, "utf-8")
            changed.append(name)
    return changed


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parent.parent, sys.argv[1:]))
