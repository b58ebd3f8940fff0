"""A forked worker of a DataLoader used a GPU."""

import ast
from collections.abc import Iterator

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import statement_with, with_argument
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.culprits.quoted_frames import last_quoted_function, nodes_at
from samedevice.introspect.origins import Origin, called, device_argument
from samedevice.introspect.values import Argument

fork = cause("fork_cuda", is_alone=True)


@fork.find
def moved_in_a_worker(failure: Failure) -> Iterator[Operand]:
    """Find the move to a GPU in the last line of the user's that the worker ran."""
    quoted = last_quoted_function(failure.text)
    for node in nodes_at(*quoted[:2]) if quoted is not None else ():
        if not isinstance(node, ast.Call):
            continue
        if called(node) in ("to", "cuda") and isinstance(node.func, ast.Attribute):
            kind, new = "moved", node.func.value
        elif device_argument(node) is not None:
            kind, new = "created", with_argument(node, "device", None)
        else:
            continue
        change = statement_with(quoted[2], quoted[0], node, new)  # type: ignore[index]
        yield Operand(
            None, "cuda:0", failure.user_call, Argument(node, None), origin=Origin(kind, None, node), change=change
        )
        return
