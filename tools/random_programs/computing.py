"""Lines that compute, in new memory, in place, or into out=."""

from collections.abc import Callable
from typing import Any

import torch

from random_programs import rules
from random_programs.making import DEVICES, one, two
from random_programs.program import Choices, Line, Operand, Program
from random_programs.rules import CPU, Refused

ELEMENTWISE = ("add", "mul", "div", "eq", "maximum", "lt", "atan2", "pow", "sub")


def judged(text: str, rule: Callable[[], str], in_place: bool = False, **more: Any) -> Line:
    try:
        device = rule()
    except Refused as refused:
        return Line(text, refused=refused, **more)
    return Line(text, () if in_place else (device,), **more)


def literal(values: Any, device: str) -> tuple[str, str]:
    """Indices or a mask, written into the line; here and on the CPU."""
    return (
        f"torch.tensor({values})" if device == CPU else f"torch.tensor({values}, device={device!r})"
    ), f"torch.tensor({values})"


def broadcasts(x: Operand, y: Operand) -> bool:
    pairs = zip(reversed(x.shape), reversed(y.shape), strict=False)
    return all(a == b or 1 in (a, b) for a, b in pairs)


def broadcasts_into(x: Operand, y: Operand) -> bool:
    pairs = zip(reversed(x.shape), reversed(y.shape), strict=False)
    return len(y.shape) <= len(x.shape) and all(b in (1, a) for a, b in pairs)


def objected(program: Program, target: Operand, *others: Operand) -> bool | None:
    """Whether autograd refuses to write into `target` before anything else; None where that is hard to say."""
    if program.no_grad or not any(x.requires_grad for x in (target, *others)):
        return False
    if target.twin._is_view():
        return None
    return target.requires_grad and bool(target.twin.is_leaf)


def written(
    program: Program, target: Operand, others: list[Operand], text: str, rule: Callable[[], str], **more: Any
) -> Line | None:
    """A line that writes into `target`; autograd looks at it before devices are compared."""
    line = judged(text, rule, in_place=True, **more)
    if line.refused:
        objects = objected(program, target, *others)
        if objects is None:
            return None
        if objects:
            return Line(text, **more)  # the CPU says with which text
    return line


def binary(choose: Choices, program: Program) -> Line | None:
    pair = two(choose, program, broadcasts)
    if pair is None:
        return None
    x, y = pair
    name = choose(ELEMENTWISE if x.twin.dtype != torch.bool != y.twin.dtype else ELEMENTWISE[:4])
    text = f"torch.{name}({x}, {y})"
    if name in ("add", "mul"):
        text = choose((text, f"{x} {'+' if name == 'add' else '*'} {y}", f"{x}.{name}({y})"))
    return judged(text, lambda: rules.iterator([], [x, y]))


def with_number(choose: Choices, program: Program) -> Line | None:
    x = one(choose, program)
    if x is None:
        return None
    text = choose(
        (f"{x} * 2", f"1 + {x}", f"{x} > 0", f"torch.exp({x})", f"3 - {x}.float()", f"torch.relu({x})", f"{x}.abs()")
    )
    return Line(text, (x.device,))


def in_place(choose: Choices, program: Program) -> Line | None:
    pair = two(choose, program, broadcasts_into)
    if pair is None:
        return None
    x, y = pair
    text = choose(
        (f"{x}.add_({y})", f"{x}.mul_({y})", f"{x} += {y}", f"{x}.div_({y})", f"{x}.copy_({y})", f"{x}.eq_({y})")
    )
    if "copy_" in text:
        return Line(text)
    if not torch.can_cast(torch.result_type(x.twin, y.twin), x.twin.dtype):
        return None
    return written(program, x, [y], text, lambda: rules.iterator([x], [x, y]))


def in_place_alone(choose: Choices, program: Program) -> Line | None:
    x = one(choose, program)
    if x is None:
        return None
    return Line(
        choose(
            (
                f"{x}.mul_(2)",
                f"{x}.zero_()",
                f"{x}.fill_(1)",
                f"{x}.neg_()",
                f"{x} += 1",
                f"{x}.t_()",
                f"{x}.unsqueeze_(0)",
                f"{x}.squeeze_()",
                f"{x}.exp_()",
            )
        )
    )


