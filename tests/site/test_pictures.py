"""The README's pictures show what the command prints today, and what the home page answers."""

import html
import re

from PIL import Image

import pictures


def test_the_terminal_shows_what_the_command_prints():
    printed = pictures.said()
    assert printed.splitlines()[-1].startswith("RuntimeError: Expected all tensors to be on the same device")
    assert pictures.TERMINAL.read_text("utf-8") == pictures.terminal(printed), "run `make pictures`"


def test_the_terminal_asks_no_host():
    addresses = re.findall(r"(?:url\(|href=)[\"']?(\w+:[^\"')]+)", html.unescape(pictures.TERMINAL.read_text("utf-8")))
    assert addresses == []


def test_the_paste_box_answers_what_the_picture_shows(visit, address):
    shown = pictures.show_diagnosis(visit(), address, pictures.traceback_of(pictures.said()))
    with Image.open(pictures.PASTE_BOX) as picture:
        assert picture.text["Text"] == shown.inner_text(), "run `make pictures`"
