"""An error raised where GPUs are simulated that asks for a PyTorch with CUDA: the simulation has met a limit.

The doctor does not import the simulation. It sees whether Python has, and which files an error came through.
"""

import sys
from dataclasses import replace
from types import CodeType, TracebackType

from samedevice.catalog import Other
from samedevice.doctor.diagnosis import Diagnosis
from samedevice.introspect import exceptions

_ASKS_FOR_A_GPU = ("no_cuda_build_or_driver", "no_accelerator")
_SIMULATION = "samedevice.simulation"


def limit(error: BaseException, diagnosis: Diagnosis) -> Diagnosis:
    """Return what to say instead of a diagnosis whose first cause is a PyTorch without CUDA or without any accelerator.

    Any other diagnosis is returned as it is, and so is that of an error which no simulation has to do with.
    """
    if not diagnosis.causes or diagnosis.causes[0].id not in _ASKS_FOR_A_GPU or not _was_simulated(error):
        return diagnosis
    return replace(diagnosis, says=_LIMIT, causes=(), other=Other(*_NAME, _LIMIT, [], link=""))


def _was_simulated(error: BaseException) -> bool:
    """Tell whether GPUs are simulated now, or the error or one that led to it came through the simulation."""
    state = sys.modules.get(f"{_SIMULATION}.state")
    if state is not None and state.now.installed and not _was_earlier(exceptions.traceback(error), state.now.begun_at):
        return True
    return any(_came_through(exceptions.traceback(each)) for each in exceptions.chain(error))


def _was_earlier(traceback: TracebackType | None, begun_at: list[tuple[CodeType, int]]) -> bool:
    """Tell whether an error was caught by a function that called what failed before it began the simulation."""
    return traceback is not None and any(
        code is traceback.tb_frame.f_code and traceback.tb_lasti < begun for code, begun in begun_at
    )


def _came_through(traceback: TracebackType | None) -> bool:
    while traceback is not None:
        if str(traceback.tb_frame.f_globals.get("__name__", "")).startswith(f"{_SIMULATION}."):
            return True
        traceback = traceback.tb_next
    return False


_NAME = ("simulation_limit", "A limit of the simulation")
_LIMIT = (
    "This is most likely a limit of the simulation: PyTorch looked for a real GPU, which a simulation does not have. "
    "Your program and your PyTorch may be fine: run these lines on the CPU, or on a machine with a GPU."
)