def fill(choose: Choices, program: Program) -> Line | None:
    pair = two(choose, program, lambda x, y: not y.shape and (x.is_float or not y.requires_grad))
    return Line(f"{pair[0]}.fill_({pair[1]})") if pair else None


def into_out(choose: Choices, program: Program) -> Line | None:
    pair = two(choose, program, broadcasts)
    if pair is None:
        return None
    x, y = pair
    wanted = tuple(torch.broadcast_shapes(x.shape, y.shape))
    outs = [out for out in program.operands()[::-1] if out.shape == wanted and out.name not in (x.name, y.name)]
    if not outs:
        return None
    out = choose(outs)
    if _overlap(out, x) or _overlap(out, y):
        return None
    if not torch.can_cast(torch.result_type(x.twin, y.twin), out.twin.dtype):
        return None  # refused for the dtype; CUDA says so before it compares devices
    name, inputs = choose((("add", [x, y]), ("mul", [x, y]), ("add", [x, None])))
    if inputs[1] is None and x.shape != wanted:
        return None
    text = f"torch.{name}({x}, {inputs[1] or 2}, out={out})"
    line = judged(text, lambda: rules.iterator([out], inputs), in_place=True)
    if line.refused and not program.no_grad and any(operand.requires_grad for operand in (x, inputs[1] or x, out)):
        return Line(text)  # autograd has no derivative for out=, and says so first
    return line


def _overlap(x: Operand, y: Operand) -> bool:
    return bool(x.twin.untyped_storage().data_ptr() == y.twin.untyped_storage().data_ptr())


def reduce(choose: Choices, program: Program) -> Line | None:
    x = one(choose, program)
    if x is None or not x.twin.numel():
        return None
    forms = ["sum()", "max()", "any()"]
    if x.is_float:
        forms += ["mean()", "norm()"]
    if x.shape:
        forms += ["sum(0)", "amax(-1, keepdim=True)", "argmax(0)", "cumsum(0)"]
    return Line(f"{x}.{choose(forms)}", (x.device,))


def reduce_into_out(choose: Choices, program: Program) -> Line | None:
    pair = two(
        choose,
        program,
        lambda x, out: x.shape and x.is_float and out.shape == x.shape[1:] and out.twin.dtype == x.twin.dtype,
    )
    if pair is None or not pair[0].twin.numel():
        return None
    x, out = pair
    if _overlap(x, out) or any(stride == 0 for stride in out.stride):
        return None
    text = f"torch.{choose(('sum', 'mean'))}({x}, 0, out={out})"
    line = judged(text, lambda: rules.out_of_reduction(x, out), in_place=True)
    if line.refused and not program.no_grad and (x.requires_grad or out.requires_grad):
        return Line(text)
    return line


def join(choose: Choices, program: Program) -> Line | None:
    pair = two(choose, program, lambda x, y: x.shape == y.shape)
    if pair is None:
        return None
    x, y = pair
    name = choose(("stack", "cat")) if x.shape else "stack"
    order = choose(([x, y], [y, x], [x, y, x]))
    return judged(f"torch.{name}([{', '.join(map(str, order))}])", lambda: rules.same("cat", tensors=order))


def where(choose: Choices, program: Program) -> Line | None:
    pair = two(choose, program, broadcasts)
    if pair is None:
        return None
    x, y = pair
    wanted = tuple(torch.broadcast_shapes(x.shape, y.shape))
    conditions = [c for c in program.operands()[::-1] if c.twin.dtype == torch.bool and c.shape in (wanted, ())]
    if not conditions:
        return None
    condition = choose(conditions)
    return judged(f"torch.where({condition}, {x}, {y})", lambda: rules.where(condition, x, y))


