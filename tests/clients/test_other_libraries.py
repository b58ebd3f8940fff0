"""peft, einops, safetensors, torchmetrics, ignite, torch-geometric and diffusers: a GPU's results are the CPU's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import diffusers
import einops
import pytest
import safetensors.torch
import torch
import torch_geometric.nn
import torch_geometric.utils
import torchmetrics
from diffusers.utils.torch_utils import randn_tensor
from ignite.engine import create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy
from peft import IA3Config, LoraConfig, PeftModel, PrefixTuningConfig, PromptTuningConfig, get_peft_model
from tiny import IDS, llama
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.utils.data import DataLoader, TensorDataset

from samedevice import explain
from samedevice.catalog import load

GPU = "cuda:1"


def same(compute: Callable[[str], list[torch.Tensor]], tolerance: float = 1e-5) -> None:
    """What `compute` returns for a GPU is there, and equals what it returns for the CPU."""
    for result, on_cpu in zip(compute(GPU), compute("cpu"), strict=True):
        assert str(result.device) == GPU
        torch.testing.assert_close(result.cpu(), on_cpu, atol=tolerance, rtol=1e-4)


def drawn(*size: int) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(0))


ADAPTERS = {
    "LoRA": LoraConfig(target_modules=["q_proj", "v_proj"]),
    "DoRA": LoraConfig(target_modules=["q_proj"], use_dora=True),
    "IA3": IA3Config(target_modules=["k_proj"], feedforward_modules=[]),
    "prompts": PromptTuningConfig(num_virtual_tokens=4, task_type="CAUSAL_LM"),
    "prefixes": PrefixTuningConfig(num_virtual_tokens=4, task_type="CAUSAL_LM"),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_peft_trains_stores_and_loads_an_adapter(name: str, tmp_path: Path) -> None:
    def losses(device: str) -> list[torch.Tensor]:
        model, ids = get_peft_model(llama(), ADAPTERS[name]).to(device), IDS.to(device)
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-2)
        seen = []
        for _ in range(3):
            loss = model(input_ids=ids, labels=ids).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            seen.append(loss.detach())
        model.save_pretrained(tmp_path / device)
        return seen

    same(losses)
    loaded = PeftModel.from_pretrained(llama().to(GPU), tmp_path / GPU)
    assert {str(parameter.device) for parameter in loaded.parameters()} == {GPU}


def test_peft_refuses_an_adapter_on_the_cpu() -> None:
    model = get_peft_model(llama(), ADAPTERS["LoRA"]).cuda()
    model.base_model.model.model.layers[0].self_attn.q_proj.lora_A.cpu()
    with pytest.raises(RuntimeError) as refusal:
        model(IDS.cuda())
    assert str(refusal.value) == (
        "Expected all tensors to be on the same device, but got mat2 is on cpu, different from other tensors on cuda:0 "
        "(when checking argument in method wrapper_CUDA_mm)"
    )


def test_einops() -> None:
    def results(device: str) -> list[torch.Tensor]:
        x = drawn(2, 3, 4, 4).to(device)
        maxima = einops.reduce(x, "b c h w -> b c", "max")
        packed, shapes = einops.pack([x[0], x[1]], "* h w")
        return [
            einops.rearrange(x, "b c (h p) w -> b (h w) (p c)", p=2), einops.repeat(maxima, "b c -> b c k", k=2),
            maxima, einops.einsum(maxima, maxima, "b c, d c -> b d"), packed, *einops.unpack(packed, shapes, "* h w"),
        ]  # fmt: skip

    same(results)
    with pytest.raises(RuntimeError) as refusal:
        einops.pack([drawn(2, 3), drawn(2, 3).cuda()], "* b")
    assert str(refusal.value) == (
        "Expected all tensors to be on the same device, but got tensors is on cuda:0, different from other tensors on "
        "cpu (when checking argument in method wrapper_CUDA_cat)"
    )


def test_safetensors_loads_straight_to_a_gpu(tmp_path: Path) -> None:
    model, file = nn.Linear(3, 2).to(GPU), tmp_path / "model"
    safetensors.torch.save_model(model, str(file))
    for device in ("cpu", "cuda:0", GPU, 1):
        loaded = safetensors.torch.load_file(file, device=device)
        assert loaded["weight"].device == torch.device(device)
        assert torch.equal(loaded["weight"].cpu(), model.weight.cpu())
    with safetensors.safe_open(file, "pt", device="cuda") as opened:
        assert str(opened.get_tensor("bias").device) == "cuda:0"
        assert str(opened.get_slice("weight")[:1].device) == "cuda:0"


METRICS: dict[str, Callable[[], torchmetrics.Metric]] = {
    "accuracy": lambda: torchmetrics.Accuracy("multiclass", num_classes=3),
    "F1": lambda: torchmetrics.F1Score("multiclass", num_classes=3, average="macro"),
    "area": lambda: torchmetrics.AUROC("multiclass", num_classes=3),
    "binned area": lambda: torchmetrics.AUROC("multiclass", num_classes=3, thresholds=10),
    "confusion": lambda: torchmetrics.ConfusionMatrix("multiclass", num_classes=3),
    "calibration": lambda: torchmetrics.CalibrationError("multiclass", num_classes=3),
}


@pytest.mark.parametrize("name", METRICS)
def test_torchmetrics(name: str) -> None:
    scores, targets = drawn(40, 3).softmax(1), torch.arange(40) % 3

    def results(device: str) -> list[torch.Tensor]:
        metric = METRICS[name]().to(device)
        for part in range(0, 40, 20):
            metric.update(scores[part : part + 20].to(device), targets[part : part + 20].to(device))
        return [metric.compute()]

    same(results)


@pytest.mark.parametrize("name", ["accuracy", "F1", "confusion"])
def test_torchmetrics_says_that_a_metric_met_another_device(name: str) -> None:
    with pytest.raises(RuntimeError, match="Encountered different devices in metric calculation"):
        METRICS[name]().to(GPU)(drawn(40, 3).softmax(1).to(GPU), torch.arange(40) % 3)


def test_ignite() -> None:
    x = drawn(32, 8)
    y = (x.sum(1) > 0).long()

    def results(device: str, **settings: Any) -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = nn.Linear(8, 2).to(device)
        loader = DataLoader(TensorDataset(x, y), batch_size=8)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        create_supervised_trainer(model, optimizer, F.cross_entropy, device=device, **settings).run(loader, 2)
        evaluator = create_supervised_evaluator(model, {"right": Accuracy(device=device)}, device=device)
        assert evaluator.run(loader).metrics["right"] > 0.5
        return [model.weight.detach()]

    same(results)
    for precise, mixed in zip(results("cpu"), results(GPU, amp_mode="amp", scaler=True), strict=True):
        torch.testing.assert_close(mixed.cpu(), precise, atol=0.01, rtol=0.1)


@pytest.mark.parametrize("layer", ["GCNConv", "GATv2Conv", "SAGEConv", "TransformerConv"])
def test_torch_geometric(layer: str) -> None:
    x, edges = drawn(10, 8), torch.arange(60).view(2, 30) * 7 % 10

    def results(device: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        convolution = getattr(torch_geometric.nn, layer)(8, 4).to(device)
        output = convolution(x.to(device), edges.to(device))
        output.sum().backward()
        return [output.detach(), *(parameter.grad for parameter in convolution.parameters())]

    same(results)
    with pytest.raises(RuntimeError) as refusal:
        getattr(torch_geometric.nn, layer)(8, 4).cuda()(x.cuda(), edges)
    assert str(refusal.value) == (
        "Expected all tensors to be on the same device, but got index is on cpu, different from other tensors on "
        "cuda:0 (when checking argument in method wrapper_CUDA__index_select)"
    )


def test_scattering_over_a_graph() -> None:
    x, index = drawn(10, 8), torch.arange(10) % 4

    def results(device: str) -> list[torch.Tensor]:
        values, groups = x.to(device), index.to(device)
        kinds = ("sum", "mean", "max", "min", "mul")
        scattered = [torch_geometric.utils.scatter(values, groups, dim=0, reduce=kind) for kind in kinds]
        return [*scattered, torch_geometric.utils.softmax(values, groups), torch_geometric.utils.degree(groups)]

    same(results)


SCHEDULERS = ["DDIMScheduler", "DPMSolverMultistepScheduler", "EulerDiscreteScheduler", "UniPCMultistepScheduler"]


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_diffusion_scheduler(name: str) -> None:
    def results(device: str) -> list[torch.Tensor]:
        scheduler, sample = getattr(diffusers, name)(), drawn(2, 3, 8, 8).to(device)
        scheduler.set_timesteps(4, device=device)
        for step in scheduler.timesteps:
            scaled = scheduler.scale_model_input(sample, step)
            sample = scheduler.step(scaled * 0.1, step, sample).prev_sample
        return [sample, scheduler.add_noise(sample, sample, scheduler.timesteps[:2])]

    same(results)


def network() -> diffusers.UNet2DModel:
    torch.manual_seed(0)
    return diffusers.UNet2DModel(
        sample_size=8, block_out_channels=(32, 32), layers_per_block=1, norm_num_groups=8,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip


def test_a_diffusion_network_trains_and_draws() -> None:
    x = drawn(2, 3, 8, 8)

    def results(device: str) -> list[torch.Tensor]:
        model = network().to(device)
        loss = F.mse_loss(model(x.to(device), torch.tensor([1, 5], device=device)).sample, x.to(device))
        loss.backward()
        return [loss.detach(), model.conv_in.weight.grad]

    same(results, tolerance=1e-4)
    pipeline = diffusers.DDPMPipeline(network(), diffusers.DDPMScheduler()).to(GPU)
    pipeline.set_progress_bar_config(disable=True)
    first, again = (
        pipeline(num_inference_steps=2, generator=torch.Generator(GPU).manual_seed(0), output_type="np").images
        for _ in range(2)
    )
    assert first.shape == (1, 8, 8, 3)
    assert (first == again).all()
    with pytest.raises(RuntimeError) as refusal:
        network().cuda()(x, 1)
    assert str(refusal.value) == (
        "Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors on cuda:0 "
        "(when checking argument in method wrapper_CUDA_addmm)"
    )


def test_diffusers_refuses_a_generator_of_cuda_on_the_cpu_in_words_that_explain_knows() -> None:
    with pytest.raises(ValueError, match="Cannot generate") as refusal:
        randn_tensor((2,), generator=torch.Generator("cuda"), device=torch.device("cpu"))
    assert str(refusal.value) in [text["text"] for text in load().messages["SD117"].texts]
    diagnosis = explain(refusal.value)
    assert (diagnosis.message and diagnosis.message.id, diagnosis.causes[0].id) == ("SD117", "generator_device")
