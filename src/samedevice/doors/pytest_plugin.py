"""The pytest plugin: a test run on simulated GPUs, and the diagnosis below a test that failed with a device error.

pytest loads this in every session of an environment that has samedevice, so nothing here imports torch, or what
needs it, before somebody asks for a GPU or a test of a session that uses torch has failed.

    --simulate-cuda N   the whole session, from before the first conftest.py is imported
    --gpu-type NAME     simulated GPUs are of this model
    gpus(n)             a test that needs n GPUs: real ones, else simulated ones where it may have them, else skipped
    simulated_cuda      a test that may have simulated ones, and takes their devices

Each worker of pytest-xdist starts its own simulation: workers get the session's options.
"""

import os
import sys
from collections.abc import Callable, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from samedevice import gpu_choice
from samedevice.plurals import counted

if TYPE_CHECKING:
    import doctest

    import torch

    from samedevice.doctor import Diagnosis

_Report = TypeVar("_Report", bound=pytest.TestReport | pytest.CollectReport)
_COUNTS = range(1, 17)
_SECTION = "samedevice"
_ANNOTATIONS = "samedevice_annotations"  # an attribute of a report, which pytest-xdist hands on with the rest

_announcement = pytest.StashKey[str]()
_refusal = pytest.StashKey[str]()
_own_simulation = pytest.StashKey[Any]()
_all_reports = pytest.StashKey[dict[str, list[Any]]]()  # by category, while some of them are not shown


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("samedevice", "simulated GPUs")
    group.addoption(
        "--simulate-cuda",
        metavar="N",
        help="run on N simulated GPUs, 1 to 16: on a machine without any, tests fail where they fail on CUDA",
    )
    group.addoption(
        "--gpu-type",
        metavar="NAME",
        help='the model of simulated GPUs, such as "NVIDIA T4": its name, compute capability and memory',
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    # Not in pytest_configure: a conftest.py that looks for GPUs when it is imported is earlier.
    known = early_config.known_args_namespace
    _begin(early_config, known.simulate_cuda, known.gpu_type)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "gpus(n): needs n GPUs. Real ones where there are n; else simulated ones, with --simulate-cuda, the fixture "
        f"simulated_cuda or {gpu_choice.CHOICE}=simulated; else the test is skipped.",
    )
    _begin(
        config, config.option.simulate_cuda, config.option.gpu_type
    )  # where a conftest.py names this plugin, the hook above came too early


def pytest_report_header(config: pytest.Config) -> str | None:
    announcement = config.stash.get(_announcement, None)
    if announcement and (config.getoption("nbval", False) or config.getoption("nbval_lax", False)):
        return f"{announcement} Kernels of notebooks have none, unless PYTHONSTARTUP names a file that simulates them."
    return announcement


def pytest_report_collectionfinish(config: pytest.Config) -> str | None:
    """Say that nothing is simulated, though it was asked for, also where `-q` hides the header."""
    header_is_hidden = config.option.verbose < 0 or config.option.no_header
    return config.stash.get(_refusal, None) if header_is_hidden else None


