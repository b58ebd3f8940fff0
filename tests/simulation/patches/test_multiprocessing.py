"""Other processes and threads: DataLoader's workers, forked and spawned processes, what they send each other.

A spawned child costs an import of torch: add to the test of spawned workers before you write another.
"""

import multiprocessing.spawn
import os
import re
import subprocess
import sys
import threading
import traceback
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.multiprocessing as mp
from torch import nn
from torch.utils.data import DataLoader, Dataset

from samedevice import explain, simulate_cuda

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork.* may lead to deadlocks:DeprecationWarning")

LESSON = Path(__file__).resolve().parents[3] / "notebooks" / "14-workers-and-forks.ipynb"

SEEN_AT_IMPORT = torch.cuda.device_count()

FORKED = (
    "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the "
    "'spawn' start method"
)


class Makes(Dataset):
    """A dataset whose items are made on a GPU."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"gpu": torch.full((2,), float(index), device="cuda:1"), "cpu": torch.ones(1), "pid": os.getpid()}


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")


def forked(data: Any, **options: Any) -> list[Any]:
    try:
        return list(DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context="fork", **options))
    except RuntimeError as error:
        # With them goes the iterator: found as garbage later, it waits five seconds for its worker.
        traceback.clear_frames(error.__traceback__)
        raise


@needs_fork
def test_forked_workers_may_make_tensors_on_a_gpu_that_their_parent_did_not_touch(two_gpus: None) -> None:
    first, second = forked(Makes())
    assert (str(first["gpu"].device), first["gpu"].tolist()) == ("cuda:1", [[0, 0], [1, 1]])
    assert (second["gpu"] + 1).tolist() == [[3, 3], [4, 4]]
    assert first["pid"][0] != os.getpid()


@needs_fork
def test_forked_workers_may_not_use_cuda_once_their_parent_asked_for_it(two_gpus: None) -> None:
    assert torch.cuda.is_available()  # starts the driver
    with pytest.raises(RuntimeError) as refusal:
        forked(Makes())
    text = str(refusal.value)
    assert text.startswith(
        "Caught RuntimeError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n"
    )
    assert text.strip().split("\n")[-1] == f"RuntimeError: {FORKED}"
    names = re.findall(r"line \d+, in (\w+)", text)
    assert (names[0], names[-2:]) == ("_worker_loop", ["__getitem__", "_lazy_init"]), "PyTorch's frames, not ours"


def look(connection: Any, x: torch.Tensor) -> None:
    answers: list[object] = [str(x.device), x.select(0, 0).shape, torch.cuda.is_available()]
    answers.append(torch.cuda.is_initialized())
    for use in (lambda: x[0], lambda: x + 1, lambda: x.cpu(), lambda: x.tolist(), lambda: torch.zeros(1).cuda()):
        try:
            use()
        except RuntimeError as error:
            answers.append(str(error).split("\n")[0])
    connection.send(answers)


@needs_fork
def test_a_forked_process_may_look_at_its_parents_tensors_but_not_compute_with_them(two_gpus: None) -> None:
    receiver, sender = mp.Pipe()
    process = mp.get_context("fork").Process(target=look, args=(sender, torch.ones(3, 2, device="cuda:1")))
    process.start()
    answers = receiver.recv()
    process.join()
    assert answers[:4] == ["cuda:1", (2,), True, False]
    assert answers[4:] == ["CUDA error: initialization error"] * 4 + [FORKED]


def make(connection: Any) -> None:
    made = torch.arange(4.0, device="cuda:1")
    for tensor in (made, made[2:], nn.Parameter(made), torch.empty(0, device="cuda")):
        connection.send(tensor)
    connection.recv()  # until the parent has written
    connection.send(made.tolist())


@needs_fork
def test_tensors_on_a_gpu_that_another_process_made_share_its_memory(two_gpus: None) -> None:
    here, there = mp.Pipe()
    process = mp.get_context("fork").Process(target=make, args=(there,))
    process.start()
    made, view, parameter, empty = (here.recv() for _ in range(4))
    assert [str(x.device) for x in (made, view, parameter, empty)] == ["cuda:1"] * 3 + ["cuda:0"]
    assert (isinstance(parameter, nn.Parameter), parameter.requires_grad) == (True, True)
    view[0] = 9
    assert made.tolist() == parameter.tolist() == [0, 1, 9, 3]
    here.send("written")
    assert here.recv() == [0, 1, 9, 3]
    process.join()
    with pytest.raises(RuntimeError) as refusal:
        ForkingPickler.dumps(made)
    assert str(refusal.value) == (
        "Attempted to send CUDA tensor received from another process; this is not currently supported. "
        "Consider cloning before sending."
    )


class Counts(Dataset):
    """A dataset that holds a model on a GPU, and writes into it."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model

    def __len__(self) -> int:
        return 2

    @torch.no_grad()
    def __getitem__(self, index: int) -> dict[str, Any]:
        self.model.weight += 1
        return {"gpu": self.model.weight.clone(), "seen": SEEN_AT_IMPORT, "pid": os.getpid()}


