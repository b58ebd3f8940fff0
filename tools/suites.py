"""Run public test suites, unchanged, on a simulated GPU; print a table and write it to results/suites.json.

Each package's tests come from its own sdist on PyPI, of the version that tests/clients/requirements.txt pins, or from
the installed package, where an sdist would have to be compiled. They run twice in the environment of
`make test-suites`: as on any machine without a GPU, and with `--simulate-cuda 1`. A test that fails only the second
time has found a fault in the package or in its test (tests/suites/found.toml says which line and why), or it is ours:
then this exits with 1. One package only: `tools/suites.py skorch`.
"""

import argparse
import dataclasses
import datetime
import importlib.metadata
import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import results

HERE = Path(__file__).resolve().parent.parent
FOLDER = HERE / "tests" / "suites"
# Sdists, and what pytest said and reported.
DOWNLOADS = Path(sys.prefix) / "suites"


@dataclasses.dataclass(frozen=True)
class Suite:
    """The tests of a package that are run, and those that are left out.

    Attributes:
        paths: files and folders of its sdist, or modules of the installed package.
        left_out: what is not run, and why.
        options: options of pytest.
        installed: the tests are in the installed package.
        environment: variables that its tests read.
        for_a_gpu: those that have them use the GPU.
    """

    paths: tuple[str, ...]
    left_out: str = ""
    options: tuple[str, ...] = ()
    installed: bool = False
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    for_a_gpu: Mapping[str, str] = dataclasses.field(default_factory=dict)


SUITES = {
    "accelerate": Suite(
        ("tests/test_accelerator.py", "tests/test_big_modeling.py", "tests/test_hooks.py", "tests/test_utils.py"),
        "files that start other processes, download, or need other hardware; what asks NVIDIA's driver (NVML); and a "
        "test of how much memory the whole machine has left",
        ("-k", "not cpu_affinity and not free_memory_dereferences"),
    ),
    "array-api-extra": Suite(("tests/main",), "tests of other array libraries", ("-k", "torch")),
    "gpytorch": Suite(("test",)),
    "pot": Suite(
        (
            "test/test_1d_solver.py",
            "test/test_backend.py",
            "test/test_bregman.py",
            "test/test_circle_solver.py",
            "test/test_da.py",
            "test/test_optim.py",
            "test/test_ot.py",
            "test/test_utils.py",
        ),
        "files that use no GPU; backends but torch: the sdist lacks the file that sets them up, and pot_backend.py of "
        "tests/suites gives that one",
        ("-p", "pot_backend"),
        environment={"PYTHONSAFEPATH": "1"},  # its sdist has the package too, which is not compiled there
    ),
    "pytorch-ignite": Suite(
        ("tests/ignite/engine", "tests/ignite/metrics/regression", "tests/ignite/handlers/test_ema_handler.py"),
        "other folders, for time; the marker distributed: NCCL is not simulated",
        ("-m", "not distributed"),
    ),
    "scikit-learn": Suite(
        (
            "sklearn.utils.tests.test_array_api",
            "sklearn.preprocessing.tests.test_data",
            "sklearn.linear_model.tests.test_ridge",
        ),
        "other files, for time; tests of other array libraries",
        ("-k", "torch"),
        installed=True,
        environment={"SCIPY_ARRAY_API": "1"},
    ),
    "scipy": Suite(
        (
            "scipy.cluster.tests.test_vq",
            "scipy.cluster.tests.test_hierarchy",
            "scipy.special.tests.test_logsumexp",
            "scipy.fft.tests.test_basic",
            "scipy.integrate.tests.test_tanhsinh",
        ),
        "other files, for time; other array libraries",
        installed=True,
        environment={"SCIPY_ARRAY_API": '["torch"]'},
        for_a_gpu={"SCIPY_DEVICE": "cuda"},
    ),
    "skorch": Suite(
        ("skorch/tests",), "what downloads", ("--ignore=skorch/tests/llm", "--ignore=skorch/tests/test_hf.py")
    ),
    "torchsde": Suite(
        ("tests/test_brownian_interval.py", "tests/test_brownian_path.py", "tests/test_brownian_tree.py"),
        "two files that import a module which the sdist lacks; four long tests",
        ("-k", "not normality and not entropy and not large and not consistency"),
    ),
}
# The outcomes of a test, the worst of its reports winning.
_WORSE = ("passed", "skipped", "failed")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", nargs="*", choices=[[], *SUITES], help="all, unless named")
    chosen = parser.parse_args().package or list(SUITES)
    found = tomllib.loads((FOLDER / "found.toml").read_text("utf-8")).get("found", [])
    DOWNLOADS.mkdir(exist_ok=True)
    # Not below this folder, whose conftest.py and pytest options would count for the packages' tests.
    with tempfile.TemporaryDirectory() as scratch:
        packages = {name: measure(name, SUITES[name], found, Path(scratch)) for name in chosen}
    print_table(packages)
    # What was measured of the others before stays, if torch is the same.
    before = json.loads((results.FOLDER / "suites.json").read_text("utf-8"))
    others = before["packages"] if before["torch"] == importlib.metadata.version("torch") else {}
    results.write(
        "suites", {"packages": {name: (others | packages)[name] for name in SUITES if name in others | packages}}
    )
    ours = sum(len(package["ours"]) for package in packages.values())
    for package in packages.values():
        for test in package["ours"]:
            print(f"because of us: {test}")
    sys.exit(ours > 0)


