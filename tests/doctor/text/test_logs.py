"""Of a whole log the error that ended it is explained, the others are named once each, and another death is said."""

import tomllib
from pathlib import Path

import pytest

from samedevice import explain

LOGS = Path(__file__).parent / "logs"
EXPECTED = tomllib.loads((LOGS / "logs.toml").read_text("utf-8"))
FILES = {file.stem: file for file in LOGS.iterdir() if file.suffix == ".txt"}


def shown(place):
    return f"{place.file.split('/')[-1]}:{place.line}" if place else ""


def of(name):
    return FILES[name].read_bytes().decode()


def answer(diagnosis):
    others = [f"{other.message.id} {shown(other.place)}".rstrip() for other in diagnosis.others]
    told = {"message": diagnosis.message.id if diagnosis.message else "", "place": shown(diagnosis.place)}
    return {**told, "others": others, "last": diagnosis.last}


def expected(name):
    return {
        "place": "",
        "others": [],
        "last": "",
        **{key: EXPECTED[name][key] for key in EXPECTED[name] if key != "of"},
    }


def test_each_log_has_an_answer_that_it_must_get():
    assert EXPECTED.keys() == FILES.keys()
    assert len(FILES) >= 60
    assert not [name for name in FILES if any(folder in of(name) for folder in ("/work/", "/root/", "/tmp/"))]


@pytest.mark.parametrize("name", EXPECTED)
def test_the_error_that_ended_it_is_explained_the_others_are_named_and_another_death_is_said(name):
    assert answer(explain(of(name))) == expected(name)
