"""Lines about a NumPy array: what shares its memory with a tensor, and is written afterwards.

A program has one array at a time, called `array`. A tensor on the CPU may share its memory; one on a GPU never does.
"""

from hypothesis import assume
from hypothesis.strategies import DrawFn, integers, sampled_from

from random_programs import rules
from random_programs.classes import Passing, TwoTensor
from random_programs.making import DEVICES, SHAPES, one
from random_programs.program import Line, Program, judged
from random_programs.rules import CPU

TO_TENSOR = sampled_from((
    "torch.as_tensor(array, device='{device}')",
    "torch.asarray(array, device='{device}')",
    "torch.from_numpy(array).to('{device}')",
    "torch.asarray(array, device='{device}', copy=True)",
    "torch.tensor(array, device='{device}')",
))  # fmt: skip
TO_ARRAY = sampled_from(("array = {x}.numpy(force=True)", "array = {x}.detach().cpu().numpy()"))


def make(draw: DrawFn, program: Program) -> Line:
    return Line(f"array = numpy.full({draw(SHAPES)}, {draw(integers(0, 3))}, 'float32')")


def to_tensor(draw: DrawFn, program: Program) -> Line:
    assume("array" in program.here)
    device = draw(DEVICES)
    text = draw(TO_TENSOR).format(device=device)
    if "copy=True" in text and not program.here["array"].ndim and device != CPU:
        return judged(text, lambda: rules.aliased_number(device))
    return Line(text, (device,), text if device == CPU else "torch.tensor(array)")


def from_tensor(draw: DrawFn, program: Program) -> Line:
    x = one(draw, program, lambda x: not isinstance(x.twin, TwoTensor | Passing))  # of which PyTorch gives no array
    text = draw(TO_ARRAY).format(x=x)
    return Line(text, on_cpu=text if x.device == CPU else text.replace(f"{x}.", f"{x}.detach().clone()."))


def write(draw: DrawFn, program: Program) -> Line:
    assume("array" in program.here)
    return Line(f"array[...] = {draw(integers(4, 7))}")


def read(draw: DrawFn, program: Program) -> Line:
    assume("array" in program.here)
    return Line("read = array.tolist()", reads_values=True)
