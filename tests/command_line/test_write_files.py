"""Files are written all or not at all."""

import os
import stat
from pathlib import Path

import pytest

from samedevice.doors.write_files import NotWritten, write_files


def test_all_are_written_and_keep_their_permissions(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"1")
    second.write_bytes(b"2")
    first.chmod(0o755)
    write_files({first: (b"1", b"one"), second: (b"2", b"two")})
    assert (first.read_bytes(), second.read_bytes()) == (b"one", b"two")
    if os.name == "posix":
        assert stat.S_IMODE(first.stat().st_mode) == 0o755
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "b.py"]


def test_a_file_that_changed_meanwhile_stops_all(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"1")
    second.write_bytes(b"changed")
    with pytest.raises(NotWritten, match=r"b\.py has changed"):
        write_files({first: (b"1", b"one"), second: (b"2", b"two")})
    assert first.read_bytes() == b"1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "b.py"]


def test_a_file_that_cannot_be_replaced_leaves_the_others_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"1")
    second.write_bytes(b"2")
    replace = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if target == second:
            raise PermissionError(13, "Permission denied", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(NotWritten, match="Permission denied"):
        write_files({first: (b"1", b"one"), second: (b"2", b"two")})
    assert (first.read_bytes(), second.read_bytes()) == (b"1", b"2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "b.py"]
