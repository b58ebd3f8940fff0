"""A diagnosis that was made earlier than it is asked for, while the error could be explained: the error brings it.

- torch._utils.ExceptionWrapper brings an error of a DataLoader's worker, of a model's replica or of the thread that
  pins memory to the program. It keeps the text of the traceback, and no frame. So does torch.multiprocessing.spawn.
- Lightning moves the model back to the CPU before it passes an error on.
"""

import io
import pickle
import sys
import types
from pathlib import Path
from typing import Any

from samedevice.doctor.diagnosis import Diagnosis
from samedevice.introspect import exceptions

# An attribute of an exception, or of a wrapper of one. Its value is bytes, so that another process
# can read what is sent to it where samedevice is missing.
_CARRIED = "_samedevice_diagnosis"


def carry(carrier: Any, diagnosis: Diagnosis) -> None:
    """Let an exception, or PyTorch's wrapper of one, carry its diagnosis."""
    if isinstance(carrier, BaseException):
        exceptions.set_attribute(carrier, _CARRIED, pickle.dumps(diagnosis))
    else:
        vars(carrier)[_CARRIED] = pickle.dumps(diagnosis)


def leave(file: str, diagnosis: Diagnosis) -> None:
    """Leave a diagnosis in the file of a process that torch.multiprocessing.spawn started, behind its traceback.

    Raises:
        OSError: there is no such file, because the process ended itself.
    """
    with Path(file).open("r+b") as left:
        left.seek(0, io.SEEK_END)
        left.write(pickle.dumps(diagnosis))


def carried(error: BaseException) -> Diagnosis | None:
    """Return the diagnosis that an error carries, or that came with it from another process; None for none."""
    try:
        found = exceptions.attribute(error, _CARRIED) or _brought(_last_frame(exceptions.traceback(error)))
        # From another process, it came in what PyTorch itself has unpickled from there.
        diagnosis = pickle.loads(found) if type(found) is bytes and found else None
    except Exception:  # another release of ours, or of PyTorch
        return None
    return diagnosis if isinstance(diagnosis, Diagnosis) else None


def _brought(frame: types.FrameType | None) -> Any:
    """Return what PyTorch has brought with an error from elsewhere, which it raises in this frame."""
    wrapper = getattr(sys.modules.get("torch._utils"), "ExceptionWrapper", None)
    processes = getattr(sys.modules.get("torch.multiprocessing.spawn"), "ProcessContext", None)
    if frame is None or wrapper is None:
        return None
    if frame.f_code is wrapper.reraise.__code__ and type(frame.f_locals["self"]) is wrapper:
        return vars(frame.f_locals["self"]).get(_CARRIED)
    if processes is not None and frame.f_code is processes.join.__code__:
        file = frame.f_locals["fh"]  # in which the process left the text of its traceback, and what follows it
        if type(file) is io.BufferedReader:
            with Path(file.name).open("rb") as left:
                pickle.load(left)
                return left.read()
    return None


def _last_frame(trace: types.TracebackType | None) -> types.FrameType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame if trace is not None else None