@pytest.mark.slow
def test_spawned_workers_are_simulated_and_share_their_parents_tensors_on_a_gpu(two_gpus: None) -> None:
    model = nn.Linear(2, 2).cuda(1)
    nn.init.zeros_(model.weight)
    loader = DataLoader(Counts(model), num_workers=1, multiprocessing_context="spawn", persistent_workers=True)
    batches = [batch for _ in range(2) for batch in loader]
    assert [str(batch["gpu"].device) for batch in batches] == ["cuda:1"] * 4
    assert [batch["seen"].item() for batch in batches] == [2] * 4, "simulated only after the first import"
    assert len({batch["pid"].item() for batch in batches}) == 1
    assert model.weight.unique().tolist() == [4]


def test_processes_spawned_after_a_simulation_are_told_of_none() -> None:
    with simulate_cuda(devices=2):
        assert "samedevice" in multiprocessing.spawn.get_preparation_data("inside")
    assert "samedevice" not in multiprocessing.spawn.get_preparation_data("after")


def test_what_torch_multiprocessing_does_not_send(two_gpus: None) -> None:
    leaf = torch.ones(2, device="cuda", requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        ForkingPickler.dumps(leaf * 2)
    with pytest.raises(RuntimeError) as refusal:
        ForkingPickler.dumps(leaf.untyped_storage())
    assert str(refusal.value) == "Cannot pickle CUDA storage; try pickling a CUDA tensor instead"


@needs_fork
def test_batches_are_pinned_through_and_through(two_gpus: None) -> None:
    items = [{"x": torch.ones(2), "rest": (index, "text")} for index in range(2)]
    for options in ({}, {"num_workers": 1, "multiprocessing_context": "fork"}):
        (batch,) = DataLoader(items, batch_size=2, pin_memory=True, **options)
        assert (batch["x"].is_pinned(), batch["rest"][0].is_pinned(), batch["rest"][1]) == (True, True, ("text",) * 2)
    with pytest.raises(RuntimeError) as refusal:
        list(DataLoader([torch.ones(2, device="cuda")], pin_memory=True))
    assert str(refusal.value) == "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"


@pytest.mark.slow
def test_what_a_spawned_worker_made_on_a_gpu_is_not_pinned(two_gpus: None) -> None:
    batches: Any = iter(DataLoader(Makes(), num_workers=1, multiprocessing_context="spawn", pin_memory=True))
    with pytest.raises(RuntimeError) as refusal:
        next(batches)
    batches._shutdown_workers()  # its thread uses CUDA, which ends with the simulation
    text = str(refusal.value)
    assert text.startswith("Caught RuntimeError in pin memory thread for device 0.\n")
    assert text.strip().endswith("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned")


WITHOUT_A_FILE = """
from torch.utils.data import DataLoader
class Night(list):
    pass
print(len(list(DataLoader(Night([1, 2]), num_workers=1, multiprocessing_context="spawn"))))
"""


def not_found(name: str) -> str:
    """What a child says, in this Python, of a name that its parent's __main__ has and that is in no file."""
    if sys.version_info >= (3, 14):
        return f"AttributeError: module '__main__' has no attribute '{name}'"
    loader = "(built-in)" if sys.version_info < (3, 12) else "(<class '_frozen_importlib.BuiltinImporter'>)"
    return f"AttributeError: Can't get attribute '{name}' on <module '__main__' {loader}>"


@pytest.mark.slow
def test_a_spawned_worker_does_not_find_a_class_of_a_program_without_a_file() -> None:
    """As in a notebook: lesson 14 has both messages, and `explain` knows what the worker prints."""
    run = subprocess.run([sys.executable, "-c", WITHOUT_A_FILE], capture_output=True, text=True, timeout=120)
    assert run.returncode == 1
    of_the_worker, found, of_the_parent = run.stderr.partition(not_found("Night"))
    assert found, run.stderr
    assert re.search(r"RuntimeError: DataLoader worker \(pid\(s\) \d+\) exited unexpectedly", of_the_parent)
    other = explain(of_the_worker + found).other
    assert other is not None and other.id == "spawn"
    assert f'"{not_found("describe")}\\n"' in LESSON.read_text("utf-8")


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_loader_on_the_cpu_takes_no_generator_of_a_gpu(two_gpus: None, shuffle: bool) -> None:
    with pytest.raises(RuntimeError) as refusal:
        list(DataLoader([1, 2], shuffle=shuffle, generator=torch.Generator("cuda")))
    assert str(refusal.value) == "Expected a 'cpu' device type for generator but found 'cuda'"


def test_threads_may_start_and_stop_simulations_at_the_same_time() -> None:
    wrong: list[str] = []

    def use() -> None:
        for _ in range(5):
            with simulate_cuda(devices=2):
                device = str(torch.zeros(1, device="cuda:1").device)
                if device != "cuda:1":
                    wrong.append(device)

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert multiprocessing.spawn.get_preparation_data.__module__ == "multiprocessing.spawn"


@pytest.mark.filterwarnings("ignore")
def test_distributed_data_parallel_of_one_process_trains_over_gloo(two_gpus: None, tmp_path: Path) -> None:
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        model = nn.Linear(2, 1).cuda(1)
        wrapped, x = nn.parallel.DistributedDataParallel(model, device_ids=[1]), torch.tensor([[1.0, 2.0]])
        output = wrapped(x)
        output.sum().backward()
        assert (str(output.device), str(model.weight.grad.device)) == ("cuda:1", "cuda:1")
        assert model.weight.grad.tolist() == x.tolist()
        total = torch.ones(2, device="cuda")
        torch.distributed.all_reduce(total)
        assert total.tolist() == [1, 1]
    finally:
        torch.distributed.destroy_process_group()
