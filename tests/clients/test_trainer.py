"""transformers' Trainer, which chooses the GPU by itself: alone, on two through DataParallel, and with its switches."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny import IDS, bert, t5
from torch import nn
from torch.utils.data import Dataset
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, Trainer, TrainingArguments

one_gpu = pytest.mark.parametrize("two_gpus", [1], indirect=True, ids=["one GPU"])


class Sentences(Dataset[dict[str, torch.Tensor]]):
    """Sixteen rows of tokens, on the CPU as a Trainer wants them; the class is whether the first is large."""

    def __init__(self) -> None:
        self.ids = torch.randint(3, 100, (16, 10), generator=torch.Generator().manual_seed(0))

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"input_ids": self.ids[index], "labels": (self.ids[index, 0] > 50).long()}


def trainer(folder: Path, kind: type[Trainer] = Trainer, **switches: Any) -> Trainer:
    settings = {"per_device_train_batch_size": 4, "num_train_epochs": 2, "learning_rate": 1e-3} | switches
    return kind(
        model=bert(),
        args=TrainingArguments(
            str(folder), logging_steps=1, report_to=[], disable_tqdm=True, log_level="error", **settings
        ),
        train_dataset=Sentences(),
        eval_dataset=Sentences(),
        compute_metrics=lambda result: {"right": float(np.mean(result.predictions.argmax(-1) == result.label_ids))},
    )


def trained(folder: Path, **switches: Any) -> list[float]:
    """The loss of each step; the model has to be on the GPU at the end."""
    run = trainer(folder, **switches)
    run.train()
    assert run.model.device.type == run.args.device.type
    return [entry["loss"] for entry in run.state.log_history if "loss" in entry]


@one_gpu
def test_one_gpu_gives_the_losses_of_the_cpu(tmp_path: Path) -> None:
    run = trainer(tmp_path)
    assert (str(run.args.device), run.args.n_gpu, str(run.model.device)) == ("cuda:0", 1, "cuda:0")
    run.train()
    seen = [entry["loss"] for entry in run.state.log_history if "loss" in entry]
    assert len(seen) == 8
    assert seen == pytest.approx(trained(tmp_path, use_cpu=True), abs=1e-5)
    assert run.evaluate()["eval_right"] == run.predict(Sentences()).metrics["test_right"]


def test_two_gpus_are_used_through_data_parallel(tmp_path: Path) -> None:
    run = trainer(tmp_path, per_device_train_batch_size=2, average_tokens_across_devices=False)
    assert (run.args.n_gpu, run.args.train_batch_size) == (2, 4)
    run.train()
    assert isinstance(run.model_wrapped, nn.DataParallel)
    seen = [entry["loss"] for entry in run.state.log_history if "loss" in entry]
    assert seen == pytest.approx(trained(tmp_path, use_cpu=True), abs=1e-5)
    assert {str(parameter.device) for parameter in run.model.parameters()} == {"cuda:0"}


SWITCHES: dict[str, dict[str, Any]] = {
    "gradient checkpointing": {"gradient_checkpointing": True},
    "workers and pinned memory": {"dataloader_num_workers": 2, "dataloader_persistent_workers": True},
    "a fused optimizer": {"optim": "adamw_torch_fused"},
    "memory metrics": {"skip_memory_metrics": False},
    "checkpoints": {"save_strategy": "epoch", "eval_strategy": "epoch", "load_best_model_at_end": True},
    "TF32": {"tf32": True},
    "cache emptied": {"torch_empty_cache_steps": 1},
}


@one_gpu
@pytest.mark.parametrize("switch", SWITCHES)
def test_a_switch_changes_no_loss(switch: str, tmp_path: Path) -> None:
    seen = trained(tmp_path, num_train_epochs=1, **SWITCHES[switch])
    assert seen == pytest.approx(trained(tmp_path, num_train_epochs=1, use_cpu=True), abs=1e-5)


@one_gpu
@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_lower_precision_computes_something_near(precision: str, tmp_path: Path) -> None:
    seen = trained(tmp_path, num_train_epochs=1, **{precision: True})
    precise = trained(tmp_path, num_train_epochs=1, use_cpu=True)
    assert seen == pytest.approx(precise, abs=0.02)
    assert seen != pytest.approx(precise, abs=1e-6)


@one_gpu
def test_a_run_resumes_from_a_checkpoint(tmp_path: Path) -> None:
    whole = trainer(tmp_path, save_strategy="steps", save_steps=4)
    whole.train()
    resumed = trainer(tmp_path)
    resumed.train(resume_from_checkpoint=str(tmp_path / "checkpoint-4"))
    for left, right in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        torch.testing.assert_close(left, right)
        assert str(right.device) == "cuda:0"


@one_gpu
def test_generation_in_an_evaluation_gives_the_tokens_of_the_cpu(tmp_path: Path) -> None:
    rows = [{"input_ids": row, "labels": row} for row in IDS]

    def generated(use_cpu: bool) -> Any:
        settings = Seq2SeqTrainingArguments(
            str(tmp_path),
            num_train_epochs=1,
            report_to=[],
            disable_tqdm=True,
            predict_with_generate=True,
            use_cpu=use_cpu,
        )
        run = Seq2SeqTrainer(model=t5(), args=settings, train_dataset=rows)
        run.train()
        return run.predict(rows).predictions

    assert np.array_equal(generated(use_cpu=False), generated(use_cpu=True))


class WithClassWeights(Trainer):
    """The forgotten tensor of many scripts: class weights made in compute_loss, on the CPU."""

    def compute_loss(self, model: nn.Module, inputs: dict[str, torch.Tensor], **kwargs: Any) -> torch.Tensor:
        labels = inputs.pop("labels")
        return nn.functional.cross_entropy(model(**inputs).logits, labels, weight=torch.tensor([1.0, 2.0]))


@one_gpu
def test_class_weights_on_the_cpu_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as refusal:
        trainer(tmp_path, WithClassWeights).train()
    assert str(refusal.value) == (
        "Expected all tensors to be on the same device, but got weight is on cpu, different from other tensors on "
        "cuda:0 (when checking argument in method wrapper_CUDA_nll_loss_forward)"
    )


def counted_loss(outputs: Any, labels: torch.Tensor, num_items_in_batch: torch.Tensor) -> torch.Tensor:
    """A loss as `compute_loss_func` wants it: a sum, over the number of labels in all batches of the step."""
    weight = torch.tensor([1.0, 2.0], device=outputs.logits.device)
    return nn.functional.cross_entropy(outputs.logits, labels, weight, reduction="sum") / num_items_in_batch


class WithMeanOfABatch(Trainer):
    """The loss that many scripts return: right for one batch a step, and too large by their number for several."""

    def compute_loss(self, model: nn.Module, inputs: dict[str, torch.Tensor], **kwargs: Any) -> torch.Tensor:
        labels = inputs.pop("labels")
        return nn.functional.cross_entropy(model(**inputs).logits, labels)


@one_gpu
def test_a_loss_of_ones_own_is_the_same_for_one_batch_and_for_several(tmp_path: Path) -> None:
    def loss(kind: type[Trainer], batch: int, steps: int, own: Any) -> float:
        run = trainer(tmp_path, kind, max_steps=1, per_device_train_batch_size=batch, gradient_accumulation_steps=steps)
        run.compute_loss_func = own
        return float(run.train().training_loss)

    assert loss(Trainer, 1, 4, counted_loss) == pytest.approx(loss(Trainer, 4, 1, counted_loss), abs=1e-4)
    assert loss(WithMeanOfABatch, 1, 4, None) == pytest.approx(4 * loss(WithMeanOfABatch, 4, 1, None), abs=1e-2)
