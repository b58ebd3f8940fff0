"""Custom operators of torch.library, with kernels for CUDA, the CPU or all devices, and the lines that call them."""

from typing import Any

import torch
from hypothesis import assume
from hypothesis.strategies import DrawFn, sampled_from
from torch import Tensor

from random_programs import rules
from random_programs.making import one, two
from random_programs.program import Line, Program, judged

# For which types of device each operator has a kernel. All do the same, so the CPU can say what `for_cuda` computes.
KERNELS: dict[str, Any] = {"for_all": None, "for_cuda": "cuda", "for_cpu": "cpu", "for_both": ("cpu", "cuda")}


def _add(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return a tensor where x is, and one where y is."""
    return x + y.to(x.device), y * 2


def _setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.device = inputs[1].device


def _backward(ctx: Any, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    return first, first.to(ctx.device) + second * 2


def _write(x: Tensor) -> None:
    x.add_(1)


def _register() -> list[Any]:
    registered = []
    for name, devices in KERNELS.items():
        add = torch.library.custom_op(f"random_programs::add_{name}", _add, mutates_args=(), device_types=devices)
        add.register_autograd(_backward, setup_context=_setup)
        write = torch.library.custom_op(
            f"random_programs::write_{name}", _write, mutates_args={"x"}, device_types=devices
        )
        registered += [add, write]
    return registered


REGISTERED = _register()  # torch.ops has them while these live


def add(draw: DrawFn, program: Program) -> Line:
    """Draw a call of an operator whose kernel is given tensors on several devices, as CUDA's is."""
    x, y = two(draw, program, lambda x, y: x.is_float and y.has_form_of(x.twin))
    name = draw(sampled_from(tuple(KERNELS)))
    call = "torch.ops.random_programs.add_{}" + f"({x}, {y})"
    line = judged(call.format(name), lambda: rules.has_kernel(f"add_{name}", KERNELS[name], [x, y]))
    return line if line.refused else Line(line.text, (x.device, y.device), call.format("for_all"))


def write(draw: DrawFn, program: Program) -> Line:
    x = one(draw, program)
    assume(program.no_grad or not x.requires_grad)  # custom_op has no formula for what it writes to
    name = draw(sampled_from(tuple(KERNELS)))
    call = "torch.ops.random_programs.write_{}" + f"({x})"
    line = judged(call.format(name), lambda: rules.has_kernel(f"write_{name}", KERNELS[name], [x]))
    assume(not line.refused)  # PyTorch counts the version of what is written to before it looks for the kernel
    return Line(line.text, (), call.format("for_all"))
