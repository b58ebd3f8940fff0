"""Lines that make tensors, move them, and look at their memory in another way."""

import math
from collections.abc import Callable

from hypothesis import assume
from hypothesis.strategies import DrawFn, booleans, integers, sampled_from

from random_programs.program import NAMES, Line, Operand, Program, judged
from random_programs.rules import CPU, as_numpy

NUMBERS = integers(0, NAMES - 1)
DEVICES = sampled_from((CPU, "cuda:0", "cuda:1"))
SHAPES = sampled_from(((3,), (2, 3), (), (1,), (3, 3), (3, 1), (2, 2, 3), (0,)))
DTYPES = sampled_from(("torch.float32", "torch.float32", "torch.float64", "torch.int64", "torch.bool"))


def one(draw: DrawFn, program: Program, fits: Callable[[Operand], object] = lambda x: True) -> Operand:
    """Draw a number and take the first tensor from there on that fits.

    It stays the same tensor while hypothesis takes other lines out of the program.
    """
    first, operands = draw(NUMBERS), [x for x in program.operands() if fits(x)]
    assume(operands)
    return min(operands, key=lambda x: (x.number - first) % NAMES)


def two(draw: DrawFn, program: Program, fits: Callable[[Operand, Operand], object]) -> tuple[Operand, Operand]:
    """Draw a tensor and another that fits it, often on the same device."""
    x, is_near = one(draw, program), draw(booleans())
    near = is_near and any(fits(x, y) and y.device == x.device for y in program.operands())
    return x, one(draw, program, lambda y: fits(x, y) and (not near or y.device == x.device))


# Each form of a line as it is with simulated GPUs, and as it is on the CPU where more differs than a device's name.
MAKING = sampled_from((
    ("torch.full({shape}, 2, {options}, device='{device}')", ""),
    ("torch.arange({numel}, device='{device}').reshape({shape}).to({dtype})", ""),
    ("torch.ones({shape}, {options}, device='{device}')", ""),
    ("torch.randn({shape}, generator=torch.Generator().manual_seed({seed})).to('{device}')",
     "torch.randn({shape}, generator=torch.Generator().manual_seed({seed})).to('cpu', copy={copied})"),
    ("torch.zeros({shape}).to('{device}', {dtype})", "torch.zeros({shape}).to({dtype}, copy={copied})"),
    ("with torch.device('{device}'): |torch.ones({shape}, {options})", ""),
))  # fmt: skip


def make(draw: DrawFn, program: Program) -> Line:
    device, shape, dtype, seed = draw(DEVICES), draw(SHAPES), draw(DTYPES), draw(integers(0, 8))
    options = f"dtype={dtype}" + (", requires_grad=True" if "float" in dtype and draw(booleans()) else "")
    text, on_cpu = (
        form.format(
            device=device, shape=shape, dtype=dtype, options=options, seed=seed,
            numel=math.prod(shape), copied=device != CPU,
        ) for form in draw(MAKING)
    )  # fmt: skip
    return Line(text, (device,), on_cpu)


LIKE = sampled_from(
    ("torch.ones_like({x})", "{x}.new_ones((2, 3))", "{x}.new_tensor([1, 2, 3])", "torch.full_like({x}, 1)")
)
LIKE_ELSEWHERE = sampled_from((
    "torch.zeros_like({x}, device='{device}')",
    "{x}.new_zeros((3,), device='{device}')",
    "torch.tensor([1.0, 2.0, 3.0], device='{device}')",
))  # fmt: skip


def make_like(draw: DrawFn, program: Program) -> Line:
    x = one(draw, program)
    if draw(booleans()):
        return Line(draw(LIKE).format(x=x), (x.device,))
    device = draw(DEVICES)
    return Line(draw(LIKE_ELSEWHERE).format(x=x, device=device), (device,))


MOVES = sampled_from((
    ("{x}.to('{device}')", "{x}.to('cpu', copy={copied})"),
    ("{x}.to(torch.device('{device}'), torch.float64)", "{x}.to(torch.float64, copy={copied})"),
    ("{x}.to('{device}', copy=True)", "{x}.to('cpu', copy=True)"),
    ("{x}.to('{device}', non_blocking=True)", "{x}.to('cpu', copy={copied}){pinned}"),
    ("{x}.clone().to('{device}')", "{x}.clone().to('cpu', copy={copied})"),
))  # fmt: skip
MOVES_TO_GPU = sampled_from((
    "{x}.cuda({index})",
    "{x}.to({index})",
    "with torch.cuda.device({index}): |{x}.cuda()",
    "with torch.cuda.device({index}): |{x}.to('cuda')",
))  # fmt: skip


