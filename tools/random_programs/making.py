"""Lines that make tensors, move them, and look at their memory in another way."""

from typing import Any

from random_programs.program import Choices, Line, Operand, Program
from random_programs.rules import CPU, Refused, as_numpy

DEVICES = (CPU, "cuda:0", "cuda:1")
SHAPES = ((3,), (2, 3), (), (1,), (3, 3), (3, 1), (2, 2, 3), (0,))
DTYPES = ("float32", "float32", "float64", "int64", "bool")


def make(choose: Choices, program: Program) -> Line:
    device, shape, dtype = choose(DEVICES), choose(SHAPES), choose(DTYPES)
    numel = 1
    for size in shape:
        numel *= size
    grad = ", requires_grad=True" if dtype.startswith("float") and choose((False, True)) else ""
    wanted = f"dtype=torch.{dtype}"
    zeros = f"torch.zeros({shape})"
    random = f"torch.randn({shape}, generator=torch.Generator().manual_seed({choose(range(9))}))"
    text, on_cpu = choose((
        (f"torch.full({shape}, 2, {wanted}, device={device!r}{grad})", ""),
        (f"torch.arange({numel}, device={device!r}).reshape({shape}).to(torch.{dtype})", ""),
        (f"torch.ones({shape}, {wanted}, device={device!r}{grad})", ""),
        (f"{random}.to({device!r})", f"{random}.to('cpu', copy={device != CPU})"),
        (f"{zeros}.to({device!r}, torch.{dtype})", f"{zeros}.to('cpu', torch.{dtype}, copy={device != CPU})"),
        (f"with torch.device({device!r}): |torch.ones({shape}, {wanted}{grad})", ""),
    ))  # fmt: skip
    return Line(text, (device,), on_cpu or text.replace(repr(device), "'cpu'"))


def make_like(choose: Choices, program: Program) -> Line | None:
    x = one(choose, program)
    if x is None:
        return None
    device = choose(DEVICES)
    text, where = choose((
        (f"torch.ones_like({x})", x.device),
        (f"torch.zeros_like({x}, device={device!r})", device),
        (f"{x}.new_ones((2, 3))", x.device),
        (f"{x}.new_tensor([1, 2, 3])", x.device),
        (f"{x}.new_zeros((3,), device={device!r})", device),
        (f"torch.full_like({x}, 1)", x.device),
        (f"torch.tensor([1.0, 2.0, 3.0], device={device!r})", device),
    ))  # fmt: skip
    return Line(text, (where,), text.replace(repr(device), "'cpu'"))


def move(choose: Choices, program: Program) -> Line | None:
    x = one(choose, program)
    if x is None:
        return None
    device = choose(DEVICES)
    index = device.removeprefix("cuda:")
    forms = [
        (f"{x}.to({device!r})", ""),
        (f"{x}.to(torch.device({device!r}), torch.float64)", "dtype=torch.float64"),
        (f"{x}.to({device!r}, copy=True)", "copy=True"),
        (f"{x}.to({device!r}, non_blocking=True)", ""),
        (f"{x}.clone().to({device!r})", ""),
    ]
    if device == CPU:
        forms.append((f"{x}.cpu()", ""))
    else:
        forms += [
            (f"{x}.cuda({index})", ""),
            (f"{x}.to({index})", ""),
            (f"with torch.cuda.device({index}): |{x}.cuda()", ""),
            (f"with torch.cuda.device({index}): |{x}.to('cuda')", ""),
        ]
    text, how = choose(forms)
    source = f"{x}.clone()" if ".clone()" in text else f"{x}"
    copy = ["copy=True"] if x.device != device and "copy" not in how else []
    pinned = (
        ".pin_memory()" if copy and device == CPU and "non_blocking" in text else ""
    )  # native/TensorConversions.cpp
    return Line(text, (device,), f"{source}.to({', '.join([repr(CPU), *filter(None, [how]), *copy])}){pinned}")


