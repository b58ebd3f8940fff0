"""`samedevice.install()`: a process explains what nobody catches, and nothing else of it changes.

The errors are such as PyTorch raises on a machine without a GPU too.
"""

import sys
import textwrap

import pytest

from samedevice.catalog import load
from samedevice.doors.notes import may_be_device_error

INSTALL = "import samedevice\nsamedevice.install()\n"
WITH_NOTES = "import samedevice\nsamedevice.install(notes=True)\n"
BROKEN = """
import torch


def step(x):
    scale = torch.ones(3, device="meta")
    return torch.addcmul(x, x, scale)
"""
FAILS = f"{BROKEN}\nstep(torch.ones(3))\n"
SAYS = "`scale` (shape (3,)) is on meta. It was created in this call."
MESSAGE = "RuntimeError: Tensor on device meta is not on the expected device cpu!\n"
AT_RAISING = pytest.mark.skipif(sys.version_info < (3, 13), reason="Python tells of what is raised from 3.13 on")


@pytest.fixture
def script(python, tmp_path):
    def run(text, *arguments, **settings):
        (tmp_path / "train.py").write_text(text)
        return python("train.py", *arguments, **settings)

    return run


def test_an_uncaught_device_error_is_explained_before_its_traceback(script):
    run, plain = script(INSTALL * 2 + FAILS), script("\n" * 4 + FAILS)
    assert run.returncode == plain.returncode == 1
    assert run.stdout == ""
    assert run.stderr.endswith(plain.stderr), "the traceback is Python's own"
    diagnosis = run.stderr.removesuffix(plain.stderr)
    assert diagnosis.count(SAYS) == 1
    assert "train.py, line 11, in step\n    return torch.addcmul(x, x, scale)\n" in diagnosis


