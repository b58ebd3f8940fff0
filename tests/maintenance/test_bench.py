"""What `make bench` measures runs, and the figures on file are of what it measures, with its limits."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

import bench
import bench_paths
from samedevice import simulate_cuda


@pytest.mark.parametrize("name", bench_paths.PATHS)
def test_a_line_runs_on_the_cpu_and_on_a_simulated_gpu(name: str) -> None:
    path = bench_paths.PATHS[name]
    path.program("cpu")()
    with simulate_cuda():
        path.program("cuda")()


def test_the_figures_on_file_are_of_what_is_measured(figures_on_file: Callable[[str], Any]) -> None:
    figures = figures_on_file("bench")
    limits = {name: (path.line, path.beside_at_most, path.at_most) for name, path in bench_paths.PATHS.items()}
    measured = figures["paths"].items()
    assert {name: (row["line"], row["beside_at_most"], row["at_most"]) for name, row in measured} == limits
    assert {name: row["at_most"] for name, row in figures["steps"].items()} == {
        name: at_most for name, (*_, at_most) in bench.STEPS.items()
    }
    assert figures["unet"]["at_most"] == bench_paths.UNET_AT_MOST


def test_a_step_of_the_unet_runs() -> None:
    torch.manual_seed(0)
    bench_paths.unet_step("cpu", torch.bfloat16)()
