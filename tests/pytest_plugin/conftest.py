"""A pytest session of somebody else's project, in a process of its own: what it printed and what its tests did."""

import json
import os
import subprocess
import sys

import pytest

# Writes down each report as the session sees it, with pytest-xdist too: workers send theirs to the process that asked.
KEEP_REPORTS = """
import json, os, pathlib

def pytest_runtest_logreport(report):
    if "PYTEST_XDIST_WORKER" not in os.environ:
        properties = dict(getattr(report, "user_properties", ()))
        kept = {"name": report.nodeid.rpartition("::")[2], "when": report.when, "outcome": report.outcome,
                "text": str(report.longrepr or ""), "simulated": properties.get("simulated"),
                "said": dict(report.sections).get("samedevice")}
        with pathlib.Path("reports.jsonl").open("a") as file:
            print(json.dumps(kept), file=file)

def pytest_collectreport(report):
    if report.failed:
        pytest_runtest_logreport(report)
"""


class Session:
    """`reports` are by name of the test, and by "name, when" where that is not its call."""

    def __init__(self, folder, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr
        self.folder = folder
        self.reports = self.kept_in("reports.jsonl")

    def kept_in(self, name):
        file, found = self.folder / name, {}
        for line in file.read_text("utf-8").splitlines() if file.exists() else ():
            report = json.loads(line)
            when = "" if report["when"] == "call" else f", {report['when']}"
            if not when or report["outcome"] != "passed":
                found.setdefault(report["name"] + when, report)
        return found

    def __repr__(self):
        return f"{self.code}\n{self.out}\n{self.err}"


@pytest.fixture(scope="session")
def run_session(tmp_path_factory):
    """Call with files (name, text), pytest's arguments and environment variables, and what is `typed` for a debugger.

    Warnings are errors.

    Of the plugins that happen to be installed, only this one is loaded, since some take seconds; all with `autoload`.
    """

    def run(files, *arguments, start=("-m", "pytest"), autoload=False, typed="", **environment):
        folder = tmp_path_factory.mktemp("project")
        for name, text in {"conftest.py": "", **files}.items():
            (folder / name).write_text(KEEP_REPORTS + text if name == "conftest.py" else text, "utf-8")
        # An outer pytest and its xdist worker leave variables that an inner one would take for its own.
        own = ("PYTEST_", "SAMEDEVICE_", "CUDA_VISIBLE_DEVICES", "COLUMNS")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        if not autoload:
            inherited["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
            arguments = ("-p", "samedevice", *arguments)
        process = subprocess.run(
            [sys.executable, *start, "-W", "error", "--strict-markers", "--color=no", *arguments],
            cwd=folder,
            env=inherited | environment,
            input=typed,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=300,
        )
        return Session(folder, process)

    return run
