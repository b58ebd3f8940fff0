"""The edits of every broken program, applied by a machine: the program then runs."""

import ast
import importlib.util
import inspect
import linecache
import os
import sys
from pathlib import Path

import pytest
import torch
from tests.doctor.broken_programs import behind_names, models_and_batches, of_other_people, one_thing, state  # noqa: F401
from tests.doctor.broken_programs.kept import PROGRAMS, Broken

from real_programs import applied
from samedevice import explain, simulate_cuda
from samedevice.doctor.edits import Change, Source

# What no line of the program can fix, or only on another machine.
ADVICE = {
    "a_layer_of_a_helper": "the layer belongs into a module, which the helper does not know",
    "replicas_of_two_lengths": "how to pad is for the program to say",
    "more_processes_than_gpus": "the command has to start fewer",
    "a_layer_that_forward_does_not_use": "DistributedDataParallel wraps it in a line that the frames do not show",
}
ELSEWHERE = {"the_rank_among_all_machines": "torchrun has to set LOCAL_RANK"}


def outcome(program):
    """The error of a program in a fresh simulation, with its diagnosis; None if it runs."""
    with simulate_cuda(devices=2):
        try:
            program()
        except Exception as error:
            return error, explain(error)
        finally:
            torch.set_default_device(None)
    return None


def edited(broken: Broken, diagnosis, folder: Path, monkeypatch):
    """The program with its edits, imported from a copy of its file; classes there can be pickled."""
    file = Path(inspect.getsourcefile(broken.run))
    edits = [edit for edit in diagnosis.culprits[0].edits if Path(edit.file) == file]
    copy = folder / f"{broken.run.__name__}.py"
    copy.write_text(applied(file.read_text(encoding="utf-8"), edits), encoding="utf-8")
    linecache.checkcache()
    spec = importlib.util.spec_from_file_location(copy.stem, copy)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, copy.stem, module)
    before = dict(PROGRAMS)
    try:
        spec.loader.exec_module(module)
    finally:
        PROGRAMS.clear()
        PROGRAMS.update(before)
    return getattr(module, broken.run.__name__)


def test_a_line_that_already_stands_is_no_change():
    source = Source("train.py", "main", ["def main():\n", "    x = x.to(device)\n", "    y = model(x)\n"])
    _, ran = ast.parse("".join(source.lines)).body[0].body
    assert Change("", source.above(ran, "x = x.to(device)")).stands_already
    assert Change("", source.replaced(ran, "y = model(x)")).stands_already
    assert not Change("", source.above(ran, "model.to(device)")).stands_already
    assert not Change("", source.replaced(ran, "y = model(x.cpu())")).stands_already
    assert not Change("only words").stands_already


@pytest.mark.slow
@pytest.mark.parametrize("name", ADVICE)
def test_advice_has_no_edits(name):
    _, diagnosis = outcome(PROGRAMS[name].run)
    assert diagnosis.culprits[0].fix
    assert diagnosis.culprits[0].edits == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - ADVICE.keys() - ELSEWHERE.keys()))
def test_the_edits_end_the_error(name, tmp_path, monkeypatch):
    broken = PROGRAMS[name]
    if broken.cause == "fork_cuda" and not hasattr(os, "fork"):
        pytest.skip("Windows has no fork")
    _, diagnosis = outcome(broken.run)
    assert diagnosis.culprits[0].edits, f"no edits: {diagnosis.culprits[0].fix}"
    assert all(edit.text != edit.old for edit in diagnosis.culprits[0].edits)
    fixed = edited(broken, diagnosis, tmp_path, monkeypatch)
    again = outcome(fixed)
    assert again is None, f"{diagnosis.culprits[0].edits}\n{again[0]}"
