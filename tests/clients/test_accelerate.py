"""accelerate: one model over two GPUs, the CPU and the disk; device maps; and its Accelerator."""

from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator, cpu_offload, dispatch_model, infer_auto_device_map, load_checkpoint_and_dispatch
from accelerate.big_modeling import init_empty_weights
from accelerate.hooks import remove_hook_from_submodules
from accelerate.state import AcceleratorState, GradientState
from accelerate.utils import find_executable_batch_size, send_to_device, set_seed
from peft import LoraConfig, PeftModel, get_peft_model
from tiny import IDS, llama
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import LlamaForCausalLM

from samedevice import explain
from samedevice.catalog import load

HALVES = {
    "model.embed_tokens": 0, "model.rotary_emb": 0, "model.layers.0": 0,
    "model.layers.1": 1, "model.norm": 1, "lm_head": 1,
}  # fmt: skip


def logits() -> torch.Tensor:
    return llama().eval()(IDS).logits


@pytest.mark.parametrize(
    "elsewhere",
    [{}, {"model.layers.0": "cpu", "lm_head": "cpu"}, {"model.layers.0": "disk", "model.norm": "cpu"}],
    ids=["GPUs only", "the CPU too", "the disk too"],
)
def test_a_dispatched_model_computes_what_it_did(elsewhere: dict[str, str], tmp_path: Path) -> None:
    model = dispatch_model(llama().eval(), HALVES | elsewhere, offload_dir=str(tmp_path))
    for inputs in (IDS, IDS.cuda(), IDS.cuda(1)):  # its hooks bring what it is given
        output = model(inputs).logits
        assert output.device == inputs.device
        torch.testing.assert_close(output.cpu(), logits(), atol=1e-5, rtol=1e-5)
    places = {str(parameter.device) for parameter in model.parameters()}
    assert places == {"cuda:0", "cuda:1"} | ({"meta"} if elsewhere else set())
    made = model.generate(IDS.cuda(), max_new_tokens=4)
    assert torch.equal(made.cpu(), llama().eval().generate(IDS, max_new_tokens=4))


def test_a_dispatched_model_trains() -> None:
    def losses(model: nn.Module, inputs: torch.Tensor) -> list[float]:
        optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
        seen = []
        for _ in range(3):
            loss = model(inputs, labels=inputs).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            seen.append(loss.item())
        return seen

    assert losses(dispatch_model(llama(), HALVES), IDS.cuda()) == pytest.approx(losses(llama(), IDS), abs=1e-5)


def test_without_its_hooks_a_split_model_is_refused() -> None:
    model = dispatch_model(llama(), HALVES)
    remove_hook_from_submodules(model)
    with pytest.raises(RuntimeError) as refusal:
        model(IDS.cuda())
    assert str(refusal.value) == (
        "Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0!"
    )


@pytest.mark.filterwarnings("ignore")  # of peft
def test_peft_brings_an_adapter_beside_an_offloaded_layer(tmp_path: Path) -> None:
    lora = LoraConfig(target_modules=["q_proj"], init_lora_weights=False)
    get_peft_model(llama(), lora).save_pretrained(tmp_path)
    small = HALVES | {"model.layers.1": "cpu"}
    expected = PeftModel.from_pretrained(llama().eval(), tmp_path)(IDS).logits
    model = PeftModel.from_pretrained(dispatch_model(llama().eval(), small), tmp_path)
    torch.testing.assert_close(model(IDS).logits, expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(model.merge_and_unload()(IDS).logits, expected, atol=1e-5, rtol=1e-4)
    new = get_peft_model(dispatch_model(llama(), small), lora)
    assert {str(p.device) for name, p in new.named_parameters() if "lora" in name} == {"cuda:0", "meta"}


@pytest.mark.parametrize("device_map", ["auto", "balanced", "sequential", "cuda:1", {"": 1}], ids=str)
def test_a_checkpoint_is_loaded_by_a_device_map(device_map: Any, tmp_path: Path) -> None:
    llama().save_pretrained(tmp_path)
    model = LlamaForCausalLM.from_pretrained(tmp_path, device_map=device_map).eval()
    torch.testing.assert_close(model(IDS.to(model.device)).logits.cpu(), logits(), atol=1e-5, rtol=1e-5)
    places = {str(parameter.device) for parameter in model.parameters()}
    expected = {"auto": {"cuda:0", "cuda:1"}, "balanced": {"cuda:0", "cuda:1"}, "sequential": {"cuda:0"}}
    assert places == (expected[device_map] if device_map in ("auto", "balanced", "sequential") else {"cuda:1"})


def test_small_gpus_send_the_rest_to_the_cpu(tmp_path: Path) -> None:
    llama().save_pretrained(tmp_path)
    room = {0: 52_000, 1: 40_000, "cpu": 10**6}
    device_map = infer_auto_device_map(llama(), max_memory=room, no_split_module_classes=["LlamaDecoderLayer"])
    assert set(device_map.values()) == {0, 1, "cpu"}
    with init_empty_weights():
        empty = llama()
    model = load_checkpoint_and_dispatch(empty, str(tmp_path), device_map=device_map).eval()
    torch.testing.assert_close(model(IDS.cuda()).logits.cpu(), logits(), atol=1e-5, rtol=1e-5)
    everything = cpu_offload(llama().eval(), execution_device="cuda:1")
    torch.testing.assert_close(everything(IDS.cuda()).logits.cpu(), logits(), atol=1e-5, rtol=1e-5)


def accelerated(**settings: Any) -> tuple[list[float], torch.Tensor]:
    """The losses of a training under Accelerator, and its last prediction."""
    AcceleratorState._reset_state(True)
    GradientState._reset_state()
    accelerator = Accelerator(**settings)
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)), torch.randn(32, 4)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True, pin_memory=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    seen = []
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            predicted = model(inputs)
            loss = nn.functional.mse_loss(predicted, targets)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            seen.append(loss.item())
    return seen, accelerator.gather_for_metrics(predicted)


