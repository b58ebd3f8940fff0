"""A diagnosis that was made earlier than it is asked for, while the error could be explained: the error carries it.

- torch._utils.ExceptionWrapper brings an error of a DataLoader's worker, of a model's replica or of the thread that
  pins memory to the program. It keeps the text of the traceback, and no frame.
- Lightning moves the model back to the CPU before it passes an error on.
"""

import pickle
import sys
import types
from typing import Any

from samedevice.doctor.diagnosis import Diagnosis
from samedevice.introspect import exceptions

# An attribute of an exception or of a wrapper. Its value are bytes: what is sent to another process is still read
# there where samedevice is missing.
_CARRIED = "_samedevice_diagnosis"


def carry(attributes: dict[str, Any], diagnosis: Diagnosis) -> None:
    """Let an exception, or a wrapper of one, carry its diagnosis.

    Args:
        attributes: the attributes of the exception or of the wrapper.
        diagnosis: what is known of the error.
    """
    attributes[_CARRIED] = pickle.dumps(diagnosis)


def carried(error: BaseException) -> Diagnosis | None:
    """Return the diagnosis that an error carries, or that the wrapper brought which has raised it; None for none."""
    found = exceptions.attributes(error).get(_CARRIED) or _of_wrapper(error).get(_CARRIED)
    # A wrapper from another process was itself unpickled from there.
    diagnosis = pickle.loads(found) if type(found) is bytes else None
    return diagnosis if isinstance(diagnosis, Diagnosis) else None


def _of_wrapper(error: BaseException) -> dict[str, Any]:
    """Return the attributes of the wrapper. It raises the error by its method `reraise`, which is the last frame."""
    frame = _last_frame(exceptions.traceback(error))
    kind = getattr(sys.modules.get("torch._utils"), "ExceptionWrapper", None)
    if frame is None or kind is None or frame.f_code is not getattr(kind.reraise, "__code__", None):
        return {}
    wrapper = frame.f_locals.get("self")
    return vars(wrapper) if type(wrapper) is kind else {}


def _last_frame(trace: types.TracebackType | None) -> types.FrameType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame if trace is not None else None
