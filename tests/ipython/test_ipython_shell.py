"""What `%load_ext samedevice` does to a shell of IPython's, and that it leaves nothing behind."""

import atexit
import sys

import IPython
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from samedevice import doctor
from samedevice.doors import ipython

# PyTorch's text, so that no test here has to load torch.
MESSAGE = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
DEVICE_ERROR = f"message = {MESSAGE!r}\nraise RuntimeError(message)"
SAYS = "got one tensor on cuda:0 and one on cpu"
KEPT_IN_SYS = ("last_exc", "last_type", "last_value", "last_traceback", "excepthook", "displayhook")


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    kept = {name: getattr(sys, name) for name in KEPT_IN_SYS if hasattr(sys, name)}
    main = sys.modules["__main__"]
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    yield shell
    ipython.unload(shell)
    atexit.unregister(shell.atexit_operations)
    shell.atexit_operations()
    shell.restore_sys_module_state()
    InteractiveShell.clear_instance()
    sys.modules["__main__"] = main
    for name in KEPT_IN_SYS:
        if name in kept:
            setattr(sys, name, kept[name])
        elif hasattr(sys, name):
            delattr(sys, name)


@pytest.fixture
def run(shell, capsys):
    """Call with a cell: what the person at the prompt sees of it."""

    def run(cell):
        capsys.readouterr()
        shell.run_cell(cell)
        seen = capsys.readouterr()
        return seen.out + seen.err

    return run


def attributes(shell):
    return dict(vars(shell)), callbacks(shell)


def callbacks(shell):
    return {event: list(callbacks) for event, callbacks in shell.events.callbacks.items()}


def test_a_device_error_is_shown_as_ever_and_its_diagnosis_follows(run):
    alone = run(DEVICE_ERROR)
    run("%load_ext samedevice")
    followed = run(DEVICE_ERROR)
    assert alone.count(MESSAGE) >= 1
    assert followed.startswith(alone)
    diagnosis = followed.removeprefix(alone)
    assert diagnosis.count(SAYS) == 1
    assert "raise RuntimeError(message)" in diagnosis
    assert "SD002" in diagnosis


def test_what_assert_close_says_of_devices_is_followed_too(shell, run):
    ipython.load(shell)
    shown = run("raise AssertionError(\"The values for attribute 'device' do not match: cuda:0 != cpu.\")")
    assert "`assert_close` got a tensor on cuda:0 and expected one on cpu." in shown
    assert "SD128" in shown


def test_loading_says_nothing(run):
    assert run("%load_ext samedevice") == ""
    assert run("%unload_ext samedevice") == ""


@pytest.mark.parametrize(
    "cell",
    [
        "1 / 0",
        "no_such_name",
        "raise SystemExit(3)",
        "raise KeyboardInterrupt",
        "if True",
        "%no_such_magic",
        "%timeit --no-such-option",
        "print('fine')",
        "raise RuntimeError('device')",
        "raise ExceptionGroup('two', [ValueError('a'), KeyError('b')])",
        "",
    ],
)
@pytest.mark.filterwarnings("ignore:To exit")
def test_what_is_not_about_devices_is_shown_as_ever(shell, run, cell):
    alone = run(cell)
    ipython.load(shell)
    assert run(cell) == alone


def test_what_python_and_ipython_keep_of_an_error_is_theirs(shell):
    ipython.load(shell)
    error = shell.run_cell(DEVICE_ERROR).error_in_exec
    assert sys.last_value is error
    assert sys.last_type is RuntimeError
    assert sys.last_traceback is error.__traceback__
    if IPython.version_info >= (8, 15) or sys.version_info >= (3, 12):
        assert getattr(sys, "last_exc", error) is error
    assert shell.last_execution_succeeded is False


def test_unloading_leaves_no_trace(shell, run):
    alone = run(DEVICE_ERROR)
    before = attributes(shell)
    ipython.load(shell)
    assert attributes(shell) != before
    ipython.unload(shell)
    assert attributes(shell) == before
    assert run(DEVICE_ERROR) == alone
    assert ipython._loaded == {}


def test_loading_twice_is_loading_once(shell, run):
    before = callbacks(shell)
    ipython.load(shell)
    ipython.load(shell)
    assert run(DEVICE_ERROR).count(SAYS) == 1
    ipython.unload(shell)
    ipython.unload(shell)
    assert callbacks(shell) == before
    assert "showtraceback" not in vars(shell)


