"""What to run next where a text alone cannot say it for certain: there, the program or its frames name the tensor.

A notebook still has the frames of its last error. A script is started again, on the GPU or on a simulated one, and so
are tests. docs/assets/doctor/ways.js does the same in the browser.
"""

import functools
import re
from dataclasses import dataclass

from samedevice.catalog import Cause, load
from samedevice.doctor.text.read import Reading
from samedevice.doctor.text.traceback import Frame
from samedevice.doctor.text.whose import application_of

INTRODUCTION = "To be sure, let samedevice look into the program itself"
_NO_SCRIPT = "SCRIPT.py"
_ALL = "All fixes as one diff"
_CELL = re.compile(r"^(?:Cell|Input) In ?\[|^<ipython-input-|\.ipynb Cell [0-9]|/ipykernel_[0-9]")
_TEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_OF_TESTS = re.compile(r"\n(?:FAILED|ERROR) [^ \n]{1,300}::|\n=+ (?:short test summary info|FAILURES) =")
# Nothing that a shell takes for more than a letter, and no sign that is not seen: the path comes from a paste.
_SIGNS = r"[^\x00-\x20\x7f-\xa0\u2000-\u206f\u3000\ufeff\"'`$;&|<>(){}\[\]*?!#\\%^=,]"
_TYPED = re.compile(rf"(?!-){_SIGNS}{{1,150}}\.py")
_CALLED = re.compile(r"(?:^|\.)(?:forward|__\w+__)$", re.ASCII)  # by something else: no program begins there
_INDEX = re.compile(r"(?:^|:)([0-9]|1[0-5])$")  # of a GPU, as far as so many are simulated
_NOT_SIMULATED = re.compile(r"(?:\b|_|Sparse)(?:mps|xpu|npu|hpu|mtia|xla)", re.IGNORECASE | re.ASCII)  # no `input`


@dataclass(frozen=True)
class Way:
    """A command, or a line for a cell of a notebook, and where it is run: "Without a GPU"."""

    when: str
    command: str


def ways(reading: Reading, cause: Cause) -> tuple[Way, ...]:
    """Return what names the tensor for certain, or nothing where no frame of the program would.

    Args:
        reading: the message and the frames.
        cause: the most likely one. If commands fix it, or a case of it, it is about the machine or the installation,
            of which the program's frames say nothing. What a library itself refuses has a remedy of that library's.
    """
    if (cause.within or cause.id) in _of_the_machine() or reading.message.subject == "libraries":
        return ()
    own = [frame for frame in reading.frames if not frame.in_library and application_of(frame) is None]
    if any(_CELL.search(frame.file) for frame in own):
        return (Way("In the next cell of the notebook", "from samedevice import explain; explain()"),)
    devices = [reading.reads.get(name, "") for name in ("device", "others")]
    # Another accelerator is named by a message that knows no other, by the cause that has its name, or in the text.
    named = [reading.message.title, cause.id, *reading.reads.values()]
    is_simulated = not any(map(_NOT_SIMULATED.search, named))
    gpus = max(int(index[1]) + 1 if (index := _INDEX.search(device)) else 1 for device in devices)
    sources = [frame for frame in own if frame.file.endswith(".py")]
    if _TEST.search(sources[0].file) if sources else _OF_TESTS.search(reading.trace):
        tests = Way("Without a GPU", f"pytest --simulate-cuda {gpus}"), Way(_ALL, "samedevice fix --pytest")
        return tests if is_simulated else ()
    script = _script(sources)
    real = Way("On the machine with the GPU", f"samedevice run --gpus real {script}")
    if not is_simulated:
        return (real,)
    option = f"--gpus {gpus} " if gpus > 1 else ""
    simulated = Way("Without a GPU", f"samedevice run {option}{script}")
    return real, simulated, Way(_ALL, f"samedevice fix {option}{script}")


@functools.cache
def _of_the_machine() -> frozenset[str]:
    """Return the causes that commands fix, and those that they are a case of."""
    return frozenset(cause.within or cause.id for cause in load().causes.values() if cause.commands)


def _script(sources: list[Frame]) -> str:
    """Return the path of the script that was started, as far as the frames show it, in signs that a shell leaves alone.

    Args:
        sources: the frames in files of the user's own, the outermost first.
    """
    if not sources or _CALLED.search(sources[0].function):
        return _NO_SCRIPT
    path = sources[0].file
    names = (path, path.rpartition("/")[2])
    return next((name for name in names if _TYPED.fullmatch(name)), _NO_SCRIPT)
