"""From numbers drawn at random to a program, line by line."""

from collections.abc import Callable, Sequence

from random_programs import computing, gradients, making
from random_programs.program import Choices, Line, Program

Kind = Callable[[Choices, Program], Line | None]
KINDS: tuple[Kind, ...] = (
    making.make, making.move, computing.binary, computing.in_place, making.view, computing.index,
    gradients.backward, making.make, making.move_to_other, computing.reduce, computing.join, computing.where,
    computing.multiply, computing.linear, computing.assign, computing.assign_by_index, computing.into_out,
    computing.with_number, computing.in_place_alone, computing.fill, making.copy, making.split, making.change_dtype,
    making.make_like, making.read, making.forget, computing.reduce_into_out, computing.select_by_index,
    computing.fill_by_mask, computing.add_product, computing.clamp, computing.loss, gradients.grad,
    gradients.backward_with_gradient, gradients.require, gradients.clear_gradients, gradients.assign_gradient,
    gradients.assign_data, making.make, making.view, computing.binary, making.move,
)  # fmt: skip
NUMBERS = 9  # the bytes that a line is drawn from
LONGEST = 24  # lines


def run(drawn: Sequence[Sequence[int]], on_cuda: bool = False) -> Program:
    """Run the program that these numbers stand for; Difference is raised where the worlds differ."""
    program = Program(on_cuda)
    for place, (kind, quiet, *rest) in enumerate(drawn):
        program.no_grad = quiet % 4 == 3
        make = making.make if place < 3 else KINDS[kind % len(KINDS)]
        line = make(Choices(rest), program)
        if line is None or (on_cuda and line.reads_values):
            continue
        program.run(line)
    program.finish()
    return program