def test_it_can_be_loaded_anew(shell, run):
    before = callbacks(shell)
    run("%load_ext samedevice")
    run("%reload_ext samedevice")
    assert run(DEVICE_ERROR).count(SAYS) == 1
    run("%unload_ext samedevice")
    assert SAYS not in run(DEVICE_ERROR)
    run("%load_ext samedevice")
    assert run(DEVICE_ERROR).count(SAYS) == 1
    run("%unload_ext samedevice")
    assert callbacks(shell) == before
    assert "showtraceback" not in vars(shell)


def shows_it_by_itself(shell, etype, value, tb, tb_offset=None):
    print(f"custom: {value}")


def lets_ipython_show_it(shell, etype, value, tb, tb_offset=None):
    print(f"custom: {value}")
    shell.showtraceback((etype, value, tb), tb_offset=tb_offset)


@pytest.mark.parametrize("handler", [shows_it_by_itself, lets_ipython_show_it])
@pytest.mark.parametrize("earlier", [True, False])
def test_a_handler_of_custom_exceptions_is_kept_and_called(shell, run, handler, earlier):
    if earlier:
        shell.set_custom_exc((Exception,), handler)
        ipython.load(shell)
    else:
        ipython.load(shell)
        shell.set_custom_exc((Exception,), handler)
    custom = shell.CustomTB
    seen = run(DEVICE_ERROR)
    assert seen.startswith(f"custom: {MESSAGE}\n")
    assert seen.count(SAYS) == 1
    assert run(DEVICE_ERROR).count(SAYS) == 1
    assert "custom: division by zero" in run("1 / 0")
    ipython.unload(shell)
    assert shell.CustomTB is custom
    assert shell.custom_exceptions == (Exception,)
    assert SAYS not in run(DEVICE_ERROR)


def test_a_handler_that_comes_after_an_error(shell, run):
    ipython.load(shell)
    run(DEVICE_ERROR)
    shell.set_custom_exc((Exception,), shows_it_by_itself)
    assert run(DEVICE_ERROR).count(SAYS) == 1


def test_beside_the_handler_that_colab_sets(shell, run):
    """As google.colab._shell_customizations has it: an ImportError is shown by another error that wraps it."""

    class FormattedTracebackError(Exception):
        def _render_traceback_(self):
            return ["traceback", "", "NOTE: If your import is failing"]

    def handle_error(shell, etype, exception, tb, tb_offset=None):
        return shell.showtraceback(exc_tuple=(etype, FormattedTracebackError(str(exception)), tb))

    shell.set_custom_exc((ImportError,), handle_error)
    alone = run("import no_such_module")
    assert "NOTE: If your import is failing" in alone
    ipython.load(shell)
    assert run("import no_such_module") == alone
    assert run(DEVICE_ERROR).count(SAYS) == 1


def test_a_tool_that_stood_there_before_stands_there_after(shell, run):
    def another_tools(*args, **kwargs):
        print("another tool's traceback")

    shell.showtraceback = another_tools
    ipython.load(shell)
    seen = run(DEVICE_ERROR)
    assert seen.startswith("another tool's traceback\n")
    assert seen.count(SAYS) == 1
    ipython.unload(shell)
    assert shell.showtraceback is another_tools


def test_a_tool_that_came_later_stays(shell, run):
    ipython.load(shell)
    ours = shell.showtraceback

    def another_tools(*args, **kwargs):
        print("another tool's first line")
        ours(*args, **kwargs)

    shell.showtraceback = another_tools
    assert run(DEVICE_ERROR).count(SAYS) == 1
    ipython.unload(shell)
    assert shell.showtraceback is another_tools
    seen = run(DEVICE_ERROR)
    assert "another tool's first line" in seen
    assert MESSAGE in seen
    assert SAYS not in seen
    ipython.load(shell)
    assert run(DEVICE_ERROR).count(SAYS) == 1


def fails(*args, **kwargs):
    raise ZeroDivisionError("ours")


@pytest.mark.parametrize("place", ["explain", "rendering", "display"])
def test_a_failure_of_ours_is_one_line_after_the_programs_traceback(shell, run, monkeypatch, place):
    alone = run(DEVICE_ERROR)
    ipython.load(shell)
    with monkeypatch.context() as broken:
        if place == "explain":
            broken.setattr(doctor, "explain", fails)
        elif place == "rendering":
            broken.setattr(doctor.Diagnosis, "_repr_html_", fails)
        else:
            broken.setattr(shell.display_pub, "publish", fails)
        seen = run(DEVICE_ERROR)
        assert seen.startswith(alone)
        assert seen.removeprefix(alone).splitlines() == [
            "samedevice could not explain this error: it failed itself (ZeroDivisionError)."
        ]
        assert sys.last_type is RuntimeError
    assert run(DEVICE_ERROR).count(SAYS) == 1


