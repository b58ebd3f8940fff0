"""The page "For assistants and agents" and the skill on it: every command runs, and prints what is shown."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from tests.maintenance.sessions import files, is_as_shown, run, sessions

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/for-agents.md").read_text("utf-8")
SKILL = ROOT / "src/samedevice/skills/samedevice/SKILL.md"
FORM = json.loads((ROOT / "docs/assets/diagnosis.schema.json").read_text("utf-8"))
FILES = files(PAGE)
FIXED = {
    "self.scale = torch.ones(3)": 'self.register_buffer("scale", torch.ones(3), persistent=False)',
    "seen = torch.zeros(3)": "seen = torch.zeros(3, device=device)",
}
EXIT_CODES = {"explain": 0, "run": 1, "fix": 0, "pytest": 0}


@pytest.fixture
def folder(tmp_path):
    """A folder with the files of the page."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def fix(program):
    text = program.read_text("utf-8")
    for old, new in FIXED.items():
        assert old in text
        text = text.replace(old, new)
    program.write_text(text, "utf-8")


@pytest.mark.parametrize(("command", "shown"), sessions(PAGE), ids=[command for command, _ in sessions(PAGE)])
def test_a_command_prints_what_is_shown(folder, command, shown):
    if command.startswith("pytest"):
        fix(folder / "train.py")
    done = run(command, folder)
    assert is_as_shown(shown, done.stdout), done.stdout
    program, subcommand, *_ = command.split()
    assert done.returncode == EXIT_CODES[program if program == "pytest" else subcommand]
    if "--json found.json" in command:
        jsonschema.validate(json.loads((folder / "found.json").read_text("utf-8")), FORM)
    if "explain --json" in command:
        jsonschema.validate(json.loads(done.stdout), FORM)


def test_with_the_lines_that_it_names_the_program_runs(folder):
    fix(folder / "train.py")
    done = run("samedevice run --json found.json train.py", folder)
    assert done.returncode == 0
    assert json.loads((folder / "found.json").read_text("utf-8"))["message"] is None


# Those with a subcommand or an option: a name alone is no command to run.
OF_THE_SKILL = sorted({text for text in re.findall(r"`((?:samedevice|pytest) [^`]+)`", SKILL.read_text("utf-8"))})


@pytest.mark.parametrize("command", OF_THE_SKILL)
def test_a_command_of_the_skill_is_one_that_the_command_line_takes(folder, command):
    (folder / "tests").mkdir()
    (folder / "tests/test_once_more.py").write_text(FILES["test_train.py"], "utf-8")
    fix(folder / "train.py")
    done = run(command.partition(" > ")[0].replace("ARGS", "--epochs 1"), folder)
    assert done.returncode in (0, 1), done.stdout  # 1: nothing is pasted, and so nothing is known


def test_the_skill_has_the_form_of_agent_skills_and_ten_lines():
    # https://agentskills.io/specification
    _, front, text = SKILL.read_text("utf-8").split("---\n", 2)
    facts = yaml.safe_load(front)
    assert facts["name"] == SKILL.parent.name == "samedevice"
    assert 0 < len(facts["description"]) <= 1024
    assert set(facts) == {"name", "description"}
    lines = text.strip().splitlines()
    assert len(lines) == 10
    assert all(line.startswith("- ") for line in lines)
    assert '--8<-- "samedevice/SKILL.md:6"' in PAGE
    assert SKILL.read_text("utf-8").splitlines()[5] == lines[0]


def test_the_skill_is_copied_from_the_package(tmp_path):
    (command,) = re.findall(r"^python (-c .*)$", PAGE, re.MULTILINE)
    subprocess.run([sys.executable, *shlex.split(command)], cwd=tmp_path, check=True)
    assert (tmp_path / ".agents/skills/samedevice/SKILL.md").read_bytes() == SKILL.read_bytes()
