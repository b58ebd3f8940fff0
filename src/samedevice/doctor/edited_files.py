"""The files of a program with edits that stand in no file yet, and the unified diff from one to the other.

Each line knows which line of the file it was, and what it fixes. So an error in an edited file can be compared with
one before the edit, and each hunk of the diff can say why it is there.
"""

import ast
import difflib
import io
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from samedevice.doctor.edits import Edit

_CONTEXT = 3  # lines around a change, as diff has it


@dataclass(frozen=True)
class Line:
    """One line of an edited file.

    Attributes:
        text: the line with its end.
        origin: its number in the file on the disk, from 1, or that of the line in whose place it is; None if it is new.
        fixes: what the edit that wrote it fixes; "" for a line of the file.
    """

    text: str
    origin: int | None
    fixes: str = ""


@dataclass(frozen=True)
class EditedFile:
    """A file of Python code, as it is on the disk and as the edits leave it.

    Attributes:
        path: where it is.
        encoding: how its bytes are read and written.
        disk: its bytes on the disk.
        lines: its lines with the edits.
        removed: for each line of the disk's that is gone, what its edit fixes.
    """

    path: Path
    encoding: str
    disk: bytes
    lines: tuple[Line, ...]
    removed: Mapping[int, str]

    @classmethod
    def read(cls, path: Path) -> "EditedFile":
        """Read a file.

        Raises:
            OSError: it cannot be read.
            SyntaxError: it names an encoding that there is not, or its bytes are not of that encoding.
        """
        disk = path.read_bytes()
        encoding = tokenize.detect_encoding(io.BytesIO(disk).readline)[0].removesuffix("-sig")  # the mark stays
        try:
            texts = _split(disk.decode(encoding))
        except UnicodeDecodeError:
            raise SyntaxError(f"it is not written in {encoding}") from None
        return cls(path, encoding, disk, tuple(Line(text, number) for number, text in enumerate(texts, 1)), {})

    @property
    def content(self) -> bytes:
        """What the file would hold with the edits."""
        return "".join(line.text for line in self.lines).encode(self.encoding)

    def with_edits(self, edits: Mapping[Edit, str]) -> "EditedFile":
        """Return the file with edits of its lines as they are now.

        Args:
            edits: edits of this file, each with what it fixes in a few words.

        Raises:
            ValueError: a line is not there, is another than the edit says or has two edits, or the result is no Python.
        """
        replaced = [edit.line for edit in edits if edit.action == "replace"]
        if len(replaced) > len(set(replaced)):
            raise ValueError(f"a line of {self.path.name} has two edits")
        lines, removed = list(self.lines), dict(self.removed)
        # From the bottom, so that a line keeps its number until its turn; what goes above a line comes after it.
        for edit in reversed(sorted(edits, key=lambda edit: (edit.line, edit.action == "replace"))):
            if not 0 < edit.line <= len(lines):
                raise ValueError(f"{self.path.name} has no line {edit.line}")
            here = lines[edit.line - 1]
            if edit.action == "replace" and edit.old.strip() != here.text.strip():
                raise ValueError(f"line {edit.line} of {self.path.name} is another")
            new = tuple(Line(text, None, edits[edit]) for text in _like(here.text, edit.text))
            if edit.action == "before":
                lines[edit.line - 1 : edit.line - 1] = new
                continue
            if here.origin is not None:
                removed[here.origin] = edits[edit]
                new = tuple(replace(line, origin=None if number else here.origin) for number, line in enumerate(new))
            if not here.text.endswith(("\n", "\r")) and new:  # the last line of a file that does not end it
                new = (*new[:-1], replace(new[-1], text=new[-1].text.rstrip("\r\n")))
            lines[edit.line - 1 : edit.line] = new
        edited = replace(self, lines=tuple(lines), removed=removed)
        try:
            ast.parse(edited.content)
        except SyntaxError as error:
            raise ValueError(f"{self.path.name} would be no valid Python: {error.msg}") from None
        return edited

    def line(self, number: int) -> Line:
        """Return the line of this number as the file is now."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else Line("", number)

    def diff(self, name: str) -> bytes:
        """Return the unified diff of the file, which `git apply` takes; b"" where nothing is changed.

        What a hunk fixes stands behind its second `@@`, where diff puts the function and git reads nothing.

        Args:
            name: the file's name in the diff, with forward slashes.
        """
        old, new = _split(self.disk.decode(self.encoding)), [line.text for line in self.lines]
        groups = list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT))
        if not groups:
            return b""
        written = [f"--- {_quoted(f'a/{name}')}\n", f"+++ {_quoted(f'b/{name}')}\n"]
        for group in groups:
            first, last = group[0], group[-1]
            ranges = f"-{_range(first[1], last[2])} +{_range(first[3], last[4])}"
            fixes = "; ".join(dict.fromkeys(self._fixes(group)))
            written.append(f"@@ {ranges} @@ {fixes}".rstrip() + "\n")
            for tag, old_from, old_to, new_from, new_to in group:
                if tag == "equal":
                    written += [_marked(" ", line) for line in old[old_from:old_to]]
                    continue
                written += [_marked("-", line) for line in old[old_from:old_to]]
                written += [_marked("+", line) for line in new[new_from:new_to]]
        return "".join(written).encode(self.encoding)

    def _fixes(self, group: Iterable[tuple[str, int, int, int, int]]) -> Iterator[str]:
        for tag, old_from, old_to, new_from, new_to in group:
            if tag != "equal":
                yield from (line.fixes for line in self.lines[new_from:new_to] if line.fixes)
                yield from (self.removed[line] for line in range(old_from + 1, old_to + 1) if line in self.removed)


def _split(text: str) -> list[str]:
    """Split at the ends that Python's tokenizer knows, and keep them: not at form feeds, as splitlines() would."""
    return list(io.StringIO(text, newline=""))


def _like(line: str, text: str) -> list[str]:
    """Write new lines at the indent of a line, with its end; none for an empty text."""
    indent = line[: len(line) - len(line.lstrip())].strip("\r\n")
    ending = "\r\n" if line.endswith("\r\n") else "\n"
    return [f"{indent}{each}{ending}" if each.strip() else ending for each in text.split("\n")] if text else []


def _range(start: int, stop: int) -> str:
    """Write a range of lines as a unified diff has it: an empty one is named by the line before it."""
    length = stop - start
    return f"{start + (length > 0)}" if length == 1 else f"{start + (length > 0)},{length}"


def _marked(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith(("\n", "\r")) else f"{mark}{line}\n\\ No newline at end of file\n"


def _quoted(name: str) -> str:
    """Write a name as git does: in quotes where it would read it otherwise, with a tab behind it if it has spaces."""
    if name.isascii() and name.isprintable() and not set(name) & set('"\\'):
        return f"{name}\t" if " " in name else name
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in name.encode())
    return f'"{"".join(plain)}"'
