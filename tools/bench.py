"""Measure what a simulated GPU costs, beside plain CPU tensors; print a table and write it to results/bench.json.

What is measured is a training step of a 2-layer MLP with SGD, on one thread. The contestants take turns in every run,
so that what else the machine does falls on all alike; each figure is the median over the runs of a contestant's
processor time divided by plain CPU's in the same run. "cpu again" is plain CPU a second time: how far it is from 1 says
how far the other figures can be trusted. FakeTensorMode, PyTorch's own tensors without values, stands beside the
smallest step. Nothing here passes or fails: on a busy machine the figures are worse than on a quiet one.
"""

import contextlib
import os
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import results
from samedevice.simulation import simulate_cuda

RUNS = 15

# Sizes of input, hidden and output layer; batch; steps in a run; what a simulated GPU may cost at most.
STEPS = {
    "small": ((64, 128, 10), 32, 200, 3.0),
    "medium": ((512, 1024, 10), 256, 8, 1.15),
    "large": ((1024, 2048, 10), 1024, 1, 1.1),
}
ENTERING_MS = 5.0

Context = Callable[[], AbstractContextManager[Any]]


def main() -> None:
    torch.set_num_threads(1)
    steps = {name: measure(*step, with_fake=name == "small") for name, step in STEPS.items()}
    entering = entering_and_leaving()
    figures = {
        "threads": torch.get_num_threads(),
        "runs": RUNS,
        "steps": steps,
        "entering_ms": {"median": entering, "at_most": ENTERING_MS},
    }
    print(f"torch {torch.__version__}, one thread of {os.cpu_count()} CPUs; medians of {RUNS} runs, plain CPU = 1\n")
    print(f"{'step':>24} {'plain CPU':>12} {'cpu again':>10} {'simulated':>10} {'at most':>8} {'FakeTensor':>11}")
    for step in steps.values():
        fake = f"{step['fake']:.1f}" if "fake" in step else "-"
        print(
            f"{step['step']:>24} {step['cpu_ms']:>9.3f} ms {step['cpu_again']:>10.2f} {step['simulated']:>10.2f}"
            f" {step['at_most']:>8.2f} {fake:>11}"
        )
    print(f"\nentering and leaving: {entering:.1f} ms (at most {ENTERING_MS:.0f})")
    results.write("bench", figures)


def measure(sizes: tuple[int, int, int], batch: int, repeats: int, at_most: float, with_fake: bool) -> dict[str, Any]:
    """Return the figures of one step."""
    plain: Context = contextlib.nullcontext
    contestants: dict[str, tuple[Context, str]] = {
        "cpu": (plain, "cpu"),
        "cpu_again": (plain, "cpu"),
        "simulated": (simulate_cuda, "cuda"),
    }
    if with_fake:
        mode = FakeTensorMode()
        contestants["fake"] = (lambda: mode, "cpu")
    times: dict[str, list[float]] = {name: [] for name in contestants}
    steps = {name: training_step(sizes, batch, *where) for name, where in contestants.items()}
    for run in range(RUNS + 1):
        for name, (context, _) in contestants.items():
            with context():
                steps[name]()  # the first step in a context may fill caches
                start = time.process_time()
                for _ in range(repeats):
                    steps[name]()
                taken = (time.process_time() - start) / repeats
            if run:  # the first warms the machine up
                times[name].append(taken)
    ratios = {
        name: statistics.median(own / cpu for own, cpu in zip(times[name], times["cpu"], strict=True))
        for name in contestants
    }
    return {
        "step": f"{'-'.join(map(str, sizes))}, batch {batch}",
        "cpu_ms": round(statistics.median(times["cpu"]) * 1000, 4),
        **{name: round(ratio, 3) for name, ratio in ratios.items() if name != "cpu"},
        "at_most": at_most,
    }


def training_step(sizes: tuple[int, int, int], batch: int, context: Context, device: str) -> Callable[[], None]:
    """Return a function that makes one step of training: forward, backward, SGD."""
    with context(), torch.device(device):
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Linear(sizes[0], sizes[1]), torch.nn.ReLU(), torch.nn.Linear(sizes[1], sizes[2])
        )
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        inputs = torch.randn(batch, sizes[0])
        target = torch.randint(0, sizes[2], (batch,))

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), target).backward()
        optimizer.step()

    return step


def entering_and_leaving() -> float:
    """Return the milliseconds that it takes to enter the simulation and leave it again."""
    taken = []
    for _ in range(10 * RUNS):
        start = time.process_time()
        with simulate_cuda(devices=2):
            pass
        taken.append((time.process_time() - start) * 1000)
    return round(statistics.median(taken), 2)


if __name__ == "__main__":
    main()
