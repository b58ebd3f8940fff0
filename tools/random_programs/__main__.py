"""Compare the rules with PyTorch's CUDA build: run random programs on it, and compare devices and refusals.

    tools/record/record.sh .venv-torch-2.13.0/bin/python -m random_programs [COUNT [SEED]]

Without a GPU its kernels compute nothing, so values are not compared.
"""

import sys

from random_programs import Difference, run

count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
print(f"{count:,} random programs on PyTorch's CUDA build, seed {seed}")
try:
    print(run(count, seed, on_cuda=True))
except Difference as difference:
    sys.exit(f"A program differs:\n\n{difference}")
