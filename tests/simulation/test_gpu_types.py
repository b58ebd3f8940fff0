"""Simulated GPUs that are of a model: what CUDA reports of it, and how much memory it has."""

import multiprocessing
from typing import Any

import pytest
import torch

from samedevice import gpu_types, simulate_cuda
from samedevice.gpu_types import named, names


@pytest.mark.parametrize(
    ("name", "driver"),
    [
        ("Tesla T4", "Tesla T4"),
        ("NVIDIA T4", "Tesla T4"),
        ("t4", "Tesla T4"),
        ("nvidia tesla t4", "Tesla T4"),
        ("V100-SXM2-32GB", "Tesla V100-SXM2-32GB"),
        ("Tesla V100 16GB", "Tesla V100-SXM2-16GB"),
        ("A100 80gb", "NVIDIA A100-SXM4-80GB"),
        ("nvidia a100-sxm4-40gb", "NVIDIA A100-SXM4-40GB"),
        ("RTX 4090", "NVIDIA GeForce RTX 4090"),
        ("rtx_5090", "NVIDIA GeForce RTX 5090"),
        ("H100", "NVIDIA H100 80GB HBM3"),
    ],
)
def test_a_model_has_the_name_of_its_driver_and_others(name: str, driver: str) -> None:
    assert named(name).name == driver


@pytest.mark.parametrize("name", names())
def test_cuda_reports_what_the_table_says(name: str) -> None:
    kind = named(name)
    with simulate_cuda([name]):
        told = torch.cuda.get_device_properties()
        assert torch.cuda.get_device_name() == told.name == name
        assert torch.cuda.get_device_capability() == (told.major, told.minor) == kind.capability
        assert torch.cuda.mem_get_info() == (kind.memory, kind.memory)
        assert (told.total_memory, told.multi_processor_count) == (kind.memory, kind.multiprocessors)
        assert torch.cuda.is_bf16_supported()  # by emulation, on older ones
        is_ampere = kind.capability >= (8, 0)
        assert torch.cuda.is_bf16_supported(including_emulation=False) is torch.cuda.is_tf32_supported() is is_ampere


def test_the_memory_of_each_model_is_what_its_name_says_less_what_the_driver_keeps() -> None:
    sizes = {"16GB": 16, "32GB": 32, "40GB": 40, "80GB": 80, "T4": 16, "A10G": 24, "L40S": 48, "L4": 24, "H200": 141}
    sizes |= {"3090": 24, "4090": 24, "5090": 32, "B200": 180}
    for name in names():
        stated = next(size for part, size in sizes.items() if part in name)
        assert 0.9 * stated * 2**30 < named(name).memory <= stated * 2**30


def test_gpus_may_differ() -> None:
    with simulate_cuda(devices=["NVIDIA T4", "NVIDIA A100-SXM4-40GB"]):
        assert [torch.cuda.get_device_name(i) for i in range(2)] == ["Tesla T4", "NVIDIA A100-SXM4-40GB"]
        with pytest.raises(torch.OutOfMemoryError, match=r"GPU 0 has a total capacity of 14\.56 GiB of which 14\.56"):
            torch.empty(30 * 2**30, dtype=torch.uint8, device="cuda:0")
        assert torch.cuda.mem_get_info(1)[1] == 40441 * 2**20
        with pytest.raises(torch.OutOfMemoryError, match=r"GPU 1 has a total capacity of 39\.49 GiB"):
            torch.empty(40 * 2**30, dtype=torch.uint8, device="cuda:1")


def test_hidden_gpus_keep_their_models(monkeypatch: pytest.MonkeyPatch) -> None:
    with simulate_cuda(["T4", "L4", "H100"]):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,0")
        assert [torch.cuda.get_device_name(i) for i in range(2)] == ["NVIDIA H100 80GB HBM3", "Tesla T4"]
        assert torch.cuda.mem_get_info(1)[1] == named("T4").memory


def test_a_gpu_that_nobody_named_is_none_that_can_be_bought() -> None:
    with simulate_cuda():
        assert torch.cuda.get_device_name() == gpu_types.UNNAMED.name not in names()


def test_an_unknown_model_is_one_sentence_with_all_names() -> None:
    with pytest.raises(ValueError) as unknown:
        simulate_cuda(["Tesla T4", "NVIDIA T5"])
    assert str(unknown.value) == f"no GPU 'NVIDIA T5' can be simulated, but these can: {', '.join(names())}"
    assert len(names()) >= 12


@pytest.mark.parametrize("wrong", ["NVIDIA T4", [], ["T4", 2], [2], {"T4"}])
def test_models_are_given_as_a_list(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r'or a list of their models, such as \["NVIDIA T4"\]; got '):
        simulate_cuda(wrong)


def test_a_nested_simulation_of_the_same_models_joins_and_one_of_others_is_refused() -> None:
    with simulate_cuda(["T4", "T4"]):
        with simulate_cuda(2), simulate_cuda():
            assert torch.cuda.get_device_name() == "Tesla T4"
        with simulate_cuda(["NVIDIA T4", "NVIDIA T4"]):
            assert torch.cuda.device_count() == 2
        with pytest.raises(RuntimeError) as refusal:
            simulate_cuda(["L4"]).start()
        assert str(refusal.value) == (
            "a simulation of other GPUs (Tesla T4, Tesla T4) is running, so one of NVIDIA L4 cannot start inside it: "
            "name the models where the outer one starts"
        )


def told_name(queue: Any) -> None:
    queue.put(torch.cuda.get_device_name(1))


@pytest.mark.slow
def test_a_spawned_process_has_the_same_models() -> None:
    with simulate_cuda(["T4", "L4"]):
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        process = context.Process(target=told_name, args=(queue,))
        process.start()
        assert queue.get(timeout=120) == "NVIDIA L4"
        process.join()
