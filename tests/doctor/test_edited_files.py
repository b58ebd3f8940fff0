"""A file with edits that stand nowhere yet: what it would hold, which line was which, and its diff."""

import subprocess
from pathlib import Path

import pytest

from samedevice.doctor.edited_files import EditedFile
from samedevice.doctor.edits import Edit

PROGRAM = "import torch\n\n\ndef step(x):\n    y = torch.ones(3)\n    return x + y\n"


def written(folder: Path, content: str | bytes, name: str = "train.py") -> EditedFile:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return EditedFile.read(path)


def replaced(line: int, old: str, new: str) -> Edit:
    return Edit("train.py", line, "replace", new, "step", old)


def above(line: int, text: str) -> Edit:
    return Edit("train.py", line, "before", text, "step")


ONES = replaced(5, "y = torch.ones(3)", "y = torch.ones(3, device=x.device)")


def test_an_edit_takes_the_indent_of_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, PROGRAM).with_edits({ONES: "", above(6, "y = y.to(x.device)\nx = x + 0"): ""})
    assert file.content.decode().splitlines()[4:] == [
        "    y = torch.ones(3, device=x.device)",
        "    y = y.to(x.device)",
        "    x = x + 0",
        "    return x + y",
    ]


def test_lines_above_one_line_keep_their_order_and_stand_above_its_replacement(tmp_path: Path) -> None:
    edits = {above(6, "a = 1"): "", above(6, "b = 2"): "", replaced(6, "return x + y", "return y + x"): ""}
    file = written(tmp_path, PROGRAM).with_edits(edits)
    assert [line.strip() for line in file.content.decode().splitlines()[5:]] == ["a = 1", "b = 2", "return y + x"]


def test_an_edit_without_text_removes_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, "x = [\n    1,\n    2,\n]\n").with_edits({replaced(2, "1,", ""): ""})
    assert file.content == b"x = [\n    2,\n]\n"


def test_a_line_keeps_its_number_on_the_disk_when_lines_are_added_above_it(tmp_path: Path) -> None:
    file = written(tmp_path, PROGRAM).with_edits({above(5, "z = 0"): "why", ONES: "because"})
    assert [file.line(number).origin for number in (4, 5, 6, 7)] == [4, None, 5, 6]
    assert [file.line(number).fixes for number in (4, 5, 6, 7)] == ["", "why", "because", ""]


def test_edits_can_follow_edits(tmp_path: Path) -> None:
    first = written(tmp_path, PROGRAM).with_edits({above(5, "z = 0"): ""})
    second = first.with_edits({replaced(6, "y = torch.ones(3)", "y = z"): ""})
    assert second.content.decode().splitlines()[4:6] == ["    z = 0", "    y = z"]


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param([replaced(9, "a", "b")], id="no such line"),
        pytest.param([replaced(5, "y = torch.zeros(3)", "y = 0")], id="another line is there"),
        pytest.param([replaced(5, "y = torch.ones(3)", "y = (")], id="no Python"),
        pytest.param([ONES, replaced(5, "y = torch.ones(3)", "y = 0")], id="two edits of a line"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(tmp_path: Path, edits: list[Edit]) -> None:
    file = written(tmp_path, PROGRAM)
    with pytest.raises(ValueError, match=r"train\.py"):
        file.with_edits(dict.fromkeys(edits, ""))


def test_a_hunk_says_what_it_fixes(tmp_path: Path) -> None:
    file = written(tmp_path, PROGRAM).with_edits({ONES: "SD002: y was on cpu"})
    assert file.diff("pkg/train.py").decode().splitlines() == [
        "--- a/pkg/train.py",
        "+++ b/pkg/train.py",
        "@@ -2,5 +2,5 @@ SD002: y was on cpu",
        " ",
        " ",
        " def step(x):",
        "-    y = torch.ones(3)",
        "+    y = torch.ones(3, device=x.device)",
        "     return x + y",
    ]


def test_a_hunk_that_only_removes_says_what_it_fixes(tmp_path: Path) -> None:
    file = written(tmp_path, PROGRAM + "y = 1\n").with_edits({replaced(7, "y = 1", ""): "SD002: y was on cpu"})
    assert b"@@ -4,4 +4,3 @@ SD002: y was on cpu\n" in file.diff("train.py")


def test_two_near_changes_are_one_hunk_that_names_both(tmp_path: Path) -> None:
    file = written(tmp_path, PROGRAM).with_edits({ONES: "one", above(6, "x = x + 0"): "two"})
    assert file.diff("train.py").count(b"@@ one; two\n") == 1


def test_a_file_without_edits_has_no_diff(tmp_path: Path) -> None:
    assert written(tmp_path, PROGRAM).diff("train.py") == b""


LATIN = "# -*- coding: latin-1 -*-\nname = 'caf\xe9'\ny = 1\n".encode("latin-1")


@pytest.mark.parametrize(
    ("content", "line", "old"),
    [
        pytest.param(PROGRAM, 5, "y = torch.ones(3)", id="plain"),
        pytest.param(PROGRAM.replace("\n", "\r\n"), 5, "y = torch.ones(3)", id="CRLF"),
        pytest.param(PROGRAM.rstrip(), 6, "return x + y", id="no newline at the end"),
        pytest.param("\ufeff" + PROGRAM, 5, "y = torch.ones(3)", id="byte order mark"),
        pytest.param("\ufeffy = 1\n", 1, "\ufeffy = 1", id="byte order mark in the edited line"),
        pytest.param(LATIN, 3, "y = 1", id="latin-1"),
        pytest.param("a = '\x0c\u2028'\ny = 1\n", 2, "y = 1", id="a form feed is no end of a line"),
        pytest.param("if True:\n\ty = 1\n", 2, "y = 1", id="tabs"),
    ],
)
@pytest.mark.parametrize("name", ["train.py", "my train.py", "sub/tr\u00e4in.py", 'a"b.py'])
def test_git_applies_the_diff_byte_for_byte(
    tmp_path: Path, content: str | bytes, line: int, old: str, name: str
) -> None:
    (tmp_path / "sub").mkdir()
    file = written(tmp_path, content, name).with_edits({replaced(line, old, "y = 2"): "SD002: y was on cpu"})
    git = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(git, cwd=tmp_path, input=file.diff(name), check=True, env={"GIT_CEILING_DIRECTORIES": "/"})
    assert (tmp_path / name).read_bytes() == file.content


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SyntaxError):
        written(tmp_path, b"x = '\xff'\n")