def test_a_display_that_shows_its_own_failure_is_asked_once(shell, run, monkeypatch):
    asked = []

    def publish(data, metadata):
        asked.append(data)
        try:
            fails()
        except ZeroDivisionError:
            shell.showtraceback()

    ipython.load(shell)
    monkeypatch.setattr(shell.display_pub, "publish", publish)
    assert MESSAGE in run(DEVICE_ERROR)
    assert len(asked) == 1


def test_who_interrupts_the_diagnosis_interrupts_nothing_else(shell, run, monkeypatch):
    def interrupted(error):
        raise KeyboardInterrupt

    alone = run(DEVICE_ERROR)
    ipython.load(shell)
    monkeypatch.setattr(doctor, "explain", interrupted)
    assert run(DEVICE_ERROR) == alone


@pytest.mark.parametrize(
    "cell",
    [
        "%run {script}",
        "%%time\n{error}",
        "import asyncio\nawait asyncio.sleep(0)\n{error}",
        "get_ipython().run_cell({error!r})",
        "raise ExceptionGroup('of a task group', [ValueError('a'), RuntimeError({message!r})])",
        "try:\n    raise RuntimeError({message!r})\nexcept RuntimeError as e:\n    raise ValueError('step 3') from e",
    ],
)
def test_a_device_error_is_explained_once_wherever_ipython_shows_it(shell, run, tmp_path, cell):
    script = tmp_path / "script.py"
    script.write_text(DEVICE_ERROR)
    ipython.load(shell)
    assert run(cell.format(script=script.as_posix(), error=DEVICE_ERROR, message=MESSAGE)).count(SAYS) == 1
    assert run(DEVICE_ERROR).count(SAYS) == 1


def test_two_scripts_of_one_cell_are_both_explained(shell, run, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(DEVICE_ERROR)
    ipython.load(shell)
    assert run(f"%run {script.as_posix()}\n%run {script.as_posix()}").count(SAYS) == 2


def test_a_traceback_that_is_shown_again_is_explained_again(shell, run):
    ipython.load(shell)
    run(DEVICE_ERROR)
    run("'another cell'")
    assert run("%tb").count(SAYS) == 1


def test_whoever_captures_the_traceback_captures_the_diagnosis(shell, run):
    ipython.load(shell)
    assert run(f"%%capture kept\n{DEVICE_ERROR}") == ""
    kept = shell.user_ns["kept"].stdout
    assert MESSAGE in kept
    assert kept.count(SAYS) == 1


def test_loaded_where_output_is_captured_it_speaks_in_later_cells(shell, run):
    run("%%capture\n%load_ext samedevice")
    assert run(DEVICE_ERROR).count(SAYS) == 1


def test_it_goes_where_the_shell_displays_now(shell, run):
    class Elsewhere(type(shell.display_pub)):
        def publish(self, data, metadata=None, **kwargs):
            print("elsewhere:", data["text/plain"])

    ipython.load(shell)
    shell.display_pub = Elsewhere()
    assert "elsewhere:" in run(DEVICE_ERROR)


def test_the_program_may_forbid_to_be_compared_or_asked(shell, run):
    """An error's own code is not run: neither for its truth, nor for its text."""
    ipython.load(shell)
    seen = run(
        "ran = []\n"
        "class StepError(RuntimeError):\n"
        "    def __bool__(self):\n"
        "        ran.append('bool')\n"
        "        return False\n"
        "    def __eq__(self, other):\n"
        "        ran.append('eq')\n"
        f"raise StepError({MESSAGE!r})"
    )
    assert seen.count(SAYS) == 1
    assert shell.user_ns["ran"] == []


SIMULATED = """
import torch
from samedevice import simulate_cuda
with simulate_cuda(1):
    torch.ones(2, device="cuda") + torch.ones(2)
"""


def test_the_simulations_own_frames_are_hidden_but_from_a_verbose_traceback(shell, run):
    alone = run(SIMULATED)
    assert "dispatch.py" in alone
    ipython.load(shell)
    shown = run(SIMULATED)
    assert 'torch.ones(2, device="cuda") + torch.ones(2)' in shown
    assert "dispatch.py" not in shown and "judgement.py" not in shown
    assert SAYS in shown
    error = shell.run_cell(SIMULATED).error_in_exec
    assert sys.last_traceback is error.__traceback__
    shell.run_line_magic("xmode", "Verbose")
    assert "dispatch.py" in run(SIMULATED)
    shell.run_line_magic("xmode", "Context")
