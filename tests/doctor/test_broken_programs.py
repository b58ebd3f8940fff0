"""From an exception to the tensor at fault: the right one comes first, with the right cause."""

import linecache

import pytest
import torch
from tests.doctor import broken_programs
from tests.doctor.broken_programs import PROGRAMS, WITHOUT_A_FILE
from torch import nn

from samedevice import explain, simulate_cuda


def diagnosed(run):
    with simulate_cuda(devices=2):
        try:
            run()
        except Exception as error:
            return explain(error)
    pytest.fail("the program ran to its end")


@pytest.mark.parametrize("name", PROGRAMS)
def test_culprit_and_cause_come_first(name):
    diagnosis = diagnosed(PROGRAMS[name].run)
    assert diagnosis.note == ""
    first = diagnosis.culprits[0]
    assert (first.expression, first.cause) == (PROGRAMS[name].culprit, PROGRAMS[name].cause), diagnosis.culprits
    assert diagnosis.causes[0].id == PROGRAMS[name].cause


@pytest.mark.parametrize("place", ["<string>", "<ipython-input-3-0123456789ab>"])
@pytest.mark.parametrize("cause", WITHOUT_A_FILE)
def test_code_without_a_file_and_a_notebooks_cell(cause, place):
    culprit, source = WITHOUT_A_FILE[cause]
    names = {"torch": torch, "nn": nn, "loader": broken_programs.loader, "classifier": broken_programs.classifier}
    if "ipython" in place:
        linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    diagnosis = diagnosed(lambda: exec(compile(source, place, "exec"), names))
    first = diagnosis.culprits[0]
    assert (first.expression, first.cause) == (culprit, cause), diagnosis.culprits
