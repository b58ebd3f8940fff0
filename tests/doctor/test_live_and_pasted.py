"""One line, one answer: live, where the frames show the tensors, and pasted, where there is only the line.

The same means: the same cause, and the same line of Python to write. Live the culprit is the whole operand; read from a
line it may be the part that creates a tensor, such as `torch.ones(3)` of `torch.triu(torch.ones(3, 3))`.
"""

import ast
import linecache
import traceback

import numpy as np
import pytest
import torch

from samedevice import explain, simulate_cuda

# `x` is on the GPU; `a` and `b` are tensors on the CPU, `m` an array of NumPy. Each of these creates a tensor there.
CREATED = """
torch.from_numpy(m)
torch.frombuffer(m, dtype=torch.float32)
torch.as_tensor([1.0, 2.0, 3.0])
torch.as_tensor(m)
torch.asarray([1.0, 2.0, 3.0])
torch.asarray(m)
torch.tensor([1.0, 2.0, 3.0])
torch.empty_strided((3,), (1,))
torch.empty_permuted((3,), (0,))
torch.complex(torch.ones(3), torch.zeros(3))
torch.polar(torch.ones(3), torch.zeros(3))
torch.Tensor([1.0, 2.0, 3.0])
torch.FloatTensor([1.0, 2.0, 3.0])
torch.HalfTensor([1.0, 2.0, 3.0])
torch.ShortTensor([1, 2, 3])
torch.normal(0.0, 1.0, (3,))
torch.normal(0.0, 1.0, size=(3,))
torch.scalar_tensor(2.0).expand(3)
torch.fft.fftfreq(3)
torch.ones(3).cumsum(0)
torch.linspace(0, 1, 3).square()
torch.zeros(3)
torch.zeros(3).clone()
torch.triu(torch.ones(3, 3))
""".strip().splitlines()
OPEN = ("torch.as_tensor(m)", "torch.asarray(m)")
# These are where their operands are: of a pasted line nobody can say which of the two is on the CPU.
COMPUTED = [
    "torch.complex(a, b)",
    "torch.polar(a, b)",
    "torch.normal(a, b)",
    "torch.normal(a, 1.0)",
    "torch.normal(a, 1.0, generator=None)",
    "torch.ones_like(a)",
]
# The index `i` is on the GPU.
INDEXED = ["torch.from_numpy(m)", "torch.as_tensor(m)", "torch.arange(3)", "torch.tensor([1, 2, 3])"]
# `g` is on the GPU, so this is too; the culprit is `c`, on the CPU.
FOLLOWING = """
torch.complex(g, g)
torch.polar(g, g)
torch.normal(g, 1.0)
torch.tensor(g)
torch.as_tensor(g)
torch.asarray(g)
torch.Tensor(g)
torch.zeros_like(g)
torch.zeros(3).type_as(g)
""".strip().splitlines()


@pytest.fixture
def failed(tmp_path):
    """Run a line as the body of a function of a file, and return its error."""
    file = tmp_path / "step.py"

    def run(line, **names):
        file.write_text(f"import torch\n\ndef step({', '.join(names)}):\n    {line}\n")
        linecache.checkcache()
        program = {}
        exec(compile(file.read_text(), file, "exec"), program)
        try:
            program["step"](**names)
        except RuntimeError as error:
            return error
        return None

    return run


def names(x):
    return {"x": x, "a": torch.ones(3), "b": torch.ones(3), "m": np.ones(3, dtype=np.float32)}


def pasted(error):
    """Print the traceback as PyTorch's CUDA build does: without frames of the simulation, or of this file."""
    shown = traceback.TracebackException.from_exception(error)
    shown.stack = traceback.StackSummary.from_list([frame for frame in shown.stack if frame.name == "step"])
    return "".join(shown.format())


def as_python(line):
    return ast.dump(ast.parse(line))


def answers(expression, failed):
    """What is said live, what of the paste, and the error that is left after the change."""
    with simulate_cuda():
        error = failed(f"return x + {expression}", **names(torch.ones(3, device="cuda")))
        (live,) = explain(error).culprits
        found = explain(pasted(error)).culprits
        return live, found, failed(live.fix, **names(torch.ones(3, device="cuda")))


@pytest.mark.parametrize("expression", CREATED)
def test_what_a_line_creates_is_named_live_and_pasted(expression, failed):
    live, found, repaired = answers(expression, failed)
    # Of an unknown `m` the line does not tell whether it is a tensor, nor where.
    assert ("x" in [culprit.expression for culprit in found]) == (expression in OPEN)
    (culprit,) = [culprit for culprit in found if culprit.expression != "x"]
    assert (live.case or live.cause, culprit.case or culprit.cause) == ("tensor_created_in_forward_without_device",) * 2
    assert as_python(culprit.fix) == as_python(live.fix)
    assert culprit.expression in expression
    assert as_python(culprit.expression) in {as_python(live.expression), *parts_of(live.expression)}
    assert repaired is None


def parts_of(expression):
    nodes = [node for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Call)]
    return {as_python(ast.unparse(node)) for node in nodes}


@pytest.mark.parametrize("expression", COMPUTED)
def test_what_is_where_its_operands_are_is_named_live_and_one_of_two_in_a_paste(expression, failed):
    live, found, repaired = answers(expression, failed)
    assert live.expression == expression
    assert live.cause != "tensor_created_in_forward_without_device"
    named = {culprit.expression for culprit in found}
    assert "x" in named
    assert len(named) == 2
    assert (named - {"x"}).pop() in expression
    assert repaired is None


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
@pytest.mark.parametrize("expression", FOLLOWING)
def test_what_follows_a_tensor_on_the_gpu_is_no_culprit(expression, failed):
    with simulate_cuda():
        error = failed(f"return c + {expression}", c=torch.ones(3), g=torch.ones(3, device="cuda"))
        assert [culprit.expression for culprit in explain(error).culprits] == ["c"]


@pytest.mark.parametrize("expression", INDEXED)
def test_what_is_created_and_indexed_in_a_line_is_named_live_and_pasted(expression, failed):
    with simulate_cuda():
        error = failed(f"return {expression}[i]", i=torch.tensor([0, 1], device="cuda"), m=np.ones(3))
        (live,), (culprit,) = explain(error).culprits, explain(pasted(error)).culprits
        assert (live.expression, live.cause, live.fix) == (culprit.expression, culprit.cause, culprit.fix)
        assert failed(live.fix, i=torch.tensor([0, 1], device="cuda"), m=np.ones(3)) is None
