"""Programs that hypothesis draws line by line, and shrinks where they differ.

What a program may do is in KINDS, a function for each kind of line: it draws the line by strategies of hypothesis.
"""

import collections
from collections.abc import Callable

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from random_programs import arrays, computing, gradients, making, operators, subclasses
from random_programs.program import Line, Program

Kind = Callable[[st.DrawFn, Program], Line]
# A program shrinks towards what stands first. A kind that stands here twice is drawn twice as often.
KINDS: st.SearchStrategy[Kind] = st.sampled_from((
    making.make, making.move, computing.binary, computing.in_place, making.view, computing.index,
    gradients.backward, making.make, making.move_to_other, computing.reduce, computing.join, computing.where,
    computing.multiply, computing.linear, computing.assign, computing.assign_by_index, computing.into_out,
    computing.with_number, computing.in_place_alone, computing.fill, making.copy, making.split, making.copy,
    making.make_like, making.read, computing.reduce_into_out, computing.select_by_index,
    computing.fill_by_mask, computing.add_product, computing.clamp, computing.loss, gradients.grad,
    gradients.backward_with_gradient, gradients.require, gradients.clear_gradients, gradients.assign_gradient,
    gradients.assign_data, gradients.hook, gradients.checkpoint, making.make, making.view, computing.binary,
    making.move, operators.add, operators.write, arrays.make, arrays.to_tensor, arrays.from_tensor, arrays.write,
    arrays.to_tensor, arrays.write, arrays.read, subclasses.make, subclasses.make, subclasses.make, subclasses.make,
    subclasses.leave, subclasses.held,
))  # fmt: skip
NO_GRAD = st.sampled_from((False, False, False, True))


@st.composite
def lines(draw: st.DrawFn, program: Program, kinds: st.SearchStrategy[Kind]) -> None:
    """Draw a line and run it at once, because what the next line may be depends on it."""
    program.no_grad, number = draw(NO_GRAD), draw(making.NUMBERS)
    try:
        line = draw(kinds)(draw, program)
    except UnsatisfiedAssumption:
        return  # the program has no tensors that fit this kind of line
    program.run(line, number)


@st.composite
def programs(draw: st.DrawFn, on_cuda: bool) -> Program:
    """Draw a program that begins with lines that make tensors.

    The number of lines is drawn by itself: hypothesis then tries to take single lines out.
    """
    program = Program(on_cuda)
    for count, kinds in ((st.integers(1, 5), st.just(making.make)), (st.integers(0, 20), KINDS)):
        line = lines(program, kinds)
        for _ in range(draw(count)):
            draw(line)
    program.finish()
    return program


def run(count: int, seed: int, on_cuda: bool = False) -> dict[str, int]:
    """Run so many programs and return what was in them; of one that differs, the shortest form raises Difference."""
    figures: collections.Counter[str] = collections.Counter()

    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(on_cuda))
    def each(program: Program) -> None:
        figures["run"] += 1
        figures["lines"] += program.ran
        figures["refused_for_devices"] += program.refused
        if figures["run"] % 1000 == 0:
            print(f"  {figures['run']:,} without a difference", flush=True)

    each()
    return dict(figures)
