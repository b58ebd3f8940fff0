"""Run random programs and 20,000 steps of training on simulated GPUs, and write results/robustness.json.

Each program is held against the rules of placement and against the CPU's values (random_programs). If one differs, its
shortest form that still does is printed, to be pasted and run. The seed is printed too, to repeat the run. The training
has to stay in flat memory.

    python tools/robustness.py [SEED]
"""

import random
import sys

import torch

import flat_memory
import random_programs
import results
from samedevice import simulate_cuda

PROGRAMS = 10_000


def main(arguments: list[str]) -> int:
    if len(arguments) > 1 or not all(argument.isdecimal() for argument in arguments):
        print("Give a seed, a whole number, or nothing for a new one.", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    memory = flat_memory.measure()  # first: what hypothesis keeps of its examples is counted too
    seed = int(arguments[0]) if arguments else random.SystemRandom().randrange(2**32)
    print(f"{PROGRAMS:,} random programs, seed {seed}", flush=True)
    try:
        with simulate_cuda(devices=2):
            figures = random_programs.run(PROGRAMS, seed)
    except random_programs.Difference as difference:
        print(f"\nA program differs:\n\n{difference}", file=sys.stderr)
        return 1
    results.write("robustness", {"programs": {"seed": seed, **figures}, "memory": memory})
    return 0 if flat_memory.is_flat(memory) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
