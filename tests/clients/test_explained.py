"""`samedevice run` and `install()` under other people's handlers of errors: the tensor is named as without them."""

import subprocess
import sys
from pathlib import Path

import pytest

NET = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(3)

    def forward(self, x):
        return x * self.scale
"""
LIGHTNING = f"""
import lightning
{NET}

class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(3, 3), Scale())

    def training_step(self, batch, index):
        return self.network(batch[0]).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


trainer = lightning.Trainer(accelerator="gpu", max_epochs=1, logger=False, enable_checkpointing=False)
trainer.fit(Classifier(), DataLoader(TensorDataset(torch.ones(8, 3)), batch_size=2))
"""
TRAINER = f"""
from transformers import Trainer, TrainingArguments
{NET}

class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(3, 3), Scale())

    def forward(self, x=None, labels=None):
        return {{"loss": self.network(x).sum()}}


arguments = TrainingArguments("results", max_steps=1, report_to=[], save_strategy="no")
Trainer(Network(), arguments, train_dataset=[{{"x": torch.ones(3), "labels": 1.0}}] * 8).train()
"""


@pytest.mark.parametrize("program", [LIGHTNING, TRAINER], ids=["lightning", "trainer"])
@pytest.mark.parametrize("installed", [False, True], ids=["run", "install"])
def test_an_error_in_training_names_its_tensor(tmp_path: Path, program: str, installed: bool) -> None:
    begins = "import samedevice\nsamedevice.install()\nsamedevice.simulate_cuda().start()\n" if installed else ""
    (tmp_path / "train.py").write_text(begins + program)
    command = [sys.executable, *([] if installed else ["-m", "samedevice", "run"]), "train.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.count("`self.scale` (shape (3,)) is on cpu. It is a plain attribute of Scale.") == 1
    assert '+ self.register_buffer("scale", torch.ones(3), persistent=False)' in run.stderr
