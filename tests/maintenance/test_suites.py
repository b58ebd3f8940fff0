"""`make test-suites`: whose fault it is that a package's test fails with a simulated GPU."""

import tomllib

import pytest

import suites

FOUND = [
    {"package": "pkg", "tests": ["t::bug"], "device": True},
    {"package": "pkg", "tests": ["t::file"], "device": False},
    {"package": "other", "tests": ["t::ours"], "device": True},
]
WITHOUT = {"t::fine": "passed", "t::old": "failed", "t::gpu": "skipped", "t::bug": "skipped", "t::file": "skipped"}
WITH = {"t::fine": "passed", "t::old": "failed", "t::gpu": "passed", "t::bug": "failed", "t::file": "failed"}


@pytest.fixture
def measured(monkeypatch, tmp_path):
    def measure(without, with_gpu):
        answers = iter([(without, set(), 1.0), (with_gpu, {"t::gpu"}, 2.0)])
        monkeypatch.setattr(suites.importlib.metadata, "version", lambda name: "1.0")
        monkeypatch.setattr(suites, "unpacked", lambda *_: tmp_path)
        monkeypatch.setattr(suites, "run", lambda *_: next(answers))
        return suites.measure("pkg", suites.Suite(("tests",)), FOUND, tmp_path)

    return measure


def test_what_fails_only_with_the_gpu_is_a_known_fault_or_ours(measured):
    result = measured(WITHOUT, WITH)
    counted = {key: result[key] for key in ("tests", "passed", "failed_as_on_cpu", "passed_only_with_it")}
    assert counted == {"tests": 5, "passed": 2, "failed_as_on_cpu": 1, "passed_only_with_it": 1}
    assert (result["found_a_device_bug"], result["found_another_fault"], result["because_of_us"]) == (1, 1, 0)


@pytest.mark.parametrize("with_gpu", [WITH | {"t::ours": "failed"}, {t: o for t, o in WITH.items() if t != "t::fine"}])
def test_another_failure_is_ours_and_so_is_a_test_that_is_gone(measured, with_gpu):
    result = measured(WITHOUT | {"t::ours": "passed"}, with_gpu)
    assert result["because_of_us"] == len(result["ours"]) >= 1


def test_each_fault_that_was_found_is_of_a_package_that_is_run_and_says_why():
    for one in tomllib.loads((suites.FOLDER / "found.toml").read_text("utf-8"))["found"]:
        assert one["package"] in suites.SUITES
        assert one["tests"]
        assert len(one["why"]) > 40