def multiply(choose: Choices, program: Program) -> Line | None:
    def fits(x: Operand, y: Operand) -> bool:
        return bool(
            x.is_float
            and x.twin.dtype == y.twin.dtype
            and len(x.shape) in (1, 2)
            and len(y.shape) in (1, 2)
            and x.shape[-1] == y.shape[0]
        )

    pair = two(choose, program, fits)
    if pair is None:
        return None
    x, y = pair
    if len(x.shape) == len(y.shape) == 2:
        text = choose((f"{x} @ {y}", f"torch.mm({x}, {y})", f"torch.matmul({x}, {y})"))
        return judged(text, lambda: rules.same("mm", self=x, mat2=y))
    if len(x.shape) == 2:
        return judged(f"{x} @ {y}", lambda: rules.same("addmv_", self=y, mat=x, vec=y))
    if len(y.shape) == 1:
        # cuBLAS brings its result by a pointer, which nothing sets where kernels compute nothing
        text = f"torch.dot({x}, {y})"
        return judged(text, lambda: rules.same("_dot", self=x, tensor=y), reads_values=True)
    return judged(f"{x} @ {y}", lambda: rules.same("mm", self=x, mat2=y))


def linear(choose: Choices, program: Program) -> Line | None:
    def fits(x: Operand, y: Operand) -> bool:
        return bool(
            x.is_float
            and x.twin.dtype == y.twin.dtype
            and len(x.shape) == len(y.shape) == 2
            and x.shape[1] == y.shape[1]
        )

    pair = two(choose, program, fits)
    if pair is None:
        return None
    x, weight = pair
    biases = [b for b in program.operands()[::-1] if b.shape == weight.shape[:1] and b.twin.dtype == x.twin.dtype]
    bias = choose([None, *biases])
    if bias is None:
        return judged(f"F.linear({x}, {weight})", lambda: rules.same("mm", self=x, mat2=weight))
    return judged(f"F.linear({x}, {weight}, {bias})", lambda: rules.same("addmm", self=bias, mat1=x, mat2=weight))


def index(choose: Choices, program: Program) -> Line | None:
    fits = [x for x in program.operands()[::-1] if x.shape and x.shape[0]]
    if not fits:
        return None
    x, device = choose(fits), choose(DEVICES)
    values, read = choose((([0, 0], ""), ([True] * x.shape[0], "mask"), ([-1], "")))
    there, on_cpu = literal(values, device)
    form = choose(("{x}[{i}]", "{x}[..., {i}]" if x.shape[-1] > 0 else "{x}[{i}]"))
    if read or "..." not in form:
        form = "{x}[{i}]"
    return judged(
        form.format(x=x, i=there), lambda: rules.read_by_index(x, [device]),
        on_cpu=form.format(x=x, i=on_cpu), reads_values=bool(read),
    )  # fmt: skip


def select_by_index(choose: Choices, program: Program) -> Line | None:
    fits = [x for x in program.operands()[::-1] if x.shape and x.shape[0]]
    if not fits:
        return None
    x, device = choose(fits), choose(DEVICES)
    there, on_cpu = literal([0, 0], device)
    indices = Operand("index", device, x.twin)
    forms = [("torch.index_select({x}, 0, {i})", "_index_select", "self"), ("torch.take({x}, {i})", "_take", "self")]
    if len(x.shape) == 1:
        forms.append(("torch.gather({x}, 0, {i})", "gather", "self"))
    if len(x.shape) == 2 and x.is_float:
        forms.append(("F.embedding({i}, {x})", "_index_select", "self"))
    form, method, _ = choose(forms)
    return judged(
        form.format(x=x, i=there), lambda: rules.same(method, self=x, index=indices), on_cpu=form.format(x=x, i=on_cpu)
    )


def assign(choose: Choices, program: Program) -> Line | None:
    """x[0] = y is a copy, from any device."""
    pair = two(choose, program, lambda x, y: x.shape and x.shape[0] > 1 and y.shape in ((), x.shape[1:]))
    if pair is None:
        return None
    x, y = pair
    if y.requires_grad and not x.is_float:
        return None  # PyTorch lets integers have a gradient there
    place = choose(("0", "1:", "..., :1" if not y.shape else "-1"))
    return Line(f"{x}[{place}] = {y}")