@pytest.mark.parametrize(
    "end", ["", "raise SystemExit(3)", "raise KeyboardInterrupt", "1 / 0", "raise ValueError('device')"]
)
@pytest.mark.parametrize("install", [INSTALL, WITH_NOTES])
def test_a_program_without_a_device_error_ends_as_it_would(script, install, end):
    look = "import sys\nprint([name for name in sys.modules if name.split('.')[0] in ('torch', 'yaml', 'IPython')])\n"
    run, plain = script(install + look + end), script("\n" * 2 + look + end)
    assert (run.returncode, run.stdout, run.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert run.stdout == "[]\n"


@pytest.mark.slow
def test_earlier_hooks_are_called_after_the_diagnosis(script):
    hooks = """
    import sys, threading
    sys.excepthook = lambda kind, error, trace: print("hook:", kind.__name__, trace.tb_lineno, file=sys.stderr)
    threading.excepthook = lambda args: print("thread:", args.thread.name, file=sys.stderr)
    """
    thread = (
        "\nthread = threading.Thread(target=step, args=[torch.ones(3)], name='second')\nthread.start()\nthread.join()\n"
    )
    run = script(textwrap.dedent(hooks) + INSTALL + BROKEN + thread + "step(torch.ones(3))\n")
    of_thread, _, rest = run.stderr.partition("thread: second\n")
    diagnosis, _, rest = rest.partition("hook: RuntimeError 18\n")
    assert of_thread.count(SAYS) == diagnosis.count(SAYS) == 1
    assert rest == ""


def test_an_earlier_hook_is_called_with_the_traceback_that_was_given(script):
    hook = "import sys\nsys.excepthook = lambda kind, error, trace: print(trace.tb_lineno, error.__traceback__)\n"
    calls = """
    try:
        1 / 0
    except ZeroDivisionError as error:
        sys.excepthook(ValueError, ValueError("another"), error.__traceback__)
    """
    run = script(hook + INSTALL + textwrap.dedent(calls))
    assert run.stdout == "7 None\n", run.stderr


@pytest.mark.slow
def test_under_samedevice_run_it_is_said_once(python, tmp_path):
    (tmp_path / "train.py").write_text(INSTALL + FAILS)
    run = python("-m", "samedevice", "run", "--gpus", "real", "train.py")
    assert run.stderr.count(SAYS) == 1
    assert "of libraries: --full shows all]" in run.stderr


@pytest.mark.slow
def test_simulated_gpus_are_explained_and_their_frames_hidden(script):
    simulated = "samedevice.simulate_cuda().start()\nimport torch\ntorch.ones(3) + torch.ones(3, device='cuda')\n"
    run = script(INSTALL + simulated)
    assert "Expected all tensors to be on the same device" in run.stderr
    assert run.stderr.count('  File "') == 1
    assert "line 5" in run.stderr.partition("Traceback")[0]


def test_an_error_that_nobody_caught_has_its_note_in_the_traceback(script):
    run, plain = script(WITH_NOTES + FAILS), script("\n" * 2 + FAILS)
    assert run.stderr.startswith(plain.stderr)
    assert run.stderr.removeprefix(plain.stderr).count(SAYS) == 1
    assert run.returncode == 1


FROZEN = f"""
import dataclasses
{BROKEN}
@dataclasses.dataclass(frozen=True)
class Failed(Exception):
    attempt: int

try:
    step(torch.ones(3))
except RuntimeError as error:
    raise Failed(1) from error
"""


@pytest.mark.slow
def test_an_exception_that_refuses_attributes_has_its_note_too(script):
    run = script(WITH_NOTES + FROZEN)
    assert "Error in sys.excepthook" not in run.stderr
    assert run.stderr.count(SAYS) == 1


CAUGHT = f"""
import logging, traceback
{BROKEN}
for attempt in range(3):
    try:
        step(torch.ones(3))
    except RuntimeError as error:
        assert [str(frame.name) for frame in traceback.extract_tb(error.__traceback__)][:2] == ["<module>", "step"]
        print(len(error.__notes__), {SAYS!r} in error.__notes__[0], str(error) + chr(10) == {MESSAGE[14:]!r})
        try:
            raise ValueError(f"in attempt {{attempt}}: {{error}}") from error
        except ValueError as quoting:
            print(hasattr(quoting, "__notes__"))
try:
    step(torch.ones(3))
except RuntimeError:
    logging.exception("a step failed")
try:
    raise RuntimeError("not of a device, though it says cuda")
except RuntimeError as other:
    print(hasattr(other, "__notes__"))
"""


@AT_RAISING
def test_an_error_has_its_note_when_it_is_raised(script):
    run = script(WITH_NOTES + CAUGHT)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "1 True True\nFalse\n" * 3 + "False\n"
    assert run.stderr.startswith("ERROR:root:a step failed\nTraceback ")
    assert SAYS in run.stderr


@AT_RAISING
def test_a_program_that_handles_device_errors_in_a_loop_has_each_place_explained_once(script):
    counted = """
    from samedevice.doors import uncaught
    explain, asked = uncaught.diagnosis_of, []
    uncaught.diagnosis_of = lambda error: asked.append(error) or explain(error)
    """
    loop = """
    for attempt in range(500):
        try:
            step(torch.ones(3))
        except RuntimeError:
            pass
    for attempt in range(300):
        try:
            raise RuntimeError(f"on device {attempt}")
        except RuntimeError:
            pass
    print(len(asked))
    """
    run = script(WITH_NOTES + textwrap.dedent(counted) + BROKEN + textwrap.dedent(loop))
    assert run.stdout == "100\n", run.stderr


@AT_RAISING
@pytest.mark.parametrize(
    ("raised", "is_noted"),
    [
        ("AssertionError('Torch not compiled with CUDA enabled')", True),
        ("RuntimeError('a step on cuda failed')", False),
    ],
)
def test_an_error_of_the_code_that_handles_one_has_its_own_note_or_none(script, raised, is_noted):
    handled = f"""
    try:
        try:
            raise RuntimeError("Tensor on device meta is not on the expected device cpu!")
        except RuntimeError:
            raise {raised}
    except Exception as error:
        print(len(error.__context__.__notes__), hasattr(error, "__notes__"))
    """
    run = script(WITH_NOTES + textwrap.dedent(handled))
    assert run.stdout == f"1 {is_noted}\n", run.stderr


@AT_RAISING
def test_the_note_of_an_error_that_came_back_says_that_it_is_of_the_first(script):
    twice = """
    def step(x, y):
        return torch.addcmul(torch.ones(3), x, y)

    cpu, meta = torch.ones(3), torch.ones(3, device="meta")
    for x, y in (meta, cpu), (cpu, meta):
        try:
            step(x, y)
        except RuntimeError as error:
            print("it failed before" in error.__notes__[0])
    """
    run = script(WITH_NOTES + BROKEN + textwrap.dedent(twice))
    assert run.stdout == "False\nTrue\n", run.stderr


@AT_RAISING
def test_nothing_of_a_caught_error_is_kept_alive(script):
    alive = """
    import gc, weakref
    def attempt():
        x = torch.ones(3)
        died = weakref.ref(x)
        try:
            step(x)
        except RuntimeError as error:
            assert error.__notes__
        del x
        return died() is None
    gc.disable()
    print(attempt())
    """
    run = script(WITH_NOTES + BROKEN + textwrap.dedent(alive))
    assert run.stdout == "True\n", run.stderr


@AT_RAISING
def test_what_torch_compile_says_is_noted_and_what_it_compiles_is_the_same(script):
    compiled = """
    from torch._dynamo.testing import CompileCounter
    counter = CompileCounter()
    twice = torch.compile(lambda x: x.relu() * 2, backend=counter, fullgraph=True)
    for size in (2, 3, 4):
        twice(torch.ones(size))
    try:
        torch.compile(step, backend="eager")(torch.ones(3))
    except Exception as error:
        print(counter.frame_count, len(error.__notes__), "torch.compile found cpu and meta" in error.__notes__[0])
    """
    run = script(WITH_NOTES + BROKEN + textwrap.dedent(compiled))
    assert run.stdout == "2 1 True\n", run.stderr


def test_what_the_catalog_knows_passes_the_first_look():
    def passes(message):
        return any(may_be_device_error(RuntimeError(text["text"])) for text in message.texts)

    # What these say of devices is in nothing that they always say: such an error gets its note where nobody caught it.
    assert {message.id for message in load().messages.values() if not passes(message)} == {
        "SD046",
        "SD090",
        "SD099",
        "SD109",
    }


@pytest.mark.parametrize("text", ["invalid input 3", "no metadata", "a relationship", "the output", "a chip"])
def test_other_errors_do_not_pass_the_first_look(text):
    assert not may_be_device_error(ValueError(text))
