"""The source of a log's traceback, where it is at hand: read as text and parsed, never imported.

`samedevice explain job.log` in the checkout that the log came from can look up what the failing line only names: that
`pos` was created by `torch.arange` two lines above, or that `self.mask` is assigned in `__init__` and never registered.
A log is hostile: only regular .py files below one folder are opened, none of more than a megabyte, and no link that
leads out of it. A file whose line is not the one of the traceback has changed since, and is left.
"""

import ast
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from samedevice.doctor.causes.moves import created_on
from samedevice.doctor.diagnosis import Culprit
from samedevice.doctor.edits import Edit
from samedevice.doctor.text.candidates import Candidate, candidates
from samedevice.doctor.text.read import Reading
from samedevice.doctor.text.traceback import Frame
from samedevice.introspect.deciding import parts
from samedevice.introspect.expressions import text_of
from samedevice.introspect.origins import called, find_origin

_LARGEST = 1_000_000  # bytes of a file
_DEEPEST = 12  # folders of a path that are tried below the folder
_FRAMES = 20  # that are followed outwards
_CREATED, _UNREGISTERED = "tensor_created_in_forward_without_device", "unregistered_tensor_attribute"


@dataclass(frozen=True)
class _Code:
    """The function that a frame is in: its syntax, that of the class around it, and the lines of the file."""

    frame: Frame
    lines: list[str]
    function: ast.AST
    owner: ast.ClassDef | None


def read_sources(reading: Reading, folder: Path) -> tuple[Culprit | None, str]:
    """Look up the culprit of a traceback in the files that it names.

    Args:
        reading: the traceback.
        folder: only files below it are opened.

    Returns:
        The culprit, or None where the files do not tell it; and a note on a file that has changed, or "".
    """
    frame = reading.place
    if frame is None or frame.in_library or reading.library_frame is not None:
        return None, ""
    code, note = _code(frame, folder)
    if code is None or reading.reads.get("between") != "cpu and accelerator":
        return None, note
    for candidate in candidates(reading):
        culprit = _looked_up(candidate.expression, _met(candidate), code, reading, folder)
        if culprit is not None:
            return culprit, ""
    return None, ""


def _met(candidate: Candidate) -> str:
    """Return the first name or attribute that a candidate met, as the line has it; "" where it has none."""
    found = [part for other in candidate.others for part in parts(other, candidate.line)]
    texts = [candidate.line.text_of(part.node) for part in found if part.kind in ("name", "attribute", "item")]
    return next((text for text in texts if text != candidate.expression), "")


def _looked_up(name: str, other: str, code: _Code, reading: Reading, folder: Path) -> Culprit | None:
    if name.startswith("self.") and name.count(".") == 1:
        return _attribute(name.removeprefix("self."), code)
    if not name.isidentifier():
        return None
    own = [frame for frame in reading.frames if frame.code and not frame.in_library]
    outer = own[: own.index(code.frame)] if code.frame in own else []
    for _ in range(_FRAMES):
        origin = find_origin(name, code.function, code.frame.line, _statement(code))
        if origin.kind == "created" and origin.value is not None and isinstance(origin.statement, ast.stmt):
            return _created(name, other, origin.statement, origin.value, code)
        passed = _passed(name, code, outer) if origin.kind == "argument" else None
        if passed is None:
            return None
        name, frame = passed
        found, _ = _code(frame, folder)
        if found is None or not name.isidentifier():
            return None
        # The other operand has another name in the caller's frame, or no name.
        code, outer, other = found, outer[: outer.index(frame)], ""
    return None


def _created(name: str, other: str, statement: ast.stmt, value: ast.expr, code: _Code) -> Culprit | None:
    """Write the statement that created it with a device."""
    call = text_of(value)
    if "device" in call or statement.lineno != statement.end_lineno:
        return None
    new = created_on(value, f"{other}.device" if other else "device")
    old = code.lines[statement.lineno - 1].strip()
    place = f"{Path(code.frame.file).name}, line {statement.lineno}"
    sentence = f"`{name}` is created by `{call}` without a device (read from {place})."
    segment = old.replace(ast.get_source_segment("\n".join(code.lines), value) or call, new, 1)
    edit = Edit(code.frame.file, statement.lineno, "replace", segment, code.frame.function, old)
    return _culprit(name, _CREATED, sentence, edit)


