"""Lines that make tensors of a program's classes, which then go through all other lines as plain ones do."""

from hypothesis.strategies import DrawFn, sampled_from

from random_programs.classes import TwoTensor
from random_programs.making import one
from random_programs.program import Line, Operand, Program

MAKING = sampled_from((
    "{x}.as_subclass(Named)",
    "{x}.as_subclass(Passing)",
    "TwoTensor({x}.detach(), {x}.detach() + 1)",
    "TwoTensor({x}.detach(), {x}.detach().clone()).requires_grad_({x}.requires_grad)",
    "{x}.detach().as_subclass(Passing).requires_grad_({x}.requires_grad)",
    "torch.Tensor._make_subclass(Named, {x}.detach(), {x}.requires_grad)",
    "torch.Tensor._make_subclass(Passing, {x}.detach(), {x}.requires_grad)",
))  # fmt: skip
LEAVING = sampled_from(("{x}.as_subclass(torch.Tensor)", "{x}.detach().as_subclass(Named).as_subclass(torch.Tensor)"))
HELD = sampled_from(("{x}.a", "{x}.b", "{x}.get_elem_a()"))


def make(draw: DrawFn, program: Program) -> Line:
    x = one(draw, program)
    return Line(draw(MAKING).format(x=x), (x.device,))


def leave(draw: DrawFn, program: Program) -> Line:
    """Draw a tensor of torch's own class of the same memory."""
    x = one(draw, program, lambda x: type(x.twin).__name__ != "Tensor")
    return Line(draw(LEAVING).format(x=x), (x.device,))


def held(draw: DrawFn, program: Program) -> Line:
    x: Operand = one(draw, program, lambda x: isinstance(x.twin, TwoTensor))
    return Line(draw(HELD).format(x=x), (x.device,))