@pytest.mark.parametrize("settings", [{}, {"gradient_accumulation_steps": 2}], ids=["each step", "every second step"])
def test_an_accelerator_gives_the_losses_of_the_cpu(settings: dict[str, Any]) -> None:
    seen, predicted = accelerated(**settings)
    assert str(predicted.device) == "cuda:0"
    assert seen == pytest.approx(accelerated(cpu=True, **settings)[0], abs=1e-6)


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_an_accelerator_in_lower_precision_computes_something_near(precision: str) -> None:
    seen, precise = accelerated(mixed_precision=precision)[0], accelerated(cpu=True)[0]
    assert seen == pytest.approx(precise, rel=0.1)
    assert seen != pytest.approx(precise, rel=1e-6)


def test_batches_seeds_and_batch_sizes() -> None:
    sent = send_to_device({"a": IDS, "b": [IDS, (IDS,)]}, "cuda:1")
    assert str(sent["b"][1][0].device) == "cuda:1"
    set_seed(1)
    first = torch.randn(2, device="cuda")
    set_seed(1)
    assert torch.equal(torch.randn(2, device="cuda"), first)

    @find_executable_batch_size(starting_batch_size=8)
    def largest(batch_size: int) -> int:
        if batch_size > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return batch_size

    assert largest() == 2


def test_the_batch_size_is_halved_until_it_fits_the_gpu() -> None:
    torch.cuda.set_per_process_memory_fraction(2**26 / torch.cuda.get_device_properties(0).total_memory)

    @find_executable_batch_size(starting_batch_size=2**20)
    def largest(batch_size: int) -> int:
        torch.ones(batch_size, 2**10, device="cuda").sum()
        return batch_size

    tried = largest()
    assert 2**12 <= tried < 2**14  # accelerate itself decides by how much it makes a batch smaller
    assert torch.cuda.memory_stats()["num_ooms"] > 0


def test_a_model_that_is_partly_offloaded_cannot_be_moved_in_words_that_explain_knows() -> None:
    model = dispatch_model(llama(), HALVES | {"lm_head": "cpu"})
    with pytest.raises(RuntimeError) as refusal:
        model.to("cuda")
    assert str(refusal.value) in texts("SD115")
    diagnosis = explain(refusal.value)
    assert (diagnosis.message and diagnosis.message.id, diagnosis.causes[0].id) == ("SD115", "library_placed_model")


def test_a_quantized_model_on_another_gpu_cannot_be_trained_in_words_that_explain_knows() -> None:
    model: Any = nn.Linear(4, 4).to("cuda:1")
    model.is_loaded_in_4bit, model.hf_device_map = True, {"": 1}  # as transformers marks what bitsandbytes quantized
    with pytest.raises(ValueError, match="precision on a different device") as refusal:
        Accelerator().prepare_model(model)
    assert str(refusal.value) in texts("SD116")
    diagnosis = explain(refusal.value)
    assert (diagnosis.message and diagnosis.message.id, diagnosis.causes[0].id) == ("SD116", "wrong_default_index")


def texts(message: str) -> list[str]:
    return [text["text"] for text in load().messages[message].texts]
