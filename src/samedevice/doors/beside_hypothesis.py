"""Hypothesis times and explains the program alone: it meets neither the simulation's first second nor its lines.

On CUDA, the simulation's work is done in C++, where hypothesis sees no lines. Here its explanation ("These lines were
always and only run by ...") would name those of the simulation, and of what that calls in PyTorch. Hypothesis asks a
function of its own which files count. It has no setting for it, so that function is told here. In a release of
hypothesis without this function, the explanation stays as it is.
https://github.com/HypothesisWorks/hypothesis/blob/master/hypothesis/src/hypothesis/internal/scrutineer.py
"""

import functools
import sys
from typing import Any

from samedevice.introspect.libraries import is_simulation, is_torch
from samedevice.simulation.rules import made_inside


def prepare() -> None:
    """Prepare for a test that hypothesis may run, where there are simulated GPUs."""
    # Otherwise the first simulated tensor does it, and a test that takes more than 200 ms fails by its deadline.
    made_inside.learn()
    scrutineer: Any = sys.modules.get("hypothesis.internal.scrutineer")
    counts = getattr(scrutineer, "should_trace_file", None)
    if counts is None or hasattr(counts, _OURS):
        return

    @functools.cache
    def should_trace_file(file: str) -> bool:
        return bool(counts(file)) and not (is_simulation(file) or is_torch(file))

    setattr(should_trace_file, _OURS, True)
    scrutineer.should_trace_file = should_trace_file


_OURS = "samedevice"  # an attribute of the function that stands there now
