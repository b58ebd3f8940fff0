"""`new_folder`: an empty folder for a lesson's files, and commands that are found beside the notebook's Python."""

import importlib
import os
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from lessons import folder, new_folder


@pytest.fixture(autouse=True)
def _everything_as_it_was(monkeypatch):
    monkeypatch.setattr(folder, "_folder", None)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(os, "environ", os.environ.copy())
    here = Path.cwd()
    yield
    os.chdir(here)
    if folder._folder is not None:
        folder._folder.cleanup()


def test_the_folder_is_empty_and_the_working_directory():
    here = Path.cwd()
    new_folder()
    assert Path.cwd() != here
    assert not list(Path.cwd().iterdir())


def test_a_file_that_is_written_there_can_be_imported():
    new_folder()
    Path("coffee_beans.py").write_text("roast = 'dark'\n")
    importlib.invalidate_caches()
    try:
        assert importlib.import_module("coffee_beans").roast == "dark"
    finally:
        sys.modules.pop("coffee_beans", None)


def test_called_again_it_begins_anew_and_removes_the_first_folder():
    new_folder()
    first = Path.cwd()
    Path("train.py").touch()
    new_folder()
    assert not list(Path.cwd().iterdir())
    assert not first.exists()
    assert str(first) not in sys.path
    assert os.environ["PATH"].count(sysconfig.get_path("scripts") + os.pathsep) == 1


def test_commands_are_found_whatever_the_path_was(monkeypatch):
    monkeypatch.setitem(os.environ, "PATH", os.defpath)
    new_folder()
    assert Path(shutil.which("pytest", path=os.environ["PATH"])).parent == Path(sysconfig.get_path("scripts"))


def test_a_command_may_simulate_gpus_where_the_notebook_may_not(monkeypatch):
    monkeypatch.setitem(os.environ, "SAMEDEVICE_GPUS", "real")
    new_folder()
    assert "SAMEDEVICE_GPUS" not in os.environ


@pytest.mark.parametrize("name", ["CI", "BUILD_NUMBER", "GITHUB_ACTIONS"])
def test_a_command_prints_in_a_ci_what_it_prints_elsewhere(name, monkeypatch):
    # pytest cuts the lines of its summary to the width of the terminal, but not in a CI.
    monkeypatch.setitem(os.environ, name, "true")
    new_folder()
    assert name not in os.environ