def _attribute(attribute: str, code: _Code) -> Culprit | None:
    """Write the statement of `__init__` that assigns an attribute as a buffer; None if it is registered."""
    if code.owner is None:
        return None
    found = None
    for node in ast.walk(code.owner):
        match node:
            case ast.Call(
                func=ast.Attribute(attr=("register_buffer" | "register_parameter")), args=[ast.Constant(key), *_]
            ):
                if key == attribute:
                    return None
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=key)]) if key == attribute:
                found = found or node
    if found is None or found.lineno != found.end_lineno or _is_registered(found.value):
        return None
    value = text_of(found.value)
    place = f"{Path(code.frame.file).name}, line {found.lineno}"
    sentence = (
        f"`self.{attribute}` is assigned as a plain attribute (read from {place}), which `.to(device)` does not move."
    )
    new = f'self.register_buffer("{attribute}", {value}, persistent=False)'
    init = next((f.name for f in ast.walk(code.owner) if isinstance(f, ast.FunctionDef) and found in ast.walk(f)), "")
    edit = Edit(code.frame.file, found.lineno, "replace", new, init, code.lines[found.lineno - 1].strip())
    return _culprit(f"self.{attribute}", _UNREGISTERED, sentence, edit)


def _is_registered(value: ast.expr) -> bool:
    """Tell whether what is assigned is a module or a parameter, or what only another line tells."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Constant | ast.Name)
    return text_of(value.func).rpartition(".")[2][:1].isupper()


def _culprit(expression: str, cause: str, sentence: str, edit: Edit) -> Culprit:
    return Culprit(
        expression=expression,
        device="cpu",
        cause=cause,
        fix=edit.text,
        sentence=sentence,
        edits=(edit,),
        is_read=True,
    )


def _passed(name: str, code: _Code, outer: list[Frame]) -> tuple[str, Frame] | None:
    """Find what the frame outside passes for an argument of a function: its expression, and that frame."""
    function = code.function
    if not outer or not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    names = [argument.arg for argument in [*function.args.posonlyargs, *function.args.args]]
    if names[:1] == ["self"]:
        names = names[1:]
    line = outer[-1].statement
    for call in ast.walk(line.tree) if line is not None else ():
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name | ast.Attribute):
            continue
        if function.name not in ("forward", "__call__") and called(call) != function.name:
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        at = names.index(name) if name in names else len(call.args)
        passed = given.get(name) or (call.args[at] if at < len(call.args) else None)
        if isinstance(passed, ast.Name):
            return passed.id, outer[-1]
    return None


def _statement(code: _Code) -> ast.stmt | None:
    """Return the statement at the line that failed."""
    statements = [node for node in ast.walk(code.function) if isinstance(node, ast.stmt)]
    here = [node for node in statements if node.lineno <= code.frame.line <= (node.end_lineno or 0)]
    return max(here, key=lambda node: node.lineno, default=None)


def _code(frame: Frame, folder: Path) -> tuple[_Code | None, str]:
    """Read and parse the file of a frame; the note says if its line is another than the traceback's."""
    text = _text(frame.file, folder)
    if text is None or not frame.line:
        return None, ""
    lines = text.split("\n")
    first = frame.code.split("\n")[0].strip()
    if not 0 < frame.line <= len(lines) or lines[frame.line - 1].strip() != first:
        name = Path(frame.file).name
        return None, f"{name} has changed since: its line {frame.line} is another, so the file was left aside."
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, ""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.lineno <= frame.line <= (node.end_lineno or 0)
    ]
    functions = [node for node in around if not isinstance(node, ast.ClassDef)]
    classes = [node for node in around if isinstance(node, ast.ClassDef)]
    function: ast.AST = max(functions, key=lambda node: node.lineno, default=tree)
    return _Code(frame, lines, function, classes[-1] if classes else None), ""


def _text(file: str, folder: Path) -> str | None:
    """Return the text of a .py file below a folder, by its path, or by the end of the path that another machine has."""
    if not file.endswith(".py") or file.startswith("//") or "\0" in file:
        return None
    parts = [part for part in file.split("/") if part not in ("", ".")]
    if ".." in parts:
        return None
    home = folder.resolve()
    for start in range(max(0, len(parts) - _DEEPEST), len(parts)):
        text = _contents(home.joinpath(*parts[start:]), home)
        if text is not None:
            return text
    return None


def _contents(path: Path, home: Path) -> str | None:
    try:
        whole = path.resolve(strict=True)
        if not whole.is_relative_to(home) or not stat.S_ISREG(whole.stat().st_mode):
            return None
        # What was a file may be a pipe by now, which would never end.
        number = os.open(whole, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(number, "rb") as opened:
            status = os.fstat(number)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                return None
            return opened.read(_LARGEST).decode("utf-8", errors="replace").replace("\r\n", "\n")
    except (OSError, ValueError, RuntimeError):
        return None
