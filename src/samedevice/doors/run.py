"""`samedevice run`: a program as `python SCRIPT ARGS...` would run it, on simulated GPUs or on real ones.

What the program raises is explained and reported by uncaught.py. The simulation begins in simulated.py; on real GPUs
nothing is done until an error happens.
"""

import sys
import threading
from collections.abc import Sequence
from typing import Any, Literal

from samedevice.doors import uncaught
from samedevice.doors.for_machines import ForMachines
from samedevice.doors.program import Misuse, Program
from samedevice.doors.simulated import Simulated
from samedevice.doors.stderr import say
from samedevice.doors.where_they_fail import explain_where_they_fail


def run(
    program: Program,
    arguments: Sequence[str],
    *,
    gpus: int | Literal["real"] | None = None,
    gpu_type: str | None = None,
    rng: Literal["cpu", "cuda"] = "cuda",
    full: bool = False,
    summary: bool = False,
    json_file: str | None = None,
    annotate: bool = False,
) -> int:
    """Run a program as `__main__`, and return 0 when it has ended.

    What the program raises is reported as Python would, and passed on for Python to end the process by: its SystemExit
    with its code, KeyboardInterrupt with its signal, anything else with exit code 1. A device error is explained first.

    Args:
        program: what to run.
        arguments: what it finds in sys.argv[1:].
        gpus: how many GPUs are simulated; None for as many as there are by default, "real" to simulate nothing.
        gpu_type: the model of simulated GPUs; None for one that cannot be bought.
        rng: whose random numbers simulated GPUs draw.
        full: show all frames of a device error's traceback, of any other the simulation's too.
        summary: print what moved between devices when the process ends.
        json_file: where to write what is known of the first device error, or that there was none; None for nowhere.
        annotate: also print annotations of GitHub Actions on standard output.

    Raises:
        Misuse: there is no such module.
        BaseException: what the program raised.

    Example:
        >>> run(program.named("train.py"), ["--epochs", "2"], gpus=2)  # doctest: +SKIP
        0
    """
    machines = ForMachines(json_file, annotate)
    uncaught.is_run = True
    standard_hook = sys.excepthook
    threading.excepthook = uncaught.in_thread(threading.excepthook, machines, full=full)
    explain_where_they_fail()
    program.become_main(arguments)
    simulated = None if gpus == "real" else Simulated(gpus, rng, summary, gpu_type)
    try:
        program.execute()
        machines.end()
        return 0
    except Misuse:
        if simulated:
            simulated.failed = True
        raise
    except SystemExit as ended:
        uncaught.explain_ended(ended, machines)
        machines.end()
        raise
    except BaseException as error:
        failure = error
    # Here no error is being handled, as where Python calls sys.excepthook.
    if simulated:
        simulated.failed = True
    uncaught.report(failure, program.file, standard_hook, machines, full=full)
    machines.end()
    if isinstance(failure, ModuleNotFoundError) and failure.name == "torch":
        say(f"{sys.executable!a} has no torch: use the Python that has it, as in `python -m samedevice run`.")
    hook = getattr(sys, "excepthook", standard_hook)

    def said_already(*_: Any) -> None:
        sys.excepthook = hook  # for what follows under python -i

    sys.excepthook = said_already
    raise failure
