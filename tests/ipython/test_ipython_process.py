"""`ipython` as a person starts it: a script, a prompt, a debugger after the error, and what is loaded with it."""

import os
import subprocess
import sys

import pytest

MESSAGE = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
SAYS = "got one tensor on cuda:0 and one on cpu"
FAILING = f"message = {MESSAGE!r}\n\n\ndef train(step):\n    raise RuntimeError(message)\n\n\ntrain(3)\n"


@pytest.fixture
def ipython(tmp_path):
    """Call with ipython's arguments and with what is typed: all that it prints."""

    def run(*arguments, typed=""):
        options = ["--no-banner", "--simple-prompt", "--no-confirm-exit", "--HistoryManager.enabled=False"]
        environment = os.environ | {"IPYTHONDIR": str(tmp_path / "ipython"), "PYTHONUTF8": "1", "NO_COLOR": "1"}
        return subprocess.run(
            [sys.executable, "-m", "IPython", *options, *arguments],
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            cwd=tmp_path,
            timeout=120,
        ).stdout

    return run


def test_a_scripts_error_is_explained_after_its_traceback(ipython, tmp_path):
    (tmp_path / "script.py").write_text(FAILING)
    alone = ipython("script.py")
    followed = ipython("--ext=samedevice", "script.py")
    assert followed.startswith(alone.rstrip())
    diagnosis = followed[len(alone.rstrip()) :]
    assert diagnosis.count(SAYS) == 1
    assert "script.py, line 5, in train" in diagnosis


def test_the_debugger_and_explain_find_the_error_as_ever(ipython, tmp_path):
    (tmp_path / "script.py").write_text(FAILING)
    typed = "\n".join(
        [
            "%load_ext samedevice",
            "%run script.py",
            "%debug",
            "p 'step is', step",
            "q",
            "import samedevice; print(samedevice.explain().message.id)",
            "import sys; print('torch' in sys.modules)",
            "1 / 0",
            "exit",
        ]
    )
    seen = ipython(typed=typed + "\n")
    assert seen.count(SAYS) == 1
    assert "('step is', 3)" in seen
    assert "SD002\n" in seen
    # Neither loading nor explaining has loaded torch.
    assert "False\n" in seen
    assert "ZeroDivisionError" in seen.partition("SD002\n")[2]


def test_with_a_debugger_that_comes_by_itself_the_diagnosis_follows_it(ipython):
    typed = ["%load_ext samedevice", "%pdb on", f"raise RuntimeError({MESSAGE!r})", "q", "print('goes on')", "exit"]
    seen = ipython(typed="\n".join(typed) + "\n")
    assert seen.count(SAYS) == 1
    assert seen.index("ipdb>") < seen.index(SAYS) < seen.index("goes on")


@pytest.mark.slow
@pytest.mark.parametrize("first", ["samedevice", "rich"])
def test_beside_richs_tracebacks(ipython, first):
    pytest.importorskip("rich")
    loads = {
        "samedevice": "%load_ext samedevice",
        "rich": "import rich.traceback; restored = rich.traceback.install(width=150)",
    }
    order = [loads.pop(first), *loads.values()]
    failing = f"raise RuntimeError({MESSAGE!r})"
    typed = [*order, failing, "print('unloading')", "%unload_ext samedevice", failing, "exit"]
    loaded, _, unloaded = ipython(typed="\n".join(typed) + "\n").partition("unloading\n")
    assert loaded.count("Traceback (most recent call last)") == 1
    assert loaded.count(SAYS) == 1
    assert loaded.index("Traceback (most recent call last)") < loaded.index(SAYS)
    assert unloaded.count("Traceback (most recent call last)") == 1
    assert SAYS not in unloaded
