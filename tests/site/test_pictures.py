"""The README's pictures show what the command prints today, and what the home page answers."""

import html
import re

import pytest
from PIL import Image

import pictures

TERMINALS = [(pictures.RUN, "RuntimeError: Expected all tensors to be"), (pictures.FIX, "samedevice: train.py runs to")]


@pytest.mark.parametrize(("terminal", "last"), TERMINALS, ids=["run", "fix"])
def test_a_terminal_shows_what_the_command_prints(terminal, last):
    printed = pictures.said(terminal)
    assert printed.splitlines()[-1].startswith(last)
    assert terminal.path.read_text("utf-8") == pictures.svg(terminal, printed), "run `make pictures`"


@pytest.mark.parametrize("terminal", [pictures.RUN, pictures.FIX], ids=["run", "fix"])
def test_a_terminal_asks_no_host(terminal):
    addresses = re.findall(r"(?:url\(|href=)[\"']?(\w+:[^\"')]+)", html.unescape(terminal.path.read_text("utf-8")))
    assert addresses == []


def test_the_paste_box_answers_what_the_picture_shows(visit, address):
    shown = pictures.show_diagnosis(visit(), address, pictures.traceback_of(pictures.said(pictures.RUN)))
    with Image.open(pictures.PASTE_BOX) as picture:
        assert picture.text["Text"] == shown.inner_text(), "run `make pictures`"
