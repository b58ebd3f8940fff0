"""Lines about autograd."""

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, booleans, sampled_from

from random_programs import rules
from random_programs.classes import TwoTensor
from random_programs.making import one, two
from random_programs.program import Line, Operand, Program, judged
from random_programs.rules import CPU

NUMBER, NUMBER_ON_CPU = (f"torch.full((), 2.0, device='{device}')" for device in ("cuda", "cpu"))
AROUND = sampled_from(("", "", "with torch.cuda.device(1): |"))
HOOK = "{x}.register_hook(lambda gradient: gradient * {number})"
HOOKS = sampled_from((HOOK, "{x}.register_post_accumulate_grad_hook(lambda p: setattr(p, 'grad', p.grad * {number}))"))


def _tracked(x: Operand) -> bool:
    return x.requires_grad


def backward(draw: DrawFn, program: Program) -> Line:
    """Draw a backward pass on any current GPU: hooks see the GPU of their node."""
    text = f"{one(draw, program, _tracked)}.sum().backward(retain_graph=True)"
    return Line(draw(AROUND) + text, on_cpu=text, backward=True)


def hook(draw: DrawFn, program: Program) -> Line:
    """Draw a hook that makes a number on "cuda"; it stays, and each later backward pass meets it."""
    x = one(draw, program, lambda x: x.requires_grad and x.device != CPU)
    form = draw(HOOKS if x.is_leaf else st.just(HOOK))
    return Line(form.format(x=x, number=NUMBER), on_cpu=form.format(x=x, number=NUMBER_ON_CPU))


def checkpoint(draw: DrawFn, program: Program) -> Line:
    """Draw a function that makes a number on "cuda" and is run again in backward."""
    x = one(draw, program, lambda x: x.requires_grad and x.device != CPU)
    form = f"checkpoint(lambda x: x * {{number}}, {x}, use_reentrant={draw(booleans())})"
    text = f"with torch.cuda.device({x.device[-1]}): |{form.format(number=NUMBER)}"
    return Line(text, (x.device,), form.format(number=NUMBER_ON_CPU))


def backward_with_gradient(draw: DrawFn, program: Program) -> Line:
    x, gradient = two(draw, program, lambda x, y: x.requires_grad and y.has_form_of(x.twin))
    text = f"{x}.backward({gradient}, retain_graph=True)"
    return judged(text, lambda: rules.gradient_for(x, gradient), backward=True)


def grad(draw: DrawFn, program: Program) -> Line:
    x, source = one(draw, program, _tracked), one(draw, program, _tracked)
    text = f"torch.autograd.grad({x}.sum(), [{source}], None, True, {draw(booleans())}, materialize_grads=True)[0]"
    text += ".clone(memory_format=torch.contiguous_format)"  # a copy between devices may have other strides
    return Line(text, (source.device,))


def require(draw: DrawFn, program: Program) -> Line:
    return Line(f"{one(draw, program)}.{draw(sampled_from(('requires_grad_()', 'detach_()', 'retain_grad()')))}")


def clear_gradients(draw: DrawFn, program: Program) -> Line:
    return Line(f"{one(draw, program, lambda x: x.requires_grad and x.is_leaf)}.grad = None", backward=True)


def assign_gradient(draw: DrawFn, program: Program) -> Line:
    x, gradient = two(draw, program, lambda x, y: x.is_leaf and y.has_form_of(x.twin) and not y.requires_grad)
    assume(x.name != gradient.name)
    return judged(f"{x}.grad = {gradient}", lambda: rules.assigned_gradient(x, gradient), backward=True)


def assign_data(draw: DrawFn, program: Program) -> Line:
    """Draw `x.data = y`: x stays the same object and takes y's memory, with its device."""
    x, y = two(draw, program, lambda x, y: not (x.requires_grad or y.requires_grad or x.twin._is_view()))
    assume(x.name != y.name and x.twin.grad is None)
    assume(not isinstance(x.twin, TwoTensor) and not isinstance(y.twin, TwoTensor))  # they have no memory to take
    if x.device != y.device:  # autograd may have saved x, and backward meets it where it is then
        assume(all(each.is_leaf for each in program.operands()))
    if (x.device == CPU) != (y.device == CPU):  # known_differences.toml: views made before do not belong to x any more
        assume(all(each.twin._base is not x.twin for each in program.operands()))
    return Line(f"{x}.data = {y}", (y.device,), target=x.name)