def assign_by_index(choose: Choices, program: Program) -> Line | None:
    pair = two(
        choose,
        program,
        lambda x, y: x.shape and x.shape[0] > 1 and y.shape in ((), x.shape[1:]) and x.twin.dtype == y.twin.dtype,
    )
    if pair is None:
        return None
    (x, y), device = pair, choose(DEVICES)
    if _overlap(x, y) or 0 in x.stride:
        return None  # PyTorch warns, once
    if (x.requires_grad or y.requires_grad) and device not in (CPU, x.device):
        return None  # works, and its derivative is refused: tests/simulation/patches/test_autograd.py
    values, form, accumulate = choose((
        ([0, 1], "{x}[{i}] = {y}", False),
        ([1], "{x}.index_put_(({i},), {y}, accumulate=True)", True),
        ([0, 0], "{x}.index_put_(({i},), {y}, accumulate=True)", True),
        ([1], "{x}.index_put_(({i},), {y})", False),
    ))  # fmt: skip
    there, on_cpu = literal(values, device)
    # python_variable_indexing.cpp, slicePrefix1sSize: of what is assigned, the first dimensions of size 1 are cut
    value = y._replace(twin=y.twin[0]) if " = " in form and y.shape[:1] == (1,) else y
    return written(
        program, x, [y], form.format(x=x, y=y, i=there), lambda: rules.write_by_index(x, value, accumulate),
        on_cpu=form.format(x=x, y=y, i=on_cpu),
    )  # fmt: skip


def fill_by_mask(choose: Choices, program: Program) -> Line | None:
    pair = two(choose, program, lambda x, y: not y.shape and x.twin.dtype == y.twin.dtype)
    if pair is None:
        return None
    (x, y), device = pair, choose(DEVICES)
    mask, on_cpu = literal([True] * (x.shape[-1] if x.shape else 1), device)
    if not x.shape:
        mask, on_cpu = literal(True, device)
    form = choose(("{x}.masked_fill({m}, {y})", "{x}.masked_fill({m}, 2)"))
    value = y if "{y}" in form else None
    return judged(
        form.format(x=x, m=mask, y=y),
        lambda: rules.masked_fill(x, device, value),
        on_cpu=form.format(x=x, m=on_cpu, y=y),
    )


def add_product(choose: Choices, program: Program) -> Line | None:
    pair = two(choose, program, lambda x, y: x.is_float and y.is_float and broadcasts(x, y))
    if pair is None:
        return None
    x, y = pair
    name, operands = choose(
        (
            ("addcmul", (x, y, x)),
            ("addcmul", (x, x, y)),
            ("addcdiv", (x, y, x)),
            ("addcdiv", (x, x, y)),
            ("lerp", (x, x, y)),
        )
    )
    if x.twin.dtype != y.twin.dtype:
        return None
    rule = {
        "addcmul": lambda: rules.addcmul(*operands),
        "addcdiv": lambda: rules.iterator([], operands, scalars=False),
        "lerp": lambda: rules.iterator([], operands),
    }[name]
    return judged(f"torch.{name}({', '.join(map(str, operands))})", rule)


def clamp(choose: Choices, program: Program) -> Line | None:
    pair = two(choose, program, lambda x, y: broadcasts(x, y) and torch.bool not in (x.twin.dtype, y.twin.dtype))
    if pair is None:
        return None
    x, y = pair
    name = choose(("min", "max"))
    return judged(f"{x}.clamp({name}={y})", lambda: rules.same("clamp_Tensor", self=x, **{name: y}))


def loss(choose: Choices, program: Program) -> Line | None:
    pair = two(choose, program, lambda x, y: x.shape and x.shape == y.shape and x.is_float and y.is_float)
    if pair is None:
        return None
    return judged(f"F.mse_loss({pair[0]}, {pair[1]})", lambda: rules.iterator([], pair))