def move_to_other(choose: Choices, program: Program) -> Line | None:
    x, other = one(choose, program), one(choose, program)
    if x is None or other is None:
        return None
    text = choose((f"{x}.to({other})", f"{x}.type_as({other})", f"{x}.to({other}, copy=True)"))
    copy = x.device != other.device or "copy" in text
    return Line(text, (other.device,), f"{x}.to({other}, copy={copy})")


def change_dtype(choose: Choices, program: Program) -> Line | None:
    x = one(choose, program)
    if x is None:
        return None
    text = choose(
        (f"{x}.to(torch.float64)", f"{x}.float()", f"{x}.long()", f"{x}.bool()", f"{x}.to(torch.float32, copy=True)")
    )
    return Line(text, (x.device,), reads_values=False)


def copy(choose: Choices, program: Program) -> Line | None:
    x = one(choose, program)
    if x is None:
        return None
    text = choose(
        (
            f"{x}.clone()",
            f"{x}.detach()",
            f"{x}.contiguous()",
            f"{x}.data",
            f"{x}.detach().clone()",
            f"torch.empty_like({x}).copy_({x})",
        )
    )
    return Line(text, (x.device,))


def view(choose: Choices, program: Program) -> Line | None:
    x = one(choose, program)
    if x is None:
        return None
    forms = [
        "view_as({x})",
        "reshape(-1)",
        "unsqueeze(0)",
        "squeeze()",
        "expand(2, *{x}.shape)",
        "flatten()",
        "as_strided((2,), (0,))",
    ]
    if x.shape:
        forms += [
            "[0]",
            "[-1:]",
            "[1:]",
            "select(0, -1)",
            "narrow(0, 0, 1)",
            "unfold(0, 1, 1)",
            "T" if len(x.shape) == 2 else "view_as({x})",
        ]
        forms += ["[..., 0]", "[None, ..., :1]"]
    if len(x.shape) > 1:
        forms += [
            "transpose(0, 1)",
            "permute(*range(1, {x}.dim()), 0)",
            "diagonal()",
            "[:, 1:]",
            "[:, ::2]",
            "movedim(0, -1)",
        ]
    form = choose(forms).format(x=x)
    return Line(f"{x}{form}" if form.startswith("[") else f"{x}.{form}", (x.device,))


def split(choose: Choices, program: Program) -> Line | None:
    fits = [x for x in program.operands() if x.shape and x.shape[0] > 1]
    if not fits:
        return None
    x = choose(fits)
    form, parts = choose((("chunk(2)", 2), ("unbind()", x.shape[0]), ("split(1)", x.shape[0])))
    return Line(f"{x}.{form}", (x.device,) * parts)


def read(choose: Choices, program: Program) -> Line | None:
    x = one(choose, program)
    if x is None:
        return None
    form = choose(("tolist()", "detach().numpy().tolist()", "sum().item()", "is_contiguous()", "dim()", "is_pinned()"))
    if "sum" in form and not x.is_float:
        form = "tolist()"
    try:
        if "numpy" in form:
            as_numpy(x)
    except Refused as refused:
        return Line(f"read = {x}.{form}", refused=refused)
    return Line(f"read = {x}.{form}", reads_values=form not in ("is_contiguous()", "dim()"))


def forget(choose: Choices, program: Program) -> Line | None:
    x = one(choose, program)
    if x is None or len(program.devices) < 4:
        return None
    return Line(f"del {x}", forgets=x.name)


def one(choose: Choices, program: Program) -> Operand | None:
    operands = program.operands()
    return choose(operands[::-1]) if operands else None


def two(choose: Choices, program: Program, fits: Any) -> tuple[Operand, Operand] | None:
    """A tensor and another that fits it, often on the same device."""
    x = one(choose, program)
    if x is None:
        return None
    partners = [y for y in program.operands()[::-1] if fits(x, y)]
    near = [y for y in partners if y.device == x.device]
    if near and choose((True, False)):
        partners = near
    return (x, choose(partners)) if partners else None
