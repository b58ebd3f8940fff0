"""Errors of a DataLoader's workers, of a model's replicas and of the thread that pins memory.

PyTorch carries them to the program in a torch._utils.ExceptionWrapper, which keeps the text of the traceback and no
frame. So the diagnosis is made where the frames live, and the wrapper carries it too. A worker is another process:
what is carried are bytes, so that a process without samedevice can read the rest.
"""

import pickle
import sys
import types
from typing import Any

from samedevice.doctor.diagnosis import Diagnosis
from samedevice.introspect import exceptions

_CARRIED = "_samedevice_diagnosis"


def carry(wrapper: Any, diagnosis: Diagnosis) -> None:
    """Let a wrapper carry the diagnosis of the error that it was made of."""
    setattr(wrapper, _CARRIED, pickle.dumps(diagnosis))


def carried(error: BaseException) -> Diagnosis | None:
    """Return the diagnosis that came with an error from elsewhere; None where none did.

    The wrapper raises the error itself (torch/_utils.py, ExceptionWrapper.reraise), so it is found in the last frame.
    """
    frame = _last_frame(exceptions.traceback(error))
    kind = getattr(sys.modules.get("torch._utils"), "ExceptionWrapper", None)
    if frame is None or kind is None or frame.f_code is not getattr(kind.reraise, "__code__", None):
        return None
    wrapper = frame.f_locals.get("self")
    found = vars(wrapper).get(_CARRIED) if type(wrapper) is kind else None
    # A wrapper from another process was itself unpickled from there.
    diagnosis = pickle.loads(found) if type(found) is bytes else None
    return diagnosis if isinstance(diagnosis, Diagnosis) else None


def _last_frame(trace: types.TracebackType | None) -> types.FrameType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame if trace is not None else None
