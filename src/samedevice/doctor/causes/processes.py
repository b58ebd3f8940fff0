"""A forked process used a GPU: a worker of a DataLoader, or one of a pool."""

import ast
from collections.abc import Iterator
from typing import Any

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import statement_with_each, with_argument
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.culprits.quoted_frames import last_quoted_function, nodes_at
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import Origin, called, device_argument
from samedevice.introspect.values import Argument

fork = cause("fork_cuda", is_alone=True)

_SPAWN = 'torch.multiprocessing.set_start_method("spawn")  # first of all, below if __name__ == "__main__":'
_WORKER = "torch/utils/data/_utils/worker.py"
_IN_THE_LOOP = "  # in the worker; move the batch in the loop"


@fork.find
def used_in_a_worker(failure: Failure) -> Iterator[Operand]:
    """Find the moves to a GPU in the last line of the user's that the worker ran: the first one, the others go too.

    Where that line moves nothing, a tensor that the worker was given is on a GPU.
    """
    ran: tuple[ast.AST, int, Source] | None = last_quoted_function(failure.quoted) or _running(failure)
    if ran is None:
        return
    function, line, source = ran
    moves = [(node, *found) for node in nodes_at(function, line) if (found := _off_the_gpu(node))]
    inner = {part for node, *_ in moves for part in ast.walk(node) if part is not node}
    moves = [(node, kind, new) for node, kind, new in moves if node not in inner]
    if not moves:
        yield from _kept_on_a_gpu(failure, function, line)
        return
    node, kind, _ = moves[0]
    change = _left_out(node, function, source) or statement_with_each(
        source, function, [(node, new) for node, _, new in moves]
    )
    if not failure.runs_in("torch/utils/data/"):
        change = Change(_SPAWN)
    elif not _is_moved_in_the_loop(failure):
        change = Change(change.text + _IN_THE_LOOP)
    argument, origin = Argument(node, None), Origin(kind, None, node)
    yield Operand(None, "cuda:0", failure.user_call, argument, origin=origin, change=change)


def _running(failure: Failure) -> tuple[ast.AST, int, Source] | None:
    """Return the function of the failing line, that line and its file, where the worker itself is asked."""
    call = failure.user_call
    is_known = call.scope is not None and not call.in_library and call.function != "<module>"
    return (call.scope, call.line, Source.of_call(call)) if is_known else None  # type: ignore[return-value]


def _beginner(failure: Failure) -> Call:
    """Return the user's frame that began the worker, which a forked process has from its parent."""
    frame = failure.calls[0].frame.f_back if failure.runs_in(_WORKER) else None
    while frame is not None:
        call = Call(frame, frame.f_lasti, frame.f_lineno)
        if not call.in_library:
            return call
        frame = frame.f_back
    return failure.user_call


def _left_out(move: ast.expr, function: ast.AST, source: Source) -> Change | None:
    """Leave out a statement that does nothing but move: `x = x.to(device)`; None for any other."""
    for statement in ast.walk(function):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(value=ast.Name(id=moved)))):
                if statement.value is move and name == moved:
                    return Change(f"remove `{text_of(statement)}`", source.replaced(statement, "pass"))
    return None


def _kept_on_a_gpu(failure: Failure, function: ast.AST, line: int) -> Iterator[Operand]:
    """Yield the tensors on a GPU that an object of the DataLoader keeps and that the worker read in a line."""
    reads = [node for node in ast.walk(function) if isinstance(node, ast.Attribute) and node.lineno <= line]
    for held in _given_to_the_workers(failure):
        for node in sorted(reads, key=lambda node: -node.lineno):
            tensor = objects.attributes(held).get(node.attr)
            if text_of(node.value) == "self" and objects.is_tensor(tensor) and objects.device(tensor) != "cpu":
                change = _kept_on_the_cpu(held, node.attr)
                if not _is_moved_in_the_loop(failure):
                    change = Change(change.text + _IN_THE_LOOP)
                argument, origin = Argument(node, tensor), Origin("other", None, None)
                device = objects.device(tensor)
                yield Operand(tensor, device, failure.user_call, argument, origin=origin, change=change)
                return


def _given_to_the_workers(failure: Failure) -> list[Any]:
    """Return the objects that the DataLoader of the failing loop runs in its workers."""
    own = [objects.attributes(call.locals.get("self")) for call in failure.calls if call.in_library]
    keys = ("dataset", "_dataset", "collate_fn", "_collate_fn")
    given = [one[key] for one in own for key in keys if key in one]
    return [*given, failure.user_call.method_of] if failure.runs_in(_WORKER) else given


def _kept_on_the_cpu(held: Any, name: str) -> Change:
    """Write the statement that gave an object its tensor, with the tensor on the CPU."""
    assignment = origins.assigned_in(held, name, "__init__")
    if assignment is None or not isinstance(assignment.value, ast.Call):
        return Change(f"self.{name} = self.{name}.cpu()")
    given = assignment.value
    if text_of(given.func).endswith("torch.load"):
        new: ast.expr = with_argument(given, "map_location", ast.Constant("cpu"))
    else:
        found = _off_the_gpu(given)
        new = found[1] if found is not None else ast.Call(ast.Attribute(given, "cpu", ast.Load()), [], [])
    edits = Source.of_method(assignment.method).replaced(given, text_of(new))
    return Change(f"{assignment.itself}.{name} = {text_of(new)}", edits)


def _is_moved_in_the_loop(failure: Failure) -> bool:
    """Tell whether the loop over the DataLoader uses nothing of a batch but what it moves first."""
    call = _beginner(failure)
    loops = [node for node in ast.walk(call.scope or ast.Pass()) if isinstance(node, ast.For)]
    loop = next((node for node in loops if node.lineno <= call.line < node.body[0].lineno), None)
    if loop is None:
        return False
    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    inside = [node for statement in loop.body for node in ast.walk(statement)]
    moved = {
        id(part)
        for node in inside
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and origins.is_move(node.func.attr)
        for part in ast.walk(node.func.value)
    }
    again = {id(node) for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return not any(
        isinstance(node, ast.Name)
        and node.id in names
        and id(node) not in moved | again
        and not _is_given_anew(node, loop)
        for node in inside
    )


def _is_given_anew(name: ast.Name, loop: ast.For) -> bool:
    """Tell whether a statement of the loop above a name has assigned to it, which is what moves it there."""
    return any(
        isinstance(statement, ast.Assign)
        and statement.lineno < name.lineno
        and any(
            isinstance(node, ast.Name) and node.id == name.id
            for target in statement.targets
            for node in ast.walk(target)
        )
        for statement in loop.body
    )


def _off_the_gpu(node: ast.AST) -> tuple[str, ast.expr] | None:
    """Return how an expression puts a tensor on a GPU, and the expression that does not; None for any other."""
    if not isinstance(node, ast.Call):
        return None
    if called(node) in ("to", "cuda") and isinstance(node.func, ast.Attribute):
        return "moved", node.func.value
    if device_argument(node) is not None:
        return "created", with_argument(node, "device", None)
    return None
