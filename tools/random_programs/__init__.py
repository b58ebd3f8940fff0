"""Random programs, run on simulated GPUs and held against a model of CUDA's rules and against the CPU's values.

hypothesis draws a program line by line, and shrinks it where it differs. Each kind of line has a file of its own.
"""

from random_programs.drawing import run
from random_programs.program import Difference, Program

__all__ = ["Difference", "Program", "run"]
