"""What machines read: JSON in the form of the published schema, and annotations of GitHub Actions."""

import json
from pathlib import Path

import jsonschema
import pytest

from samedevice import explain
from samedevice.catalog import load
from samedevice.doctor import fix_json
from samedevice.doctor.annotations import as_annotations
from samedevice.doctor.diagnosis_json import SCHEMA, as_data
from samedevice.doctor.edits import Edit
from samedevice.doctor.fix_outcomes import Failure, Fix, Run
from samedevice.doctor.fixing import State
from samedevice.doors.cli import main

RUN = ("-m", "samedevice", "run")
FORM = json.loads((Path(__file__).parents[2] / "docs/assets/diagnosis.schema.json").read_text("utf-8"))
TEXT = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
BROKEN = """\
import torch

total = torch.zeros(3)
total += torch.ones(3, device="cuda")
"""


def strict(form):
    """The form without room for keys that it does not name."""
    if isinstance(form, dict):
        closed = {"additionalProperties": False} if "properties" in form and "additionalProperties" not in form else {}
        return {key: strict(value) for key, value in form.items()} | closed
    return [strict(value) for value in form] if isinstance(form, list) else form


def test_what_fix_reached_has_the_published_form():
    published = json.loads((Path(__file__).parents[2] / "docs/assets/fix.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(published)
    diagnosis = json.loads(json.dumps(as_data(explain(TEXT))))
    edit = Edit("train.py", 3, "replace", "x = y", "step", "x = z")
    fix = Fix({"expression": "x", "device": "cpu", "cause": "input_not_moved"}, "SD002", (edit,), (), frozenset())
    failure = Failure("test_a", "RuntimeError", "Expected", (("train.py", 3),), diagnosis)
    states = [
        State({}, run=Run((), 0, 1.0), runs=1),
        State({}, (fix,), Run((failure,), 1, 1.0), 3, ((fix, "it did not help"),)),
    ]
    for state in states:
        data = json.loads(json.dumps(fix_json.as_data(state, "", written=False, unlike="")))
        assert data["schema"] == published["properties"]["schema"]["const"] == fix_json.SCHEMA
        jsonschema.Draft202012Validator(published).validate(data)
        assert set(data) == set(published["properties"])


@pytest.fixture(scope="module")
def form():
    jsonschema.Draft202012Validator.check_schema(FORM)
    return jsonschema.Draft202012Validator(strict(FORM))


def test_every_message_of_the_catalog_gives_data_of_the_published_form(form):
    assert FORM["properties"]["schema"]["const"] == SCHEMA
    for message in load().messages.values():
        for example in message.examples:
            data = json.loads(json.dumps(as_data(explain(example["text"]))))
            form.validate(data)
            assert data["message"]["id"] == message.id


@pytest.mark.parametrize("text", ["", "all is well", "ValueError: too many values to unpack (expected 2)"])
def test_what_is_no_device_error_has_the_same_form(form, text):
    form.validate(as_data(explain(text)))


def test_a_script_leaves_the_culprits_in_a_file(forked, tmp_path, form):
    (tmp_path / "train.py").write_text(f"import os\nos.chdir('..')\n{BROKEN}")
    run = forked(*RUN, "--json", "found.json", "train.py")
    assert run.returncode == 1
    assert "::error" not in run.stdout
    data = json.loads((tmp_path / "found.json").read_text("utf-8"))
    form.validate(data)
    (culprit,) = data["culprits"]
    assert (culprit["expression"], culprit["device"], culprit["shape"]) == ("total", "cpu", [3])
    assert (Path(culprit["file"]).name, culprit["line"]) == ("train.py", 5)
    assert culprit["edits"][0]["old"] == "total = torch.zeros(3)"


@pytest.mark.parametrize("script", ["import torch\n", "import torch, sys\nsys.exit(3)\n", "import torch\n1 / 0\n"])
def test_a_script_without_a_device_error_says_so_in_the_file(forked, tmp_path, form, script):
    (tmp_path / "train.py").write_text(script)
    (tmp_path / "found.json").write_text("of an earlier run")
    forked(*RUN, "--json=found.json", "train.py")
    data = json.loads((tmp_path / "found.json").read_text("utf-8"))
    form.validate(data)
    assert (data["message"], data["culprits"]) == (None, [])


def test_a_file_that_cannot_be_written_is_named_and_the_exit_code_stays(forked, tmp_path):
    (tmp_path / "train.py").write_text("import torch, sys\nsys.exit(3)\n")
    run = forked(*RUN, "--json", "missing/found.json", "train.py")
    assert run.returncode == 3
    assert "found.json' cannot be written: No such file" in run.stderr


def test_a_script_annotates_the_line_to_change(forked, tmp_path):
    (tmp_path / "train.py").write_text(BROKEN)
    run = forked(*RUN, "--output-format", "github", "train.py")
    (line,) = run.stdout.splitlines()
    assert line.startswith("::error file=train.py,line=3,title=SD002%3A Expected all tensors")
    assert "%0A- total = torch.zeros(3)%0A+ total = torch.zeros(3, device=" in line


def test_a_log_is_annotated_where_it_failed(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    frame = f'Traceback (most recent call last):\n  File "{tmp_path}/a,b.py", line 12, in step\n    y = f(a + b)\n'
    Path("job.log").write_text(f"{frame}{TEXT}")
    assert main(["explain", "--output-format", "github", "job.log"]) == 0
    assert capsys.readouterr().out.startswith("::error file=a%2Cb.py,line=12,title=SD002%3A ")
    Path("job.log").write_text("all is well")
    assert main(["explain", "--output-format", "github", "job.log"]) == 1
    assert capsys.readouterr().out == ""


def test_nothing_of_a_paste_ends_a_command_or_begins_another():
    frame = '  File "a.py", line 12, in step\n    y = layer(batch["50%\\n"])  # \r::warning::\n'
    message = "got mat1 is on cpu, different from other tensors on cuda:0 (when checking argument in method addmm)"
    text = f"Traceback (most recent call last):\n{frame}Expected all tensors to be on the same device, but {message}"
    command = as_annotations(explain(text))
    assert command.count("\n") == 1
    assert "\r" not in command
    assert 'batch["50%25' in command