def move(draw: DrawFn, program: Program) -> Line:
    x, device = one(draw, program), draw(DEVICES)
    copied = x.device != device
    forms = draw(MOVES)
    if draw(booleans()):
        forms = ("{x}.cpu()" if device == CPU else draw(MOVES_TO_GPU), "{x}.to('cpu', copy={copied})")
    text, on_cpu = (
        form.format(
            x=x, device=device, index=device[-1], copied=copied,
            pinned=".pin_memory()" if copied and device == CPU else "",  # native/TensorConversions.cpp, _to_copy
        ) for form in forms
    )  # fmt: skip
    return Line(text, (device,), on_cpu)


MOVES_TO_OTHER = sampled_from(("{x}.to({other})", "{x}.type_as({other})", "{x}.to({other}, copy=True)"))


def move_to_other(draw: DrawFn, program: Program) -> Line:
    x, other = one(draw, program), one(draw, program)
    text = draw(MOVES_TO_OTHER).format(x=x, other=other)
    copied = x.device != other.device or "copy" in text
    return Line(text, (other.device,), f"{x}.to({other}, copy={copied})")


SAME_DEVICE = sampled_from((
    "{x}.clone()", "{x}.detach()", "{x}.contiguous()", "{x}.data", "{x}.detach().clone()",
    "torch.empty_like({x}).copy_({x})", "{x}.to(torch.float64)", "{x}.float()", "{x}.long()", "{x}.bool()",
    "{x}.to(torch.float32, copy=True)",
))  # fmt: skip


def copy(draw: DrawFn, program: Program) -> Line:
    x = one(draw, program)
    return Line(draw(SAME_DEVICE).format(x=x), (x.device,))


VIEWS = [
    "{x}.view_as({x})", "{x}.reshape(-1)", "{x}.unsqueeze(0)", "{x}.squeeze()", "{x}.expand(2, *{x}.shape)",
    "{x}.flatten()", "{x}.as_strided((2,), (0,))",
]  # fmt: skip
VIEWS_OF_VECTORS = [
    "{x}[0]", "{x}[-1:]", "{x}[1:]", "{x}.select(0, -1)", "{x}.narrow(0, 0, 1)", "{x}.unfold(0, 1, 1)", "{x}[..., 0]",
    "{x}[None, ..., :1]",
]  # fmt: skip
VIEWS_OF_MATRICES = [
    "{x}.mT", "{x}.transpose(0, 1)", "{x}.permute(*range(1, {x}.dim()), 0)", "{x}.diagonal()", "{x}[:, 1:]",
    "{x}[:, ::2]", "{x}.movedim(0, -1)",
]  # fmt: skip
# By the number of dimensions.
ALL_VIEWS = [
    sampled_from(VIEWS),
    sampled_from(VIEWS + VIEWS_OF_VECTORS),
    sampled_from(VIEWS + VIEWS_OF_VECTORS + VIEWS_OF_MATRICES),
]


def view(draw: DrawFn, program: Program) -> Line:
    x = one(draw, program)
    return Line(draw(ALL_VIEWS[min(len(x.shape), 2)]).format(x=x), (x.device,))


def split(draw: DrawFn, program: Program) -> Line:
    x = one(draw, program, lambda x: x.shape and x.shape[0] > 1)
    form, parts = draw(sampled_from((("chunk(2)", 2), ("unbind()", x.shape[0]), ("split(1)", x.shape[0]))))
    return Line(f"{x}.{form}", (x.device,) * parts)


def read(draw: DrawFn, program: Program) -> Line:
    x = one(draw, program)
    forms = ["tolist()", "detach().numpy().tolist()", "is_contiguous()", "dim()", "is_pinned()"]
    form = draw(sampled_from([*forms, "sum().item()"] if x.is_float else forms))
    reads_values = form not in ("is_contiguous()", "dim()")
    return judged(f"read = {x}.{form}", lambda: as_numpy(x) if "numpy" in form else None, reads_values=reads_values)
