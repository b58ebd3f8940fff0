"""`make test-mutation`: what it would report of a lesson whose fix nothing needs, or whose message nothing compares."""

import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

import mutation


def cell(source, *outputs, tags=()):
    return new_code_cell(source, id=source[0], outputs=list(outputs), execution_count=1, metadata={"tags": list(tags)})


def printed(text):
    return new_output("stream", name="stdout", text=text)


CELLS = [
    cell("a = 1"),
    cell("b = a + 1", tags=["fix"]),
    cell("print(b)", printed("2\n")),
    cell("c = 3\nprint(c)", printed("3\n"), tags=["fix"]),
    cell("for place in ('cpu', 'cuda:0'):\n    print(place)", printed("cpu\ncuda:0\n"), tags=["nbval-ignore-output"]),
    cell(
        "raise ValueError('on cpu')",
        new_output("error", ename="ValueError", evalue="on cpu"),
        tags=["raises-exception"],
    ),
]


def test_a_fix_that_nothing_needs_and_a_message_that_nothing_compares_survive(tmp_path, monkeypatch, capsys):
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        monkeypatch.delenv(name)  # of the pytest that runs this
    nbformat.write(new_notebook(cells=CELLS), tmp_path / "small.ipynb")
    assert mutation.main([str(tmp_path / "small.ipynb")]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "small: 6 changes tried.",
        r"small: cell 4 passes with 'cpu\ncuda:1\n' stored for 'cpu\ncuda:0\n'",
        "small: nothing needs the fix in cell 3 (c)",
        "2 survived.",
    ]


@pytest.mark.parametrize(
    ("failed", "lines"),
    [
        ({2: "NameError: name 'b' is not defined"}, []),
        ({}, ["the fix"]),
        ({2: "Timeout of 120 seconds exceeded"}, ["the fix"]),
        ({1: "an error", 2: "NameError"}, ["the fix: proves nothing, since cell 1 fails, too"]),
    ],
)
def test_a_change_is_noticed_where_its_cell_alone_fails_and_ends(failed, lines):
    assert mutation.unnoticed(mutation.Copy("fixes", new_notebook(), {2: "the fix"}), failed) == lines
