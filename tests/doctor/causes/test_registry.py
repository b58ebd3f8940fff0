"""The causes that the doctor finds in live frames: each is one file's own, with a line for its place."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import samedevice
from samedevice.catalog import load
from samedevice.doctor.causes import registry
from samedevice.doctor.causes.order import CLAIMS, DETECTIONS
from samedevice.doctor.causes.registry import Cause, cause, known, registered

PYTHON = '''
"""A positional encoding that was created for the CPU."""

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.edits import Change

positional_encoding = cause("positional_encoding_on_cpu")


@positional_encoding.detect
def is_called_so(evidence: Evidence) -> bool:
    """Tell whether the program calls it so."""
    return "positional" in evidence.expression.text


@positional_encoding.fix
def moved_with_its_input(evidence: Evidence) -> Change:
    """Move it to the other operand of the failing line."""
    return Change(f"{evidence.expression.text}.to({evidence.other_operands[0].argument.expression.text}.device)")
'''
TOML = """
[[cause]]
id = "positional_encoding_on_cpu"
title = "The positional encoding stayed on the CPU"
why = "It was created before the model was moved."
setup = ""
before = "x + positional"
after = "x + positional.to(x.device)"
raises = "SD002"
confirm = "Print `positional.device`."
sign = "`positional.device` is not the same as the other."
lesson = "02-unmoved-batches"
"""
PROGRAM = """
import torch
import samedevice

def forward(x, positional):
    return x + positional

with samedevice.simulate_cuda():
    try:
        forward(torch.ones(3, device="cuda"), torch.ones(3))
    except RuntimeError as error:
        culprit = samedevice.explain(error).culprits[0]
print(culprit.cause, culprit.fix, sep="; ")
"""


@pytest.mark.slow
def test_a_cause_takes_one_file_one_line_of_the_order_and_one_entry_of_the_catalog(tmp_path):
    package = tmp_path / "samedevice"
    shutil.copytree(Path(samedevice.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "doctor/causes/positional_encodings.py").write_text(PYTHON)
    order = package / "doctor/causes/order.py"
    below = '    "hardcoded_cuda: program_runs_on_the_cpu",\n'
    order.write_text(order.read_text().replace(below, '    "positional_encoding_on_cpu: is_called_so",\n' + below))
    with (package / "catalog/causes.toml").open("a") as catalog:
        catalog.write(TOML)
    (tmp_path / "program.py").write_text(PROGRAM)
    run = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import program"],
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == "positional_encoding_on_cpu; positional.to(x.device)", run.stderr


def test_each_cause_that_is_registered_is_in_the_catalog():
    assert registered().keys() <= load().causes.keys()


def test_the_order_names_nothing_twice():
    names = [*DETECTIONS, *CLAIMS]
    assert len(names) == len({*names})


@pytest.mark.parametrize("kind", ["detect", "claim"])
def test_what_the_order_lacks_is_refused_with_what_to_write(kind):
    def is_called_so(evidence):
        return False

    with pytest.raises(ValueError, match='lacks "moon_device: is_called_so": write it above all that it is asked bef'):
        getattr(Cause("moon_device"), kind)(is_called_so)


@pytest.mark.parametrize("names", ["DETECTIONS", "CLAIMS"])
def test_a_line_of_the_order_that_no_file_registers_is_refused_with_what_to_do(names, monkeypatch):
    monkeypatch.setattr(registry, names, (*getattr(registry, names), "grad_device: is_on_the_moon"))
    with pytest.raises(ValueError, match=r'registers "grad_device: is_on_the_moon" .*: write that function, or remove'):
        registered.__wrapped__()


def test_a_cause_is_registered_once():
    with pytest.raises(ValueError, match="'input_not_moved' is registered twice"):
        cause("input_not_moved")


def test_a_cause_that_only_its_message_tells_is_known_by_its_id():
    assert known("traced_constant_device") not in registered().values()
