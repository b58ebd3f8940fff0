"""The command `samedevice fix`: its options, and what it refuses."""

from collections.abc import Sequence

from samedevice.doors.arguments import GPU_TYPE, Parser, gpu_count, gpu_type, positive, split
from samedevice.doors.program import Misuse
from samedevice.doors.which_gpus import MOST, allowed
from samedevice.gpu_choice import CHOICE

USAGE_OF_FIX = """\
samedevice fix [--write] [--gpus N] [--gpu-type NAME] [--steps N] [--rounds N] [--timeout SECONDS]
                      [--json FILE] (SCRIPT | -m MODULE | --pytest) [ARGS ...]"""


def fix(arguments: Sequence[str]) -> int:
    """Do what follows `samedevice fix`, and return the exit code.

    Raises:
        Misuse: something else is asked for than it can do, or the program cannot be run.
    """
    parser = Parser(
        prog="samedevice fix",
        usage=USAGE_OF_FIX,
        description="Run a program on simulated GPUs, fix its first device error in a copy in memory, run it again, "
        "and so on, until it ends or nothing certain is left. The changes are printed as one unified diff, which "
        "`git apply` takes. Only Python files in the program's folder are changed, and only with --write. "
        "The program is run several times: what it writes or sends, it writes or sends each time.",
        epilog="Exit code: 0 if the program then ran to its end, 1 if something is left, 2 if it cannot be run.",
        allow_abbrev=False,
    )
    parser.add_argument("--write", action="store_true", help="write the changes into the files")
    parser.add_argument(
        "--gpus",
        type=gpu_count,
        metavar="N",
        help=f"how many GPUs, 1 to {MOST} (default: 1; with --pytest, what its option --simulate-cuda says)",
    )
    parser.add_argument("--gpu-type", type=gpu_type, metavar="NAME", help=GPU_TYPE)
    parser.add_argument("--steps", type=positive, metavar="N", help="end each run after N steps of its optimizers")
    parser.add_argument("--rounds", type=positive, default=20, metavar="N", help="how many runs at most (default: 20)")
    parser.add_argument(
        "--timeout", type=positive, default=1800, metavar="SECONDS", help="for all runs together (default: 1800)"
    )
    parser.add_argument("--json", metavar="FILE", help="write what is reached to FILE, for machines")
    parser.add_argument("--pytest", action="store_true", help="run pytest with the arguments that follow")
    options, is_module, rest = split(arguments)
    chosen = parser.parse_args(options)
    if chosen.pytest and (is_module or chosen.steps):
        raise Misuse(f"--pytest takes no {'module' if is_module else '--steps'}: samedevice fix --pytest tests")
    if not chosen.pytest and not any(rest[:1]):
        raise Misuse(f"name the {'module' if is_module else 'script'}: samedevice fix train.py")
    gpus = allowed(chosen.gpus)
    if gpus == "real":
        raise Misuse(f"`samedevice fix` runs a program on simulated GPUs only: without --gpus real and {CHOICE}=real.")
    from samedevice.doors import fix as door
    from samedevice.doors.fix_runs import Limits, Target

    name = "" if chosen.pytest else rest[0]
    return door.fix(
        Target(name, rest if chosen.pytest else rest[1:], is_module, chosen.pytest),
        gpus=gpus or (None if chosen.pytest else 1),
        gpu_type=chosen.gpu_type,
        limits=Limits(chosen.rounds, chosen.timeout, chosen.steps),
        write=chosen.write,
        json_file=chosen.json,
    )
