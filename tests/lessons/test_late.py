"""`late_copies`: which copies to the CPU are under way, and what lets them arrive."""

import subprocess
import sys

import pytest
import torch

from lessons import late_copies, start


@pytest.fixture
def x(machine):
    start(gpus=1)
    return torch.tensor([3.0, 4.0], device="cuda")


def under_way(x):
    copy = x.to("cpu", non_blocking=True)
    assert copy.tolist() == [0, 0], "read at once"
    return copy


def record_and_wait():
    event = torch.cuda.Event()
    event.record()
    event.synchronize()


@pytest.mark.parametrize(
    "wait",
    [
        lambda x: torch.cuda.synchronize(),
        lambda x: record_and_wait(),
        lambda x: torch.cuda.current_stream().synchronize(),
        lambda x: x.cpu(),
        lambda x: x.to("cpu"),
        lambda x: x.to("cpu", torch.float32, False, True),  # copy=True, and it waits
        lambda x: x[0].item(),
        lambda x: x.tolist(),
        lambda x: bool(x[0] > 9),
        lambda x: float(x[0]),
        lambda x: torch.ones(2).to("cuda"),
        lambda x: torch.empty(2).copy_(x),
    ],
)
def test_a_copy_arrives_when_the_cpu_waits(x, wait):
    with late_copies():
        copy = under_way(x)
        wait(x)
        assert copy.tolist() == [3, 4]


@pytest.mark.parametrize(
    "go_on",
    [
        lambda x, copy: x + 1,
        lambda x, copy: torch.ones(2).to("cuda", non_blocking=True),
        lambda x, copy: copy.sum().item(),
        lambda x, copy: copy.to("cpu"),
        lambda x, copy: x.to("cuda:0"),
    ],
)
def test_what_does_not_wait_for_the_gpu_brings_nothing(x, go_on):
    with late_copies():
        copy = under_way(x)
        go_on(x, copy)
        assert copy.tolist() == [0, 0]
    assert copy.tolist() == [3, 4], "the end brings all"


def test_it_is_pinned_memory_that_may_be_late(x):
    with late_copies():
        ordinary, pinned = torch.ones(2), torch.ones(2).pin_memory()
        assert ordinary.copy_(x, non_blocking=True).tolist() == [3, 4]
        assert pinned.copy_(x, non_blocking=True).tolist() == [0, 0]
        torch.cuda.synchronize()
        assert pinned.tolist() == [3, 4]


def test_a_copy_carries_its_gradient_and_its_dtype(x):
    x.requires_grad_()
    with late_copies():
        copy = x.to("cpu", torch.float64, non_blocking=True)
        torch.cuda.synchronize()
    copy.sum().backward()
    assert (copy.dtype, copy.tolist(), x.grad.tolist()) == (torch.float64, [3, 4], [1, 1])


def test_afterwards_pytorch_is_as_it_was(x):
    before = torch.Tensor.to, torch.Tensor.copy_, torch.Tensor.item, torch.cuda.synchronize
    with pytest.raises(ZeroDivisionError), late_copies():
        raise ZeroDivisionError
    assert (torch.Tensor.to, torch.Tensor.copy_, torch.Tensor.item, torch.cuda.synchronize) == before
    assert x.to("cpu", non_blocking=True).tolist() == [3, 4]


def test_a_real_gpu_is_kept_busy_before_each_such_copy(x, monkeypatch):
    busy = []
    monkeypatch.setattr("lessons.gpus.real_gpus", lambda: ["NVIDIA A"])
    monkeypatch.setattr(torch.cuda, "_sleep", busy.append)
    with late_copies():
        assert x.to("cpu", non_blocking=True).tolist() == [3, 4], "its own copy is left alone"
        torch.ones(2).to("cuda", non_blocking=True)
        torch.ones(2).copy_(x, non_blocking=True)
        assert len(busy) == 1


def test_importing_it_stays_light():
    code = "import sys, lessons; lessons.late_copies; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
