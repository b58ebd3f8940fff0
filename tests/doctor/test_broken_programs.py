"""From an exception to the tensor at fault: the right one comes first, with the right cause."""

import importlib
import linecache
import os
import re
import sys
import textwrap
from concurrent.futures import Future

import numpy
import pytest
import torch
from tests.doctor.broken_programs import behind_names, models_and_batches, of_other_people, one_thing, state  # noqa: F401
from tests.doctor.broken_programs.kept import PROGRAMS, classifier, loader
from tests.doctor.broken_programs.mendable import MENDABLE
from tests.doctor.broken_programs.sources import LIBRARY, WITH_A_LIBRARY, WITHOUT_A_FILE
from torch import nn
from torch.utils.data import DataLoader

from samedevice import explain, simulate_cuda
from samedevice.catalog import load

NAMES = {
    "torch": torch,
    "nn": nn,
    "numpy": numpy,
    "DataLoader": DataLoader,
    "loader": loader,
    "classifier": classifier,
}

NOT_HERE = (
    "Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is 1. Please use torch.load with "
    "map_location to map your storages to an existing device."
)


def diagnosed(run):
    with simulate_cuda(devices=2):
        try:
            run()
        except Exception as error:
            diagnosis = explain(error)
            # Else a frame keeps the error that keeps the frame, and with them an iterator of workers: found as garbage
            # later, it waits for them for five seconds.
            error.__traceback__ = None
            return diagnosis
    pytest.fail("the program ran to its end")


@pytest.mark.parametrize("name", PROGRAMS)
def test_culprit_and_cause_come_first(name):
    if PROGRAMS[name].cause == "fork_cuda" and not hasattr(os, "fork"):
        pytest.skip("Windows has no fork")
    diagnosis = diagnosed(PROGRAMS[name].run)
    assert diagnosis.note == ""
    first = diagnosis.culprits[0]
    cause = load().causes[PROGRAMS[name].cause]
    assert (first.expression, first.case or first.cause) == (PROGRAMS[name].culprit, cause.id), diagnosis.culprits
    assert first.cause == diagnosis.causes[0].id == (cause.within or cause.id)


def test_a_file_that_another_process_loaded_has_no_culprit():
    answer = Future()
    answer.set_exception(RuntimeError(NOT_HERE))
    diagnosis = diagnosed(answer.result)
    assert (diagnosis.causes[0].id, diagnosis.culprits, diagnosis.note) == ("checkpoint_map_location", (), "")


def test_a_file_is_said_to_ask_for_its_device():
    first = diagnosed(PROGRAMS["a_checkpoint_of_a_larger_machine"].run).culprits[0]
    assert (first.sentence, first.fix) == ("`buffer` asks for cuda:7.", 'torch.load(buffer, map_location="cpu")')


def test_the_index_of_what_is_written_is_not_accused():
    culprits = diagnosed(PROGRAMS["rows_of_the_gpu_written_to_the_cpu"].run).culprits
    assert [culprit.expression for culprit in culprits] == ["predictions"]


@pytest.mark.parametrize("place", ["<string>", "<ipython-input-3-0123456789ab>"])
@pytest.mark.parametrize("cause", WITHOUT_A_FILE)
def test_code_without_a_file_and_a_notebooks_cell(cause, place):
    culprit, source = WITHOUT_A_FILE[cause]
    names = {**NAMES}
    if "ipython" in place:
        linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    diagnosis = diagnosed(lambda: exec(compile(source, place, "exec"), names))
    first = diagnosis.culprits[0]
    assert (first.expression, first.cause) == (culprit, cause), diagnosis.culprits


@pytest.mark.parametrize("name", WITH_A_LIBRARY)
def test_a_librarys_own_tensor_is_told_from_one_that_it_was_given(name, tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    folder.joinpath("library_of_a_test.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(folder)
    cause, culprit, source = WITH_A_LIBRARY[name]
    names = {**NAMES, "library": importlib.import_module("library_of_a_test")}
    monkeypatch.delitem(sys.modules, "library_of_a_test")
    diagnosis = diagnosed(lambda: exec(compile(source, "<string>", "exec"), names))
    first = diagnosis.culprits[0]
    assert (first.expression, first.cause) == (culprit, cause), diagnosis.culprits
    assert (diagnosis.owner is not None) == (cause == "library_bug"), diagnosis.owner
    assert diagnosis.owner is None or diagnosis.owner.name == "library_of_a_test"


@pytest.mark.filterwarnings("ignore:for .* copying from a non-meta parameter")
@pytest.mark.parametrize("name", MENDABLE)
def test_the_fix_is_a_line_that_mends_the_program(name):
    source, place = MENDABLE[name], f"<mendable {name}>"

    def run(text):
        linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
        try:
            exec(compile(text, place, "exec"), {**NAMES, "__name__": "a_program"})
        finally:
            torch.set_default_device(None)

    fix = diagnosed(lambda: run(source)).culprits[0].fix
    (line,) = re.findall(r"^( *)(.*)  # <-$", source, re.MULTILINE)
    indent, before = line
    # A name is moved in a line of its own, above the one that uses it.
    is_above = fix.partition(" = ")[0] + " = " not in before and fix.partition("(")[0] not in before.replace(" = ", "(")
    after = f"{fix}\n{before}" if is_above and "register_buffer" not in fix else fix
    mended = source.replace(f"{indent}{before}  # <-", textwrap.indent(after, indent))
    with simulate_cuda(devices=2):
        run(mended)


def test_an_error_that_only_quotes_a_message_in_its_code_is_none_about_devices():
    def compare(text):
        if "Expected all tensors to be on the same device, but found at least two devices" not in text:
            raise AssertionError  # not a bare `assert`: pytest writes what it compares into the message

    diagnosis = diagnosed(lambda: compare(""))
    assert (diagnosis.message, diagnosis.culprits) == (None, ())


def test_a_prompt_shows_the_diagnosis_as_text():
    diagnosis = diagnosed(PROGRAMS["a_checkpoint_of_a_larger_machine"].run)
    assert repr(diagnosis) == str(diagnosis)


def test_what_is_no_device_is_not_accused():
    def initialise(backend):
        raise RuntimeError("Distributed package doesn't have NCCL built in")

    assert diagnosed(lambda: initialise(["nccl"][0])).culprits == ()


def test_of_a_packed_sequence_only_the_lengths_are_accused():
    def program():
        x, lengths = torch.randn(2, 3, 4, device="cuda"), torch.tensor([3, 2], device="cuda")
        return nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)

    assert [culprit.expression for culprit in diagnosed(program).culprits] == ["lengths"]


def test_what_is_used_on_the_cpu_is_no_sibling(tmp_path):
    source = """
import torch

def sample(model, size):
    order = torch.randperm(size)
    rows = torch.randn(size, 8)
    noise = torch.randn(size, 8)
    out = model(noise)
    return out + rows.sum(), [rows[index] for index in order[:2]], rows[order]
"""
    place = tmp_path / "sample.py"
    place.write_text(source)
    names = {}
    exec(compile(source, str(place), "exec"), names)
    edits = diagnosed(lambda: names["sample"](classifier().cuda(), 3)).culprits[0].edits
    assert [edit.old for edit in edits] == ["noise = torch.randn(size, 8)"]
