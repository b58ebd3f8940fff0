"""What torch._C has only where PyTorch is built with CUDA is there, or refused by its name."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.usefixtures("two_gpus")

FOLDER = Path(torch.__file__).parent
WHERE = ("cuda/**/*.py", "accelerator/*.py", "backends/cuda/*.py", "backends/cudnn/*.py", "_dynamo/device_interface.py")
FILES = sorted(file for where in WHERE for file in FOLDER.glob(where))
OF_OTHERS = ("_xpu_", "_mps_", "_mtia_", "_rocm_")  # of builds for other accelerators


def dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def named(file: Path) -> Iterator[str]:
    """The names of torch._C that PyTorch's own Python uses."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and dotted(node.value) == "torch._C":
            yield node.attr
        elif isinstance(node, ast.ImportFrom) and node.module == "torch._C":
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER)))
def test_every_name_that_pytorch_uses_is_there(file: Path) -> None:
    names = {name for name in named(file) if not name.startswith(OF_OTHERS)}
    assert [name for name in sorted(names) if not hasattr(torch._C, name)] == []


def test_what_is_not_simulated_is_refused_by_its_name() -> None:
    C: Any = torch._C  # noqa: N806
    with pytest.raises(NotImplementedError) as error:
        C._cuda_getAllocator()
    assert str(error.value) == "samedevice does not simulate torch._C._cuda_getAllocator"


@pytest.mark.parametrize("name", ["_cuda_made_up", "_CUDAMadeUp", "made_up"])
def test_what_pytorch_does_not_name_is_missing(name: str) -> None:
    assert not hasattr(torch._C, name)
    with pytest.raises(AttributeError) as error:
        getattr(torch._C, name)
    assert str(error.value) == f"module 'torch._C' has no attribute '{name}'"


@pytest.mark.parametrize("name", ["jit_utils", "common_cuda", "common_utils", "common_device_type", "common_nn"])
@pytest.mark.filterwarnings("ignore")
def test_pytorchs_own_tests_import_what_they_need(name: str) -> None:
    assert inspect.ismodule(importlib.import_module(f"torch.testing._internal.{name}"))


def test_green_contexts_are_refused() -> None:
    contexts = pytest.importorskip("torch.cuda.green_contexts")
    with pytest.raises(NotImplementedError, match="green contexts"):
        contexts.GreenContext.create(num_sms=4)
