"""A forked worker of a DataLoader used a GPU."""

import ast
from collections.abc import Iterator

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import statement_with_each, with_argument
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.culprits.quoted_frames import last_quoted_function, nodes_at
from samedevice.introspect.origins import Origin, called, device_argument
from samedevice.introspect.values import Argument

fork = cause("fork_cuda", is_alone=True)


@fork.find
def moved_in_a_worker(failure: Failure) -> Iterator[Operand]:
    """Find the moves to a GPU in the last line of the user's that the worker ran: the first one, the others go too."""
    quoted = last_quoted_function(failure.text)
    if quoted is None:
        return
    function, line, source = quoted
    moves = [(node, *found) for node in nodes_at(function, line) if (found := _off_the_gpu(node))]
    inner = {part for node, *_ in moves for part in ast.walk(node) if part is not node}
    moves = [(node, kind, new) for node, kind, new in moves if node not in inner]
    if moves:
        change = statement_with_each(source, function, [(node, new) for node, _, new in moves])
        node, kind, _ = moves[0]
        argument, origin = Argument(node, None), Origin(kind, None, node)
        yield Operand(None, "cuda:0", failure.user_call, argument, origin=origin, change=change)


def _off_the_gpu(node: ast.AST) -> tuple[str, ast.expr] | None:
    """Return how an expression puts a tensor on a GPU, and the expression that does not; None for any other."""
    if not isinstance(node, ast.Call):
        return None
    if called(node) in ("to", "cuda") and isinstance(node.func, ast.Attribute):
        return "moved", node.func.value
    if device_argument(node) is not None:
        return "created", with_argument(node, "device", None)
    return None
