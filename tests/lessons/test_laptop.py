"""`without_gpu`: a function of a notebook in a process that sees no GPU."""

import os
import subprocess
import sys
import traceback

import pytest
import torch

from lessons import laptop, without_gpu
from samedevice import simulate_cuda


@pytest.fixture(autouse=True, scope="module")
def gpu():
    with simulate_cuda(devices=1):
        torch.ones(1, device="cuda")
        yield
    if laptop._laptop is not None:
        laptop._laptop.close()
        laptop._laptop = None


SCALE = 3


def scaled(number):
    return SCALE * number


def test_it_sees_no_gpu_and_this_process_sees_its_own_still(monkeypatch):
    assert torch.cuda.is_available()
    assert without_gpu(lambda: torch.cuda.is_available()) is False
    assert str(torch.ones(1, device="cuda").device) == "cuda:0"
    assert without_gpu(lambda: os.environ["CUDA_VISIBLE_DEVICES"]) == ""
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


def test_it_takes_arguments_and_what_the_function_names(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 4)
    monkeypatch.setattr(scaled, "__module__", "__main__")  # as a function of a notebook
    assert without_gpu(lambda number: scaled(number) + len(os.sep), 5) == 21


def test_what_it_prints_is_printed_here(capsys):
    without_gpu(lambda: print("on the laptop"))
    assert capsys.readouterr().out == "on the laptop\n"


def test_what_it_raises_is_raised_here_with_what_it_printed_and_through_its_lines(capsys):
    def program():
        print("before")
        torch.ones(1, device="cuda")

    with pytest.raises(RuntimeError, match=r"^No CUDA GPUs are available$") as refusal:
        without_gpu(program)
    assert capsys.readouterr().out == "before\n"
    last = traceback.extract_tb(refusal.tb)[-1]
    assert (last.name, last.line) == ("program", 'torch.ones(1, device="cuda")')
    assert without_gpu(lambda: 1) == 1, "it answers after an error"


def test_an_error_shows_each_function_that_it_went_through(monkeypatch):
    def inner():
        raise ValueError("inside")

    monkeypatch.setattr(inner, "__module__", "__main__")
    monkeypatch.setattr(sys.modules[__name__], "scaled", inner)
    with pytest.raises(ValueError, match="inside") as refusal:
        without_gpu(lambda: scaled())
    assert [frame.name for frame in traceback.extract_tb(refusal.tb)][-2:] == ["<lambda>", "inner"]


def test_the_second_process_ends_with_the_first_however_that_ends():
    program = """
import os
from lessons import without_gpu

if __name__ == "__main__":
    print(without_gpu(lambda: os.getpid()), flush=True)
    os._exit(0)
"""
    # It holds the pipe to which it prints: that closes when both processes have ended.
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout.strip().isdigit(), ended.stderr
