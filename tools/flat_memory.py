"""Measure whether a long training on a simulated GPU grows: steps, device errors, simulations that begin and end.

After a full collection, at a quarter of the way and at its end, it counts the objects that the collector knows, the
blocks that Python has allocated, the process's resident memory, and what torch.cuda.memory_allocated says. Caches of
Python and of libraries fill once, however many steps there are: a leak would be an object or more for each step, error
or simulation, so flat is less than one for ten steps or simulations.
"""

import gc
import sys
from typing import Any

import psutil  # type: ignore[import-untyped]
import torch
from torch.utils.data import DataLoader, TensorDataset

from samedevice import explain, simulate_cuda

STEPS = 20_000
ERRORS_EVERY = 4  # 5,000 in all
EXPLAINED_EVERY = 500  # of the steps
SIMULATIONS = 2_000
MAY_GROW_MB = 8.0  # of resident memory: what the allocator of C keeps differs from run to run


def measure(steps: int = STEPS, simulations: int = SIMULATIONS) -> dict[str, Any]:
    training = _training(steps)
    entering = _entering(simulations)
    return {"training": training, "simulations": entering, "may_grow_mb": MAY_GROW_MB}


def is_flat(figures: dict[str, Any]) -> bool:
    flat = True
    for name, count in (("training", "steps"), ("simulations", "entered")):
        may_grow = {"resident_mb": figures["may_grow_mb"], "on_gpu_bytes": 0}
        first, last = figures[name]["at_a_quarter"], figures[name]["at_the_end"]
        for what in first:
            grown = last[what] - first[what]
            if grown > may_grow.get(what, figures[name][count] * 3 / 4 / 10):
                print(f"{name}: {what} grew from {first[what]} to {last[what]}.", file=sys.stderr)
                flat = False
    return flat


def _training(steps: int) -> dict[str, Any]:
    print(f"{steps:,} steps of training", flush=True)
    torch.manual_seed(0)
    x = torch.randn(256, 8)
    batches = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=32)
    with simulate_cuda(devices=2):
        figures: dict[str, Any] = {"steps": steps, "errors": 0, "explained": 0, **_places()}
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        step = 0
        while step < steps:
            for inputs, targets in batches:
                loss = torch.nn.functional.mse_loss(model(inputs.to("cuda")), targets.to("cuda"))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                last = loss.item()
                step += 1
                if step % ERRORS_EVERY == 0:
                    figures["errors"] += 1
                    figures["explained"] += _forget_a_move(model, inputs, step % EXPLAINED_EVERY == 0)
                if step in (steps // 4, steps):
                    figures["at_a_quarter" if step < steps else "at_the_end"] = _counted()
                    figures["loss"] = round(last, 6)
                if step == steps:
                    break
    return figures


def _forget_a_move(model: Any, inputs: torch.Tensor, explained: bool) -> bool:
    try:
        model(inputs)
    except RuntimeError as error:
        if explained:
            explain(error)
        return explained
    raise AssertionError("a batch on the CPU was taken by a model on the GPU")


def _entering(simulations: int) -> dict[str, Any]:
    print(f"{simulations:,} simulations", flush=True)
    figures: dict[str, Any] = {"entered": simulations, **_places()}
    for number in range(1, simulations + 1):
        with simulate_cuda(devices=2):
            weight = torch.ones(3, device="cuda:1", requires_grad=True)
            (weight * 2).sum().backward()
        if number in (simulations // 4, simulations):
            figures["at_a_quarter" if number < simulations else "at_the_end"] = _counted()
    return figures


def _places() -> dict[str, dict[str, float]]:
    """Return the places of the counts, made before: neither they nor what the first of them loads are counted."""
    return {"at_a_quarter": _counted(), "at_the_end": _counted()}


def _counted() -> dict[str, float]:
    gc.collect()
    counted = {
        "objects": len(gc.get_objects()),
        "blocks": sys.getallocatedblocks(),
        "resident_mb": round(psutil.Process().memory_info().rss / 2**20, 1),
    }
    if torch.cuda.is_available():
        counted["on_gpu_bytes"] = torch.cuda.memory_allocated(0)
    return counted