@pytest.fixture
def simulated_cuda(request: pytest.FixtureRequest) -> "list[torch.device]":
    """Give a test simulated GPUs if the session has none: the list of their devices, cuda:0 first.

    There is one, or as many as @pytest.mark.gpus(n) says; with the marker, real ones are taken where there are n.
    """
    if reason := _provide(request.node, asked=True):
        pytest.skip(reason)
    import torch

    return [torch.device("cuda", index) for index in range(_needed(request.node) or 1)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    # Ahead of all fixtures, and of setUpClass, which may move things to a GPU.
    asked = "simulated_cuda" in getattr(item, "fixturenames", ())
    if (asked or _needed(item)) and (reason := _provide(item, asked)):
        item.add_marker(pytest.mark.skip(reason=reason))  # pytest then names the test's line, not this one
    if "hypothesis" in sys.modules and "samedevice.simulation" in sys.modules:
        from samedevice.doors import beside_hypothesis

        beside_hypothesis.prepare()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    # Not in pytest_runtest_teardown, which an interrupted test never reaches.
    try:
        return (yield)
    finally:
        if simulation := item.stash.get(_own_simulation, None):
            del item.stash[_own_simulation]
            simulation.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    # In a unittest.TestCase the error is known only when the report was made.
    return (yield from _explained(lambda report: call))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Explain also a module that fails while it is imported, with a tensor that is made outside of all tests."""
    return (yield from _explained(lambda report: getattr(report, "call", None)))  # pytest's own way to hand it on


def _explained(call_of: "Callable[[_Report], pytest.CallInfo[Any] | None]") -> "Generator[None, _Report, _Report]":
    """Let pytest make a report, and add to it what the doctor says of its error."""
    _hide_the_simulation()
    try:
        report = yield
        call = call_of(report)
        # Without torch there was no device error.
        if report.failed and call and call.excinfo and "torch" in sys.modules:
            _explain(report, call.excinfo.value)
        return report
    finally:
        _last.clear()


def _explain(report: Any, error: BaseException) -> None:
    """Add to a report the diagnosis of its error; a fault of the doctor's never hides the test's own."""
    said = annotations = ""
    try:
        diagnosis = _diagnosis(error)
        if diagnosis is None:
            return
        from samedevice.doctor.annotations import as_annotations
        from samedevice.doctor.report import as_text, terminal_width
        from samedevice.doors import pytest_causes

        said = as_text(diagnosis, width=terminal_width(80))  # as pytest has it
        annotations = as_annotations(diagnosis)
        pytest_causes.note(report, diagnosis)
    except Exception as fault:
        failed = f"samedevice itself failed ({type(fault).__name__}: {fault})"
        said = said or f"This error could not be explained: {failed}."
    report.sections.append((_SECTION, said))
    vars(report)[_ANNOTATIONS] = annotations


def _is_explained(report: Any) -> bool:
    return _SECTION in dict(report.sections)


@pytest.hookimpl(specname="pytest_terminal_summary", wrapper=True, tryfirst=True)
def pytest_terminal_summary_once(terminalreporter: pytest.TerminalReporter) -> Generator[None, object, object]:
    """Show each cause once, before pytest prints the failures, unless everything is asked for."""
    option, stats = terminalreporter.config.option, terminalreporter.stats
    reports = [*stats.get("error", ()), *stats.get("failed", ())]
    some_are_hidden = option.tbstyle not in ("no", "line") and not option.fulltrace and terminalreporter.verbosity < 2
    if some_are_hidden and any(map(_is_explained, reports)):
        from samedevice.doors.pytest_causes import show_once

        terminalreporter.config.stash[_all_reports] = show_once(stats, _SECTION)
    try:
        return (yield)
    finally:
        _show_all(terminalreporter)


def _show_all(terminalreporter: pytest.TerminalReporter) -> None:
    everything: dict[str, list[Any]] = terminalreporter.config.stash.get(_all_reports, {})
    terminalreporter.stats.update(everything)


@pytest.hookimpl(tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Let a pull request on GitHub show the culprits on the lines to change; this runs after the failures."""
    _show_all(terminalreporter)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        reports = [*terminalreporter.getreports("failed"), *terminalreporter.getreports("error")]
        for annotations in dict.fromkeys(getattr(report, _ANNOTATIONS, "") for report in reports):
            terminalreporter.write(annotations)


@pytest.hookimpl(tryfirst=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector, call: pytest.CallInfo[Any], report: Any) -> None:
    """Let a debugger (`--pdb`) begin at the program's own line, where the traceback ends, as on CUDA."""
    if call.excinfo is None or node.config.option.fulltrace or not _is_explained(report):
        return
    entry: TracebackType | None = call.excinfo.tb
    last = call.excinfo.tb
    while entry:
        if not str(entry.tb_frame.f_globals.get("__name__")).startswith("samedevice.simulation"):
            last = entry
        entry = entry.tb_next
    last.tb_next = None


def _named(gpu_type: str) -> str:
    from samedevice.gpu_types import named  # here: most sessions name no model

    return named(gpu_type).name


def _begin(config: pytest.Config, asked: str | None, gpu_type: str | None) -> None:
    """Start the session's simulation, once, if it was asked for."""
    try:
        choice = gpu_choice.chosen()
        model = gpu_type and _named(gpu_type)
    except ValueError as error:
        raise pytest.UsageError(f"{error}.") from None
    if asked is None or _announcement in config.stash:
        return
    count = next((count for count in _COUNTS if asked == str(count)), None)
    if count is None:
        raise pytest.UsageError(f"--simulate-cuda takes the number of GPUs, 1 to 16, not {asked!r}.")
    if choice == "real":
        refusal = f"samedevice: no simulated GPUs, as {gpu_choice.CHOICE}=real forbids --simulate-cuda."
        config.stash[_announcement] = config.stash[_refusal] = refusal
        return
    if fault := _torch_is_missing():
        raise pytest.UsageError(f"--simulate-cuda {asked}: {fault}.")
    from samedevice.doors.where_they_fail import explain_where_they_fail
    from samedevice.simulation import simulate_cuda
    from samedevice.simulation.device import devices

    explain_where_they_fail()
    try:
        simulation = simulate_cuda([model] * count if model else count).start()
    except RuntimeError as error:  # pytest itself runs inside a simulation of fewer
        raise pytest.UsageError(f"--simulate-cuda {asked}: {error}.") from None
    config.add_cleanup(simulation.stop)
    installed = devices.installed()  # more than asked for, if pytest itself runs inside a simulation
    hidden = installed - devices.count()
    some = f", {hidden} of them hidden by {_visible()}" if hidden else ""
    named = f" ({model})" if model else ""
    config.stash[_announcement] = f"samedevice: {counted(installed, 'simulated GPU')}{named}, on the CPU{some}."


def _needed(item: pytest.Item) -> int:
    """Return how many GPUs the marker says, 0 without it."""
    marker = item.get_closest_marker("gpus")
    if marker is None:
        return 0
    numbers = [*marker.args, *marker.kwargs.values()]
    if len(numbers) != 1 or type(numbers[0]) is not int or numbers[0] not in _COUNTS:
        pytest.fail("@pytest.mark.gpus takes the number of GPUs that the test needs, 1 to 16: gpus(2).", pytrace=False)
    return numbers[0]


def _provide(item: pytest.Item, asked: bool) -> str:
    """Let a test have its GPUs until it has ended, simulated ones where `asked`; or say why it cannot have them."""
    if _own_simulation in item.stash:
        return ""
    marked = _needed(item)
    needed = marked or 1
    if fault := _torch_is_missing():
        return f"needs {counted(needed, 'GPU')}, and {fault}"
    import torch

    from samedevice.doors.where_they_fail import explain_where_they_fail
    from samedevice.simulation import simulate_cuda
    from samedevice.simulation.device import devices

    explain_where_they_fail()
    choice = gpu_choice.chosen()
    if installed := devices.installed():  # by the session, or by a fixture of the program's
        if devices.count() >= needed:
            return ""
        hidden = f", {_visible()}" if installed >= needed else ""
        return (
            f"needs {counted(needed, 'GPU')}, and this session has {counted(devices.count(), 'simulated GPU')}{hidden}"
        )
    # Not torch.cuda.is_available(), which may start CUDA: a test that forks could then not use it in the child.
    real = 0 if choice == "simulated" else torch.cuda.device_count()
    if marked and real >= needed:
        return ""
    has = f"needs {counted(needed, 'GPU')}, and this machine has {real}"
    if choice == "real":
        return f"{has}; {gpu_choice.CHOICE}=real forbids simulated ones"
    if not asked and choice != "simulated":
        return f"{has}; pytest --simulate-cuda {needed} simulates them"
    model = item.config.option.gpu_type
    simulation = simulate_cuda([model] * needed if model else needed).start()
    if devices.count() < needed:
        simulation.stop()
        return f"needs {counted(needed, 'GPU')}, and {_visible()} hides them, simulated ones too"
    item.stash[_own_simulation] = simulation
    return ""


def _torch_is_missing() -> str:
    """Say why there is no torch, or return ""."""
    try:
        import torch  # noqa: F401
    except Exception as error:  # an OSError where a library of the system's is missing
        if isinstance(error, ModuleNotFoundError) and error.name == "torch":
            return "PyTorch is not installed here: pip install torch"
        return f"torch cannot be imported: {type(error).__name__}: {error}"
    return ""


def _visible() -> str:
    return f"CUDA_VISIBLE_DEVICES={os.environ.get('CUDA_VISIBLE_DEVICES', '')!r}"


# What the doctor said of the error whose report is being made: pytest asks for each frame whether it is hidden.
_last: list[tuple[BaseException, "Diagnosis | None"]] = []


def _diagnosis(error: BaseException) -> "Diagnosis | None":
    """Explain an error, once; return None if it is no device error."""
    if not _last or _last[0][0] is not error:
        from samedevice.doctor import explain

        example = _of_a_doctest(error)
        if example is None:
            diagnosis = explain(error)
        else:
            from samedevice.doors.doctests import explain_example

            diagnosis = explain_example(example)
        _last[:] = [(error, diagnosis if diagnosis.message or _is_of_the_simulation(diagnosis) else None)]
    return _last[0][1]


def _is_of_the_simulation(diagnosis: "Diagnosis") -> bool:
    """Tell whether a test for a tensor's very class has failed, which no real GPU's tensor would fail."""
    from samedevice.doctor.simulated_class import KNOWN_DIFFERENCE

    return diagnosis.other is not None and diagnosis.other.id == KNOWN_DIFFERENCE


def _of_a_doctest(error: BaseException) -> "doctest.UnexpectedException | None":
    """Find the example that raised: doctest reports it by an error of its own, and pytest several by another."""
    if module := sys.modules.get("doctest"):
        several = type(error).__name__ == "MultipleDoctestFailures"
        for failure in error.failures if several else [error]:  # type: ignore[attr-defined]
            if isinstance(failure, module.UnexpectedException):
                return failure
    return None


def _hide_the_simulation() -> None:
    """End a device error's traceback at the program's own line, as on CUDA; `--full-trace` shows what was hidden.

    pytest looks for this name among the globals of a frame.
    https://docs.pytest.org/en/stable/example/simple.html#writing-well-integrated-assertion-helpers
    """
    simulation = sys.modules.get("samedevice.simulation")
    if simulation is not None and not hasattr(simulation, "__tracebackhide__"):
        for name, module in sys.modules.copy().items():
            if name.startswith("samedevice.simulation"):
                vars(module)["__tracebackhide__"] = _is_device_error


def _is_device_error(excinfo: "pytest.ExceptionInfo[Any] | None") -> bool:
    """Tell whether to hide frames: another error may be the simulation's own fault, and then its frames help."""
    try:
        if excinfo is not None and type(excinfo.value) is sys.modules["torch"].OutOfMemoryError:
            return True
        return excinfo is not None and _diagnosis(excinfo.value) is not None
    except Exception:
        return False