def measure(name: str, suite: Suite, found: list[dict[str, Any]], scratch: Path) -> dict[str, Any]:
    """Return the counts of one package's tests, without and with a simulated GPU."""
    version = importlib.metadata.version(name)
    folder = scratch if suite.installed else unpacked(name, version, scratch)
    plain, _, _ = run(folder, suite, suite.environment, DOWNLOADS / f"{name}-cpu.xml", "-p", "no:samedevice")
    on_gpu = {**suite.environment, **suite.for_a_gpu}
    report = DOWNLOADS / f"{name}-simulated.xml"
    simulated, used, seconds = run(folder, suite, on_gpu, report, "--simulate-cuda", "1")
    bugs = {test: bug for bug in found if bug["package"] == name for test in bug["tests"]}
    # A test that is gone with the simulation failed, too.
    lost = dict.fromkeys((test for test, outcome in plain.items() if outcome == "passed"), "failed")
    simulated = lost | simulated
    only = [test for test, outcome in simulated.items() if outcome == "failed" and plain.get(test) != "failed"]
    return {
        "version": version,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "paths": [*suite.paths, *suite.options],
        "left_out": suite.left_out,
        "tests": len(simulated),
        "passed": _count(simulated, "passed"),
        "skipped": _count(simulated, "skipped"),
        "failed_as_on_cpu": _count(simulated, "failed") - len(only),
        "found_a_device_bug": len([test for test in only if test in bugs and bugs[test]["device"]]),
        "found_another_fault": len([test for test in only if test in bugs and not bugs[test]["device"]]),
        "because_of_us": len([test for test in only if test not in bugs]),
        "ours": sorted(test for test in only if test not in bugs),
        "used_the_gpu": len(used),
        # Without a GPU skipped, or stopped by what says that a GPU is missing.
        "passed_only_with_it": len([t for t, outcome in simulated.items() if outcome == "passed" != plain.get(t)]),
        "seconds": round(seconds),
    }


def unpacked(name: str, version: str, scratch: Path) -> Path:
    """Return the folder of the package's sdist, downloaded once, unpacked anew."""
    archive = f"{name.replace('-', '[-_]')}-{version}.tar.gz"
    if not any(DOWNLOADS.glob(archive)):
        print(f"Downloading the sdist of {name} {version}.", flush=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--no-binary", name, "--dest", DOWNLOADS, f"{name}=={version}"], check=True)
    found = next(DOWNLOADS.glob(archive))
    with tarfile.open(found) as tar:
        tar.extractall(scratch, filter="data")
    return scratch / found.name.removesuffix(".tar.gz")


def run(
    folder: Path, suite: Suite, environment: Mapping[str, str], report: Path, *options: str
) -> tuple[dict[str, str], set[str], float]:
    """Return each test's outcome, the tests that used a GPU, and the seconds that pytest took."""
    report.unlink(missing_ok=True)
    start = time.monotonic()
    # Their own options (coverage and the like) need plugins that are not here.
    usual = ["-o", "addopts=", "-p", "no:cacheprovider", "-q", "-n", "2", "--dist", "loadfile", "--timeout", "180"]
    usual += ["--continue-on-collection-errors", "-p", "used_gpu"]
    paths = suite.paths
    if suite.installed:  # this environment is below our own conftest.py and pytest options
        packages = sysconfig.get_path("platlib")
        (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
        usual += ["-c", str(folder / "pytest.ini"), f"--rootdir={packages}", f"--confcutdir={packages}"]
        paths = ("--pyargs", *paths)
    with report.with_suffix(".txt").open("w", encoding="utf-8") as log:
        subprocess.run(
            [sys.executable, "-m", "pytest", *usual, f"--junitxml={report}", *options, *suite.options, *paths],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(FOLDER), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **environment},
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if not report.exists():
        sys.exit(f"pytest wrote no report of {folder.name}: read {report.with_suffix('.txt')}")
    outcomes: dict[str, str] = {}
    used = set()
    for case in ET.parse(report).iter("testcase"):
        test = f"{case.get('classname')}::{case.get('name')}"
        tags = {child.tag for child in case}
        outcome = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        outcomes[test] = max(outcome, outcomes.get(test, outcome), key=_WORSE.index)
        if any(child.get("name") == "used_gpu" for child in case.iter("property")):
            used.add(test)
    return outcomes, used, time.monotonic() - start


def print_table(packages: dict[str, dict[str, Any]]) -> None:
    """Print the table in Markdown, for people."""
    columns = ["tests", "passed", "skipped", "failed_as_on_cpu", "found_a_device_bug", "found_another_fault"]
    columns += ["because_of_us", "used_the_gpu", "passed_only_with_it", "seconds"]
    print("| package |", " | ".join(column.replace("_", " ") for column in columns), "|")
    print("| --- " * (len(columns) + 1) + "|")
    for name, package in packages.items():
        print(f"| {name} {package['version']} |", " | ".join(str(package[column]) for column in columns), "|")


def _count(outcomes: dict[str, str], outcome: str) -> int:
    return list(outcomes.values()).count(outcome)


if __name__ == "__main__":
    main()
