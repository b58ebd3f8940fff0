"""No file of the built site holds what a terminal or the machine that ran it left behind, whatever the file is for."""

import gzip
import re
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOMEBODYS_FOLDER = rb"(?i)(?<![\w.])/(?:home|root|users|tmp)/\w|\b[a-z]:[\\/]{1,4}users\b|/var/folders/"
IN_COLOUR = rb"\x1b|\\u001b|\\x1b|\\033|\[[0-9;]{1,9}m\b"


@pytest.fixture(scope="module")
def contents(site):
    """Of each file the bytes that a reader gets, unpacked."""
    files = [path for path in site.folder.rglob("*") if path.is_file()]
    assert {".html", ".ipynb", ".json", ".js", ".css", ".svg", ".xml", ".gz"} <= {path.suffix for path in files}
    unpack = {".gz": gzip.decompress}
    return {path: unpack.get(path.suffix, bytes)(path.read_bytes()) for path in files}


def test_no_file_names_a_folder_of_a_person_or_of_this_machine(contents):
    here = [str(folder).encode() for folder in (ROOT, Path.home(), sys.prefix, tempfile.gettempdir())]
    mine = rf"{SOMEBODYS_FOLDER.decode()}|" + "|".join(rf"{re.escape(name.decode())}/" for name in here)
    found = {path.name: text for path, data in contents.items() if (text := re.findall(mine.encode(), data)[:3])}
    assert found == {}


def test_no_file_is_coloured_for_a_terminal(contents):
    """Scripts may speak of such codes, which they take out of what is pasted; no other text ever holds one."""
    found = {
        path.name: text
        for path, data in contents.items()
        if path.suffix not in (".js", ".map", ".png") and (text := re.findall(IN_COLOUR, data)[:3])
    }
    assert found == {}


def test_no_page_shows_where_a_package_is_installed(tags):
    for path in tags:
        text = re.sub(r'(href|src|content)="[^"]*"', "", path.read_text(encoding="utf-8"))
        if path.parent.name in ("contributing", "maintaining"):  # the commands there begin with .venv/bin
            text = re.sub(r"(?<!/)\.venv", "", text)
        assert not re.search(r"/(usr|opt)/\w|site-packages|\.venv", text), path
