"""Measure what a simulated GPU costs, beside plain CPU tensors; print tables and write them to results/bench.json.

What is measured are a training step of a 2-layer MLP with SGD, single lines of programs, and a step of a small UNet
under autocast (bench_paths.py), on one thread. The contestants take turns in every run, so that what else the machine
does falls on all alike; each figure is the median over the runs of a contestant's processor time divided by plain CPU's
in the same run. "cpu again" is plain CPU a second time: how far it is from 1 says how far the other figures can be
trusted. FakeTensorMode, PyTorch's own tensors without values, stands beside the smallest step. Nothing here passes or
fails: on a busy machine the figures are worse than on a quiet one.
"""

import contextlib
import os
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import results
from bench_paths import PATHS, UNET_AT_MOST, Path, unet_step
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
    paths = {name: measure_path(path) for name, path in PATHS.items()}
    unet = measure_unet()
    entering = entering_and_leaving()
    figures = {
        "threads": torch.get_num_threads(),
        "runs": RUNS,
        "steps": steps,
        "paths": paths,
        "unet": unet,
        "entering_ms": {"median": entering, "at_most": ENTERING_MS},
    }
    print(f"torch {torch.__version__}, one thread of {os.cpu_count()} CPUs; medians of {RUNS} runs, plain CPU = 1\n")
    print(f"{'step':>40} {'plain CPU':>12} {'cpu again':>10} {'simulated':>10} {'at most':>8} {'FakeTensor':>11}")
    for step in steps.values():
        fake = f"{step['fake']:.1f}" if "fake" in step else "-"
        print(
            f"{step['step']:>40} {step['cpu_ms']:>9.3f} ms {step['cpu_again']:>10.2f} {step['simulated']:>10.2f}"
            f" {step['at_most']:>8.2f} {fake:>11}"
        )
    print(f"\n{'line':>40} {'plain CPU':>12} {'cpu again':>10} {'simulated':>10} {'at most':>8} {'CPU beside':>11}")
    for path in paths.values():
        print(
            f"{path['line']:>40} {path['cpu_us']:>9.2f} us {path['cpu_again']:>10.2f} {path['simulated']:>10.2f}"
            f" {path['at_most']:>8.2f} {path['beside']:>6.2f} ({path['beside_at_most']:.1f})"
        )
    print(
        f"\na step of a UNet under autocast: {unet['cpu_ms']:.0f} ms in bfloat16 on the CPU; simulated, "
        f"{unet['bfloat16']:.2f} of that in bfloat16, {unet['float16']:.2f} in float16 (at most {unet['at_most']:.1f})"
    )
    print(f"entering and leaving: {entering:.1f} ms (at most {ENTERING_MS:.0f})")
    results.write("bench", figures)


class Contestant(NamedTuple):
    """What takes its turn in every run, in the context in which it is run."""

    context: Context
    run: Callable[[], object]


def compare(contestants: dict[str, Contestant], repeats: int, runs: int = RUNS) -> tuple[float, dict[str, float]]:
    """Return the seconds of "cpu", and what the others cost as multiples of it."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for run in range(runs + 1):
        for name, contestant in contestants.items():
            with contestant.context():
                contestant.run()  # the first in a context may fill caches
                start = time.process_time()
                for _ in range(repeats):
                    contestant.run()
                taken = (time.process_time() - start) / repeats
            if run:  # the first warms the machine up
                times[name].append(taken)
    ratios = {
        name: round(statistics.median(own / cpu for own, cpu in zip(taken, times["cpu"], strict=True)), 3)
        for name, taken in times.items()
        if name != "cpu"
    }
    return statistics.median(times["cpu"]), ratios


def measure(sizes: tuple[int, int, int], batch: int, repeats: int, at_most: float, with_fake: bool) -> dict[str, Any]:
    """Return the figures of one step."""
    contexts: dict[str, tuple[Context, str]] = {
        "cpu": (contextlib.nullcontext, "cpu"),
        "cpu_again": (contextlib.nullcontext, "cpu"),
        "simulated": (simulate_cuda, "cuda"),
    }
    if with_fake:
        mode = FakeTensorMode()
        contexts["fake"] = (lambda: mode, "cpu")
    contestants = {
        name: Contestant(context, training_step(sizes, batch, context, device))
        for name, (context, device) in contexts.items()
    }
    seconds, ratios = compare(contestants, repeats)
    step = f"{'-'.join(map(str, sizes))}, batch {batch}"
    return {"step": step, "cpu_ms": round(seconds * 1000, 4), **ratios, "at_most": at_most}


def measure_path(path: Path) -> dict[str, Any]:
    """Return the figures of one line: on the CPU, there while a simulation runs, and on a simulated GPU."""
    plain = path.program("cpu")
    with simulate_cuda():
        beside, simulated = path.program("cpu"), path.program("cuda")
    contestants = {
        "cpu": Contestant(contextlib.nullcontext, plain),
        "cpu_again": Contestant(contextlib.nullcontext, plain),
        "beside": Contestant(simulate_cuda, beside),
        "simulated": Contestant(simulate_cuda, simulated),
    }
    seconds, ratios = compare(contestants, path.repeats)
    microseconds = round(seconds / path.lines * 1_000_000, 3)
    limits = {"beside_at_most": path.beside_at_most, "at_most": path.at_most}
    return {"line": path.line, "cpu_us": microseconds, **ratios, **limits}


def measure_unet() -> dict[str, Any]:
    """Return the figures of a step of the UNet under autocast, as multiples of the CPU's own under bfloat16."""
    plain = unet_step("cpu", torch.bfloat16)
    with simulate_cuda():
        simulated = {"bfloat16": unet_step("cuda", torch.bfloat16), "float16": unet_step("cuda", torch.float16)}
    contestants = {name: Contestant(simulate_cuda, step) for name, step in simulated.items()}
    contestants |= {name: Contestant(contextlib.nullcontext, plain) for name in ("cpu", "cpu_again")}
    seconds, ratios = compare(contestants, 1)
    return {"cpu_ms": round(seconds * 1000, 2), **ratios, "at_most": UNET_AT_MOST}


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
