"""`make test-gpu` and `make verify`: what their results say of each lesson, and one sentence where there is no GPU."""

import json
import subprocess

import pytest
import torch

import results
import verify
from lessons.measured import KEEP, RECORD

REPORT = """<testsuites><testsuite>
<testcase classname="notebooks.01-one.ipynb" name="Cell 0"/>
<testcase classname="notebooks.01-one.ipynb" name="Cell 1"/>
<testcase classname="notebooks.02-broken.ipynb" name="Cell 0"/>
<testcase classname="notebooks.02-broken.ipynb" name="Cell 1"><failure message="outputs differ"/></testcase>
<testcase classname="notebooks.09-hung.ipynb" name="Cell 0"><failure message="timeout"/></testcase>
<testcase classname="notebooks.09-hung.ipynb" name="Cell 1"><skipped type="pytest.xfail"/></testcase>
<testcase classname="notebooks.10-two.ipynb" name="Cell 0">
<skipped message="needs 2 GPUs, this machine has 1"/></testcase>
</testsuite></testsuites>"""


def test_each_lesson_is_real_and_passed_real_and_failed_or_skipped_with_the_reason():
    assert verify.standings(REPORT, "real") == {
        "01-one": {"standing": "real", "passed": True, "cells": 2, "failed": []},
        "02-broken": {"standing": "real", "passed": False, "cells": 2, "failed": ["Cell 1"]},
        # A cell that was not run after a hanging one has not passed.
        "09-hung": {"standing": "real", "passed": False, "cells": 2, "failed": ["Cell 0", "Cell 1"]},
        "10-two": {"standing": "skipped", "why": "needs 2 GPUs, this machine has 1"},
    }


@pytest.mark.parametrize(("kind", "kept"), [("real", str(RECORD)), ("simulated", None)])
def test_what_lessons_measure_is_kept_from_real_gpus_only(kind, kept, monkeypatch, tmp_path):
    def run(command, cwd, env):
        assert env["SAMEDEVICE_GPUS"] == kind
        assert env.get(KEEP) == kept
        command[-1].write_text(REPORT)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.delenv(KEEP, raising=False)
    monkeypatch.setattr(verify.subprocess, "run", run)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    (tmp_path / "notebooks").mkdir()
    notebook = {"cells": [{"cell_type": "code", "source": ["x = 1\n", "x"]}]}
    for lesson in ("01-one", "02-broken", "09-hung", "10-two"):
        (tmp_path / f"notebooks/{lesson}.ipynb").write_text(json.dumps(notebook), "utf-8")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: "NVIDIA A")
    assert verify.main([kind]) == 1, "a lesson failed"
    written = json.loads((tmp_path / f"{verify.RESULTS[kind]}.json").read_text("utf-8"))
    assert written["torch"] == torch.__version__
    assert written["gpus"] == (["NVIDIA A"] if kind == "real" else ["simulated GPUs"])
    assert written["lessons"]["01-one"]["code"] == results.digest_of_code(notebook)


def test_a_lessons_code_has_another_digest_where_a_cell_differs_and_the_same_where_its_text_does():
    code = [{"cell_type": "code", "source": ["x = 1\n", "x"]}, {"cell_type": "code", "source": "y"}]
    digest = results.digest_of_code({"cells": code})
    assert results.digest_of_code({"cells": [{"cell_type": "markdown", "source": "text"}, *code]}) == digest
    assert results.digest_of_code({"cells": [code[0], {"cell_type": "code", "source": "z"}]}) != digest
    assert results.digest_of_code({"cells": [{"cell_type": "code", "source": "x = 1\nxy"}]}) != digest


@pytest.mark.parametrize(("arguments", "says"), [(["real"], "finds no CUDA GPU here"), ([], "real, or simulated")])
def test_what_is_missing_is_one_sentence_and_nothing_is_run(arguments, says, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(verify.subprocess, "run", None)
    assert verify.main(arguments) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
