"""What `make` shows while it installs: a line for each kind of package, and all that pip said where it failed."""

import sys

import pytest

import quiet_pip

PIP = """
import sys, time
print("Looking in indexes: one, two")
for name in "abc":
    print(f"Collecting {name}==1.0", flush=True)
    print("WARNING: something about", name)
if "broken" in sys.argv:
    print("ERROR: no version of d")
    sys.exit(3)
print("Installing collected packages: a, b, c", flush=True)
time.sleep(float(sys.argv[-1]))
print("Successfully installed a-1.0 b-1.0 c-1.0")
"""


@pytest.fixture
def install(monkeypatch, capsys):
    def install(*arguments, terminal=False):
        monkeypatch.setattr(quiet_pip, "PIP", [sys.executable, "-c", PIP])
        monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
        return quiet_pip.install(arguments, "what the site needs"), capsys.readouterr()

    return install


def test_what_is_installed_is_one_line(install):
    code, printed = install("0")
    assert (code, printed.err) == (0, "")
    assert printed.out.count("\n") == 1
    assert printed.out.startswith("  what the site needs: 3 installed, ")
    assert quiet_pip._done(["Requirement already satisfied: a==1.0 in here"]) == "there already"


def test_where_it_fails_all_that_pip_said_is_shown(install):
    code, printed = install("broken")
    assert code == 3
    assert "Looking in indexes" in printed.err
    assert "ERROR: no version of d" in printed.err
    assert "installed" not in printed.out


def test_a_terminal_shows_how_far_it_is_on_one_line_that_is_written_over(install):
    _, printed = install("1.5", terminal=True)
    assert "\r  what the site needs: 3 found, now unpacking, " in printed.out
    assert printed.out.count("\n") == 1


def test_what_a_log_shows_is_a_line_now_and_then(install, monkeypatch):
    monkeypatch.setattr(quiet_pip, "_LOG", 1.0)
    _, printed = install("1.5")
    *shown, done = printed.out.splitlines()
    assert "now unpacking" in shown[-1]
    assert "3 installed" in done


def test_how_many_there_will_be_is_read_from_the_file_with_the_hashes(tmp_path):
    (tmp_path / "a.txt").write_text("# a list\na==1.0 \\\n    --hash=sha256:0\nb-c==2\n")
    assert quiet_pip._expected(["--no-deps", f"--requirement={tmp_path / 'a.txt'}"]) == 2
    assert quiet_pip._state(["Collecting a==1.0"], 2) == "1 of 2"
