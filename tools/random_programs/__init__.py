"""Random programs, run on simulated GPUs and held against a model of CUDA's rules and against the CPU's values.

program.py     a program: its tensors, in the simulation and on the CPU, and how its lines are run and compared
drawing.py     how hypothesis draws programs of lines, and shrinks them
rules.py       which tensors may meet on CUDA, by a model of its own
making.py      lines that make, move and view tensors
computing.py   lines that compute, in place too
gradients.py   lines about autograd, hooks and checkpoints
arrays.py      lines about a NumPy array, which a tensor on the CPU shares its memory with
operators.py   lines that call custom operators
"""

from random_programs.drawing import run
from random_programs.program import Difference, Program

__all__ = ["Difference", "Program", "run"]
