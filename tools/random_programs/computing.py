"""Lines that compute, in new memory, in place, or into out=."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from hypothesis import assume
from hypothesis.strategies import DrawFn, booleans, sampled_from

from random_programs import rules
from random_programs.classes import memory
from random_programs.making import DEVICES, one, two
from random_programs.program import Line, Operand, Program, judged
from random_programs.rules import CPU

ELEMENTWISE = sampled_from(("add", "mul", "div", "eq", "maximum", "lt", "atan2", "pow", "sub"))
OF_TRUTH_VALUES = sampled_from(("add", "mul", "div", "eq"))
WITH_NUMBER = sampled_from(
    ("{} * 2", "1 + {}", "{} > 0", "torch.exp({})", "3 - {}.float()", "torch.relu({})", "{}.float().abs()")
)
IN_PLACE = sampled_from(("add_", "mul_", "+=", "div_", "copy_", "eq_"))
IN_PLACE_ALONE = sampled_from((
    ".mul_(2)", ".zero_()", ".fill_(1)", ".neg_()", " += 1", ".t_()", ".unsqueeze_(0)", ".squeeze_()", ".exp_()",
))  # fmt: skip
BY_INDEX = sampled_from((
    ("{x}[{i}] = {y}", [0, 1]),
    ("{x}.index_put_(({i},), {y}, accumulate=True)", [1]),
    ("{x}.index_put_(({i},), {y}, accumulate=True)", [0, 0]),
    ("{x}.index_put_(({i},), {y})", [1]),
))  # fmt: skip


def literal(values: Any, device: str) -> str:
    """Write indices or a mask into the line."""
    return f"torch.tensor({values}, device={device!r})"


def broadcasts(x: Operand, y: Operand) -> bool:
    pairs = zip(reversed(x.shape), reversed(y.shape), strict=False)
    return all(a == b or 1 in (a, b) for a, b in pairs)


def broadcasts_into(x: Operand, y: Operand) -> bool:
    return broadcasts(x, y) and tuple(torch.broadcast_shapes(x.shape, y.shape)) == x.shape


def share_memory(x: Operand, y: Operand) -> bool:
    return not set(memory(x.twin)).isdisjoint(memory(y.twin))


def written(
    program: Program, target: Operand, value: Operand, text: str, rule: Callable[[], str | None], **more: Any
) -> Line:
    """Return a line that writes into `target`; autograd looks at it before devices are compared."""
    line = judged(text, rule, **more)._replace(devices=())
    if line.refused and not program.no_grad and (target.requires_grad or value.requires_grad):
        assume(not target.twin._is_view())  # whether autograd objects to a view is hard to say
        if target.requires_grad and target.is_leaf:
            return Line(text, **more)  # the CPU says with which text
    return line


def into(program: Program, out: Operand, inputs: Sequence[Operand], text: str, rule: Callable[[], str]) -> Line:
    """Return a line with out=; autograd has no derivative for it, and says so before devices are compared."""
    if not program.no_grad and any(x.requires_grad for x in (out, *inputs)):
        return Line(text)
    return judged(text, rule)._replace(devices=())


def binary(draw: DrawFn, program: Program) -> Line:
    x, y = two(draw, program, broadcasts)
    name = draw(ELEMENTWISE if x.twin.dtype != torch.bool != y.twin.dtype else OF_TRUTH_VALUES)
    forms = [f"torch.{name}({x}, {y})"]
    if name in ("add", "mul"):
        forms += [f"{x} {'+' if name == 'add' else '*'} {y}", f"{x}.{name}({y})"]
    return judged(draw(sampled_from(forms)), lambda: rules.iterator([], [x, y]))


def with_number(draw: DrawFn, program: Program) -> Line:
    x = one(draw, program)
    return Line(draw(WITH_NUMBER).format(x), (x.device,))


def in_place(draw: DrawFn, program: Program) -> Line:
    x, y = two(draw, program, broadcasts_into)
    name = draw(IN_PLACE)
    text = f"{x} += {y}" if name == "+=" else f"{x}.{name}({y})"
    if name == "copy_":
        return Line(text)
    assume(x.is_float or not y.requires_grad)  # see `assign`
    dtype = None if name == "eq_" else rules.common_dtype(name, x, y)
    return written(program, x, y, text, lambda: rules.iterator([x], [x, y], dtype=dtype))


def in_place_alone(draw: DrawFn, program: Program) -> Line:
    x = one(draw, program)
    return Line(f"{x}{draw(IN_PLACE_ALONE)}")


def fill(draw: DrawFn, program: Program) -> Line:
    x, y = two(draw, program, lambda x, y: not y.shape and (x.is_float or not y.requires_grad))
    return Line(f"{x}.fill_({y})")


def into_out(draw: DrawFn, program: Program) -> Line:
    x, y = two(draw, program, broadcasts)
    shape = tuple(torch.broadcast_shapes(x.shape, y.shape))
    out = one(draw, program, lambda out: out.shape == shape and not share_memory(out, x) and not share_memory(out, y))
    name = draw(sampled_from(("add", "mul")))
    if x.shape == shape and draw(booleans()):
        text, inputs, dtype = f"torch.{name}({x}, 2, out={out})", [x, None], rules.common_dtype(name, x)
    else:
        text, inputs, dtype = f"torch.{name}({x}, {y}, out={out})", [x, y], rules.common_dtype(name, x, y)
    return into(program, out, [z for z in inputs if z], text, lambda: rules.iterator([out], inputs, dtype=dtype))


def reduce(draw: DrawFn, program: Program) -> Line:
    x = one(draw, program, lambda x: x.twin.numel() > 0)
    forms = ["sum()", "max()", "any()"]
    if x.is_float:
        forms += ["mean()", "norm()"]
    if x.shape:
        forms += ["sum(0)", "amax(-1, keepdim=True)", "argmax(0)", "cumsum(0)"]
    return Line(f"{x}.{draw(sampled_from(forms))}", (x.device,))


def reduce_into_out(draw: DrawFn, program: Program) -> Line:
    def fits(x: Operand, out: Operand) -> bool:
        return bool(x.is_float and x.shape and x.twin.numel()) and out.has_form_of(x.twin[0])

    x, out = two(draw, program, fits)
    assume(not share_memory(x, out) and 0 not in out.stride)
    text = f"torch.{draw(sampled_from(('sum', 'mean')))}({x}, 0, out={out})"
    return into(program, out, [x], text, lambda: rules.out_of_reduction(x, out))


def join(draw: DrawFn, program: Program) -> Line:
    x, y = two(draw, program, lambda x, y: x.shape == y.shape)
    name = draw(sampled_from(("stack", "cat") if x.shape else ("stack",)))
    order = draw(sampled_from(([x, y], [y, x], [x, y, x])))
    return judged(f"torch.{name}([{', '.join(map(str, order))}])", lambda: rules.same("cat", tensors=order))


def where(draw: DrawFn, program: Program) -> Line:
    x, y = two(draw, program, broadcasts)
    shapes = ((), tuple(torch.broadcast_shapes(x.shape, y.shape)))
    condition = one(draw, program, lambda c: c.twin.dtype == torch.bool and c.shape in shapes)
    return judged(f"torch.where({condition}, {x}, {y})", lambda: rules.where(condition, x, y))


def multiply(draw: DrawFn, program: Program) -> Line:
    def fits(x: Operand, y: Operand) -> object:
        dimensions = {len(x.shape), len(y.shape)} <= {1, 2}
        return x.is_float and x.twin.dtype == y.twin.dtype and dimensions and x.shape[-1] == y.shape[0]

    x, y = two(draw, program, fits)
    if len(x.shape) == len(y.shape) == 2:
        text = draw(sampled_from((f"{x} @ {y}", f"torch.mm({x}, {y})", f"torch.matmul({x}, {y})")))
        return judged(text, lambda: rules.same("mm", self=x, mat2=y))
    if len(x.shape) == 2:
        return judged(f"{x} @ {y}", lambda: rules.same("addmv_", self=y, mat=x, vec=y))
    if len(y.shape) == 1:
        # cuBLAS brings its result by a pointer, which nothing sets where kernels compute nothing
        return judged(f"torch.dot({x}, {y})", lambda: rules.same("_dot", self=x, tensor=y), reads_values=True)
    return judged(f"{x} @ {y}", lambda: rules.same("mm", self=x, mat2=y))


def linear(draw: DrawFn, program: Program) -> Line:
    def fits(x: Operand, y: Operand) -> object:
        dimensions = len(x.shape) == len(y.shape) == 2
        return x.is_float and x.twin.dtype == y.twin.dtype and dimensions and x.shape[1] == y.shape[1]

    x, weight = two(draw, program, fits)
    if draw(booleans()):
        return judged(f"F.linear({x}, {weight})", lambda: rules.same("mm", self=x, mat2=weight))
    bias = one(draw, program, lambda b: b.shape == weight.shape[:1] and b.twin.dtype == x.twin.dtype)
    return judged(f"F.linear({x}, {weight}, {bias})", lambda: rules.same("addmm", self=bias, mat1=x, mat2=weight))


def _has_rows(x: Operand) -> bool:
    return bool(x.shape and x.shape[0])


def index(draw: DrawFn, program: Program) -> Line:
    x, device = one(draw, program, _has_rows), draw(DEVICES)
    values: list[Any] = draw(sampled_from(([0, 0], [-1], [True] * x.shape[0])))
    is_mask = values[0] is True
    place = "..., " if not is_mask and x.shape[-1] and draw(booleans()) else ""
    text = f"{x}[{place}{literal(values, device)}]"
    return judged(text, lambda: rules.read_by_index(x, device), reads_values=is_mask)


def select_by_index(draw: DrawFn, program: Program) -> Line:
    x, device = one(draw, program, _has_rows), draw(DEVICES)
    indices, i = Operand("index", device, x.twin), literal([0, 0], device)
    forms = [(f"torch.index_select({x}, 0, {i})", "_index_select"), (f"torch.take({x}, {i})", "_take")]
    if len(x.shape) == 1:
        forms.append((f"torch.gather({x}, 0, {i})", "gather"))
    if len(x.shape) == 2 and x.is_float:
        forms.append((f"F.embedding({i}, {x})", "_index_select"))
    text, method = draw(sampled_from(forms))
    return judged(text, lambda: rules.same(method, self=x, index=indices))


def _fits_row(x: Operand, y: Operand) -> bool:
    return bool(x.shape and x.shape[0] > 1 and y.shape in ((), x.shape[1:]))


def assign(draw: DrawFn, program: Program) -> Line:
    """Draw `x[0] = y`, a copy from any device."""
    x, y = two(draw, program, _fits_row)
    assume(x.is_float or not y.requires_grad)  # PyTorch lets integers have a gradient there
    return Line(f"{x}[{draw(sampled_from(('0', '1:', '-1' if y.shape else '..., :1')))}] = {y}")


def assign_by_index(draw: DrawFn, program: Program) -> Line:
    x, y = two(draw, program, lambda x, y: _fits_row(x, y) and x.twin.dtype == y.twin.dtype)
    assume(not share_memory(x, y) and 0 not in x.stride)  # PyTorch warns, once
    device = draw(DEVICES)
    if x.requires_grad or y.requires_grad:  # works, and its derivative is refused: patches/test_autograd.py
        assume(device in (CPU, x.device))
    form, values = draw(BY_INDEX)
    text = form.format(x=x, y=y, i=literal(values, device))
    # python_variable_indexing.cpp, slicePrefix1sSize: of what is assigned, the first dimensions of size 1 are cut
    value = y._replace(twin=y.twin[0]) if " = " in text and y.shape[:1] == (1,) else y
    return written(program, x, y, text, lambda: rules.write_by_index(x, value, "accumulate" in text))


def fill_by_mask(draw: DrawFn, program: Program) -> Line:
    x, y = two(draw, program, lambda x, y: not y.shape and x.twin.dtype == y.twin.dtype)
    values = [True] * x.shape[-1] if x.shape else True  # torch.tensor([]) is a mask of numbers, which is refused
    mask = Operand("mask", draw(DEVICES), torch.tensor(values))
    value = draw(sampled_from((y, None)))
    text = f"{x}.masked_fill({literal(values, mask.device)}, {value or 2})"
    return judged(text, lambda: rules.masked_fill(x, mask, value))


def add_product(draw: DrawFn, program: Program) -> Line:
    x, y = two(draw, program, lambda x, y: x.is_float and x.twin.dtype == y.twin.dtype and broadcasts(x, y))
    name, rule = draw(sampled_from((
        ("addcmul", rules.addcmul),
        ("addcdiv", lambda *operands: rules.iterator([], operands, scalars=False)),
        ("lerp", lambda *operands: rules.iterator([], operands)),
    )))  # fmt: skip
    operands = draw(sampled_from(((x, x, y), (x, y, x)) if name != "lerp" else ((x, x, y),)))
    return judged(f"torch.{name}({', '.join(map(str, operands))})", lambda: rule(*operands))


def clamp(draw: DrawFn, program: Program) -> Line:
    x, y = two(draw, program, lambda x, y: broadcasts(x, y) and torch.bool not in (x.twin.dtype, y.twin.dtype))
    name = draw(sampled_from(("min", "max")))
    return judged(f"{x}.clamp({name}={y})", lambda: rules.same("clamp_Tensor", self=x, **{name: y}))


def loss(draw: DrawFn, program: Program) -> Line:
    x, y = two(draw, program, lambda x, y: x.shape and x.shape == y.shape and x.is_float and y.is_float)
    return judged(f"F.mse_loss({x}, {y})", lambda: rules.iterator([], [x, y]))
