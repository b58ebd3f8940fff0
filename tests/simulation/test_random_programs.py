"""Random programs, the same ones each time; `make test-robustness` runs 10,000 new ones (tools/random_programs)."""

import pytest

import flat_memory
import random_programs
from random_programs import Difference, Program
from random_programs.program import Line
from samedevice import simulate_cuda
from samedevice.simulation.rules import tensor_iterator


def test_random_programs_answer_as_the_rules_and_the_cpu_say() -> None:
    with simulate_cuda(devices=2):
        figures = random_programs.run(200, seed=6)
    assert figures["run"] == 200
    assert figures["lines"] > 1000
    assert figures["refused_for_devices"] > 50


@pytest.mark.slow
def test_a_rule_that_is_broken_is_found_and_printed_as_a_short_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_iterator, "found_two_devices", lambda first, second: None)
    with simulate_cuda(devices=2), pytest.raises(Difference) as found:
        random_programs.run(150, seed=0)  # hypothesis finds the shortest form of most programs, not of all
    program, _, how = str(found.value).partition("\n\nThe last line raised ")
    assert "\nexpected RuntimeError: Expected all tensors to be on the same device, but found at least two devic" in how
    assert len(program.splitlines()) < 12  # of these, two make a tensor each, and four are the line that should fail
    exec(program, {})  # it can be pasted


@pytest.mark.parametrize(
    ("text", "on_cpu", "how"),
    [
        ("torch.ones(3, device='cuda:0')", "torch.zeros(3)", "x0.values is [1.0, 1.0, 1.0]\nexpected [0.0, 0.0, 0.0]"),
        ("torch.ones(3, device='cuda:1')", "torch.ones(3)", "x0.device is cuda:1\nexpected cuda:0"),
        ("torch.ones(2, 3, device='cuda:0').T", "torch.ones(3, 2)", "x0.stride is (1, 3)\nexpected (2, 1)"),
        ("torch.ones(3, device='cuda:0')", "torch.ones(3).fill_('a')", "The last line raised nothing"),
        ("torch.ones(3, device='cuda:7')", "torch.ones(3)", "The last line raised AcceleratorError: CUDA error: "),
    ],
)  # fmt: skip
def test_each_kind_of_difference_is_told(text: str, on_cpu: str, how: str) -> None:
    with simulate_cuda(devices=2), pytest.raises(Difference) as found:
        Program().run(Line(text, ("cuda:0",), on_cpu))
    assert how in str(found.value)


def test_what_grows_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    counted = {"objects": 10, "blocks": 10, "resident_mb": 100.0}
    flat = {"steps": 400, "entered": 400, "at_a_quarter": counted, "at_the_end": counted | {"resident_mb": 107.0}}
    grown = flat | {"at_the_end": counted | {"objects": 310}}  # one for each of the last three quarters
    assert flat_memory.is_flat({"training": flat, "simulations": flat, "may_grow_mb": 8.0})
    assert not flat_memory.is_flat({"training": flat, "simulations": grown, "may_grow_mb": 8.0})
    assert "simulations: objects grew from 10 to 310." in capsys.readouterr().err
