"""DLPack: the capsule of a tensor on a GPU says so."""

from typing import Any

import numpy
import pytest
import torch
from torch.utils import dlpack

pytestmark = pytest.mark.usefixtures("two_gpus")


def test_a_tensor_comes_back_to_its_gpu_with_its_memory() -> None:
    x = torch.arange(6.0, device="cuda").view(2, 3)
    y = torch.from_dlpack(x.t())
    assert (str(y.device), y.tolist(), y.stride()) == ("cuda:0", x.t().tolist(), (1, 3))
    y[0, 0] = 7
    assert x[0, 0] == 7
    assert str(torch.from_dlpack(x, copy=True).device) == "cuda:0"


def test_a_capsule_of_the_other_gpu_comes_back_to_it() -> None:
    x = torch.arange(3, device="cuda:1")
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    assert (str(y.device), y.tolist()) == ("cuda:1", [0, 1, 2])
    with torch.cuda.device(1):
        capsule: Any = x.__dlpack__(max_version=(1, 0))
    assert str(torch.from_dlpack(capsule).device) == "cuda:1"


def test_the_cpu_can_be_asked_for() -> None:
    x = torch.arange(3.0, device="cuda")
    y = torch.from_dlpack(x, device="cpu")
    y[0] = 5
    assert (y.tolist(), x.tolist()) == ([5, 1, 2], [0, 1, 2])
    with pytest.raises(ValueError) as error:
        x.__dlpack__(dl_device=(1, 0), copy=False)
    assert str(error.value) == "cannot move (i.e. copy=False) tensor from cuda:0 to cpu without copying."


def test_numpy_refuses_a_gpu() -> None:
    refusal = BufferError if numpy.lib.NumpyVersion(numpy.__version__) >= "2.5.0" else RuntimeError
    with pytest.raises(refusal) as error:
        numpy.from_dlpack(torch.ones(2, device="cuda"))  # type: ignore[arg-type]
    assert str(error.value) == "Unsupported device in DLTensor."
    assert numpy.from_dlpack(torch.ones(2)).tolist() == [1, 1]  # type: ignore[arg-type]
