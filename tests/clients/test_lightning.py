"""Lightning: Trainer(accelerator="gpu") and its callbacks, and Fabric."""

import logging
from pathlib import Path
from typing import Any

import lightning
import pytest
import torch
from lightning.pytorch import callbacks, loggers
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics import Accuracy

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

X = torch.randn(64, 4, generator=torch.Generator().manual_seed(0))
Y = (X.sum(1) > 0).long()


class Classifier(lightning.LightningModule):
    """A small network with a metric; `left` names the half of a batch that it leaves on the CPU."""

    def __init__(self, left: str = "") -> None:
        super().__init__()
        torch.manual_seed(0)
        self.left = left
        self.network = nn.Sequential(nn.Linear(4, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
        self.accuracy = Accuracy("multiclass", num_classes=2)
        self.losses: list[float] = []

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        x, y = batch
        assert x.device == y.device == self.device == self.network[0].weight.device
        output = self.network(x.cpu() if self.left == "x" else x)
        loss = F.cross_entropy(output, y.cpu() if self.left == "y" else y)
        self.accuracy(output, y)
        self.log_dict({"loss": loss, "accuracy": self.accuracy}, on_epoch=True)
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch: list[torch.Tensor], _: int) -> None:
        self.log("validation", F.cross_entropy(self.network(batch[0]), batch[1]))

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.AdamW(self.parameters(), 1e-2)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


def loader(**settings: Any) -> DataLoader[Any]:
    return DataLoader(TensorDataset(X, Y), batch_size=16, **settings)


def trainer(**settings: Any) -> lightning.Trainer:
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    usual = {"accelerator": "gpu", "devices": 1, "max_epochs": 2, "enable_model_summary": False}
    return lightning.Trainer(**(quiet | usual | settings))


def fitted(batches: DataLoader[Any] | None = None, **settings: Any) -> list[float]:
    model = Classifier()
    trainer(**settings).fit(model, batches or loader(), loader())
    return model.losses


def test_a_gpu_gives_the_losses_of_the_cpu() -> None:
    on_cpu = fitted(accelerator="cpu")
    assert on_cpu[-1] < on_cpu[0]
    assert fitted() == pytest.approx(on_cpu, abs=1e-6)
    assert fitted(accelerator="auto", devices=[1]) == pytest.approx(on_cpu, abs=1e-6)
    assert fitted(gradient_clip_val=100.0, detect_anomaly=True, deterministic=True) == pytest.approx(on_cpu, abs=1e-6)


def test_the_gpu_is_found_and_a_missing_one_is_named() -> None:
    run = trainer()
    assert (type(run.accelerator).__name__, str(run.strategy.root_device)) == ("CUDAAccelerator", "cuda:0")
    with pytest.raises(lightning.fabric.utilities.exceptions.MisconfigurationException) as refusal:
        trainer(devices=3)
    assert str(refusal.value) == "You requested gpu: [0, 1, 2]\n But your machine only has: [0, 1]"


def test_workers_pin_their_batches() -> None:
    batches = loader(num_workers=2, pin_memory=True, persistent_workers=True)
    assert fitted(batches) == pytest.approx(fitted(accelerator="cpu"), abs=1e-6)


@pytest.mark.parametrize("precision", ["16-mixed", "bf16-mixed", "bf16-true", "64-true"])
def test_other_precisions_compute_something_near(precision: str) -> None:
    seen, usual = fitted(precision=precision), fitted(accelerator="cpu")
    assert seen == pytest.approx(usual, abs=0.05)
    assert seen != usual


def test_callbacks_watch_and_store_the_run(tmp_path: Path) -> None:
    logger = loggers.CSVLogger(tmp_path)
    watching = [
        callbacks.DeviceStatsMonitor(), callbacks.LearningRateMonitor(), callbacks.EarlyStopping("validation"),
        callbacks.StochasticWeightAveraging(1e-3), callbacks.GradientAccumulationScheduler({0: 2}), callbacks.Timer(),
        callbacks.ModelCheckpoint(tmp_path, "best", monitor="validation"),
    ]  # fmt: skip
    run = trainer(logger=logger, log_every_n_steps=1, enable_checkpointing=True, callbacks=watching)
    run.fit(Classifier(), loader(), loader())
    assert "allocated_bytes.all.current" in (Path(logger.log_dir) / "metrics.csv").read_text("utf-8")
    stored = torch.load(tmp_path / "best.ckpt", weights_only=True)["state_dict"]
    assert {str(tensor.device) for tensor in stored.values()} == {"cuda:0"}
    loaded = Classifier.load_from_checkpoint(tmp_path / "best.ckpt", map_location="cuda:1")
    assert str(loaded.device) == "cuda:1"


def test_a_checkpoint_continues_on_another_device(tmp_path: Path) -> None:
    run = trainer(max_epochs=1)
    run.fit(Classifier(), loader())
    run.save_checkpoint(tmp_path / "one.ckpt")
    for where in ({}, {"devices": [1]}, {"accelerator": "cpu"}):
        model = Classifier()
        trainer(**where).fit(model, loader(), ckpt_path=tmp_path / "one.ckpt")
        assert model.losses == pytest.approx(fitted(accelerator="cpu")[4:], abs=1e-5)


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (
            "x",
            "mat2 is on cuda:0, different from other tensors on cpu (when checking argument in method wrapper_CUDA_mm)",
        ),
        (
            "y",
            "target is on cpu, different from other tensors on cuda:0 "
            "(when checking argument in method wrapper_CUDA_nll_loss_forward)",
        ),
    ],
)
def test_half_a_batch_on_the_cpu_is_refused(left: str, text: str) -> None:
    with pytest.raises(RuntimeError) as refusal:
        trainer().fit(Classifier(left), loader())
    assert str(refusal.value) == f"Expected all tensors to be on the same device, but got {text}"


def test_fabric_sets_up_what_it_is_given() -> None:
    fabric = lightning.Fabric(accelerator="cuda", devices=1, precision="bf16-mixed")
    fabric.launch()
    model = nn.Linear(4, 2)
    model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), 0.1))
    for x, y in fabric.setup_dataloaders(loader()):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        fabric.backward(loss)
        fabric.clip_gradients(model, optimizer, max_norm=1.0)
        optimizer.step()
    assert {str(tensor.device) for tensor in (x, loss, model.weight, model.weight.grad)} == {"cuda:0"}
    with fabric.init_module():
        assert nn.Linear(2, 2).weight.is_cuda
