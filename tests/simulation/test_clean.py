"""Outside a simulation torch is what it was, however the simulation ended; importing samedevice changes nothing."""

import operator
import signal
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from samedevice import simulate_cuda
from samedevice.simulation import session
from samedevice.simulation.patches import autocast, cuda
from samedevice.simulation.tensor import factories

# What torch itself sets on first use, simulated or not.
_CACHES = {
    ("torch.autograd.profiler", "_cupti_monitor_module"),
    ("torch.autograd.profiler", "_cupti_monitor_checked"),
    ("torch.optim.sgd.SGD", "step"),
    ("torch._opaque_base", "_FakeScriptObject_cls"),
    ("torch._custom_class_base", "_FakeScriptObject_cls"),  # the same from torch 2.14 on
}


def attributes() -> dict[str, dict[str, Any]]:
    """The attributes of every module of torch that is loaded, and of every class in them, by the owner's name."""
    found: dict[str, dict[str, Any]] = {}
    classes: set[Any] = set()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "torch" and issubclass(type(module), types.ModuleType):
            found[name] = dict(vars(module))
            classes.update(value for value in found[name].values() if issubclass(type(value), type))
    for cls in classes:
        if cls.__module__.partition(".")[0] == "torch":
            found[f"{cls.__module__}.{cls.__qualname__}"] = dict(vars(cls))
    return found


def kernels_in_the_dispatcher() -> set[tuple[str, str]]:
    """The operators that have a kernel of their own for autograd on the CPU, where composite_kernels.py adds some."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    keys = ("AutogradCPU", "AutocastCPU", "AutocastCUDA", "CPU", "Python")
    return {(name, key) for name in torch._C._dispatch_get_all_op_names() for key in keys if has(name, key)}


def changed(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """The attributes that differ, as (owner, name). What was imported meanwhile is no change."""
    places = []
    for owner in before.keys() & after.keys():
        old, new = before[owner], after[owner]
        if len(old) == len(new) and all(map(operator.is_, old.values(), new.values())):
            continue
        for name in old.keys() | new.keys():
            is_import = name not in old and issubclass(type(new[name]), types.ModuleType)
            is_its_own = name == "__warningregistry__" or name.startswith("_abc_") or (owner, name) in _CACHES
            if not is_import and not is_its_own and old.get(name, places) is not new.get(name, places):
                places.append((owner, name))
    return places


@pytest.fixture
def torch_stays() -> Iterator[None]:
    import torch._dynamo  # torch's optimizers do on first use, and it adds names to others

    before = attributes()
    registered = kernels_in_the_dispatcher()
    default = torch.get_default_device()
    yield
    assert changed(before, attributes()) == []
    assert kernels_in_the_dispatcher() == registered
    assert torch.get_default_device() == default
    assert not session._session._running and not session._session._changed


def train() -> None:
    """Touch most of what a simulation replaces."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout()).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.autocast("cuda"), torch.cuda.stream(torch.cuda.Stream()):
        loss = model(torch.randn(2, 3, device="cuda", generator=torch.Generator("cuda"))).sum()
    loss.backward()
    optimizer.step()
    assert "cuda:1" in repr(torch.cov(torch.randn(2, 3, device="cuda:1")))
    with pytest.raises(RuntimeError, match="same device"):
        model(torch.zeros(2, 3))


def test_the_walk_sees_the_names_that_a_simulation_replaces() -> None:
    before = attributes()
    with simulate_cuda(devices=2):
        found = {owner for owner, _ in changed(before, attributes())}
        registered = kernels_in_the_dispatcher()
    expected = {"torch", "torch.Tensor", "torch.cuda", "torch._C", "torch.autograd"}
    if hasattr(torch.accelerator, "Graph"):  # all else is answered below it; torch 2.11 has none
        expected.add("torch.accelerator")
    assert expected <= found
    assert registered > kernels_in_the_dispatcher()


def test_after_the_context_torch_is_as_before(torch_stays: None) -> None:
    with simulate_cuda(devices=2):
        train()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_after_an_exception_torch_is_as_before(torch_stays: None, error: type[BaseException]) -> None:
    with pytest.raises(error), simulate_cuda(devices=2):
        torch.zeros(1, device="cuda:1")
        raise error


def test_after_simulations_one_in_another_and_stopped_out_of_order_torch_is_as_before(torch_stays: None) -> None:
    outer, inner = simulate_cuda(devices=2).start(), simulate_cuda().start()
    with simulate_cuda(devices=2):
        outer.stop()
    assert torch.cuda.device_count() == 2
    inner.stop()


def test_after_a_refused_simulation_torch_is_as_before(torch_stays: None) -> None:
    with simulate_cuda(devices=1), pytest.raises(RuntimeError, match="devices=2"):
        simulate_cuda(devices=2).start()


class _Calls(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class _Operators(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "mode", [_Calls, _Operators, torch.no_grad, torch.inference_mode, lambda: torch.device("cpu")]
)  # fmt: skip
def test_with_a_mode_entered_meanwhile_and_left_afterwards_torch_is_as_before(
    torch_stays: None, mode: Callable[[], Any]
) -> None:
    simulation = simulate_cuda(devices=2).start()
    with mode():
        assert (torch.zeros(1, device="cuda") + 1).is_cuda
        simulation.stop()
        assert not torch.zeros(1).is_cuda


def test_a_default_device_that_was_simulated_ends_with_the_simulation(torch_stays: None) -> None:
    with simulate_cuda(devices=2):
        torch.set_default_device("cuda:1")
        assert torch.zeros(1).device.index == 1
    assert torch.zeros(1).device.type == "cpu"


def test_a_default_device_of_before_stays() -> None:
    torch.set_default_device("meta")
    try:
        with simulate_cuda(devices=1):
            torch.set_default_device("cuda")
        assert torch.get_default_device().type == "meta"
    finally:
        torch.set_default_device(None)


def test_a_thread_that_goes_on_after_the_simulation_gets_one_clear_sentence(torch_stays: None) -> None:
    ended = threading.Event()
    said = []

    def work() -> None:
        tensor = torch.zeros(1, device="cuda")
        ready.set()
        ended.wait()
        try:
            tensor + 1
        except RuntimeError as error:
            said.append(str(error))

    ready = threading.Event()
    with simulate_cuda(devices=1):
        thread = threading.Thread(target=work)
        thread.start()
        ready.wait()
    ended.set()
    thread.join()
    assert len(said) == 1 and "the simulation has ended" in said[0]


def test_simulations_one_after_another_in_threads_each_have_their_own_number_of_gpus(torch_stays: None) -> None:
    counts: list[int] = []

    def simulate(devices: int) -> None:
        with simulate_cuda(devices=devices):
            torch.zeros(1, device=f"cuda:{devices - 1}")
            counts.append(torch.cuda.device_count())

    for devices in (1, 3, 2):
        thread = threading.Thread(target=simulate, args=(devices,))
        thread.start()
        thread.join()
    assert counts == [1, 3, 2]


def test_real_gpus_are_hidden_by_simulated_ones_and_seen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)
    with simulate_cuda(devices=2):
        assert torch.cuda.device_count() == 2
        assert "Simulated" in torch.cuda.get_device_name(0)
    assert torch.cuda.device_count() == 8 and torch.cuda.is_available()


@pytest.mark.parametrize("part", [factories, cuda])
def test_a_part_that_fails_or_is_interrupted_while_starting_leaves_torch_as_before(
    torch_stays: None, part: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    replacements = part.replacements

    def interrupted() -> Iterator[Any]:
        yield from list(replacements())[:5]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(part, "replacements", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulate_cuda(devices=2).start()


@pytest.mark.parametrize(("owner", "name"), [(torch.library.Library, "_destroy"), (autocast, "stop")])
def test_who_is_interrupted_while_stopping_leaves_torch_as_before(
    torch_stays: None, owner: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, times = getattr(owner, name), iter([KeyboardInterrupt])

    def interrupted(*args: Any) -> None:
        for error in times:
            raise error
        stop(*args)

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(KeyboardInterrupt), simulate_cuda(devices=2):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("when", ["start", "stop"])
def test_ctrl_c_at_any_line_of_starting_or_stopping_leaves_torch_as_before(
    torch_stays: None, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGINT at the n-th line that session.py executes: at each of the first, then at some of the many alike."""
    # A tracer, unlike SIGINT, can also raise between the end of a `with` block and its __exit__: that lock stays taken.
    monkeypatch.setattr(session._session, "lock", threading.RLock())

    def run(line: int) -> int:
        executed = 0

        def trace(frame: Any, event: str, argument: Any) -> Any:
            nonlocal executed
            if not frame.f_code.co_filename.endswith(("session.py", "composite_kernels.py")):
                return None
            if event == "line":
                executed += 1
                if executed == line:
                    sys.settrace(None)
                    signal.raise_signal(signal.SIGINT)
            return trace

        simulation = simulate_cuda(devices=2)
        if when == "stop":
            simulation.start()
        sys.settrace(trace)
        try:
            simulation.start() if when == "start" else simulation.stop()
        except KeyboardInterrupt:
            interrupted.append(line)
        finally:
            sys.settrace(None)
        if simulation._tokens:
            simulation.stop()
        assert not torch.cuda.is_available() and not session._session._running and not session._session._changed
        return executed

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupted: list[int] = []
    try:
        lines = run(0)
        places = [*range(1, 40), *range(40, lines - 40, lines // 12), *range(lines - 40, lines + 1)]
        for line in places:
            run(line)
    finally:
        signal.signal(signal.SIGINT, before)
    assert interrupted == places


@pytest.mark.slow
def test_importing_samedevice_changes_nothing() -> None:
    program = """
import torch
from tests.simulation.test_clean import attributes, changed, kernels_in_the_dispatcher
before, registered = attributes(), kernels_in_the_dispatcher()
for name in [name for name in sys.modules if name.startswith("samedevice")]:
    del sys.modules[name]
import samedevice, samedevice.simulation
assert changed(before, attributes()) == [] and kernels_in_the_dispatcher() == registered
"""
    assert run_alone("import sys; sys.path.insert(0, '.')" + program) == ""


@pytest.mark.slow
def test_a_program_that_never_stops_its_simulation_ends_quietly() -> None:
    assert (
        run_alone("""
import torch, samedevice
simulation = samedevice.simulate_cuda(2).start()
torch.set_default_device("cuda")
kept = torch.nn.Linear(2, 2)
kept(torch.ones(2)).sum().backward()
""")
        == ""
    )


@pytest.mark.slow
def test_torch_imported_piece_by_piece_inside_a_simulation_works_inside_and_after_it() -> None:
    assert (
        run_alone("""
import torch
from samedevice import simulate_cuda
with simulate_cuda():
    import torch._dynamo, torch.fx, torch.distributed, torch.testing, torch.utils.data
torch.testing.assert_close(torch.zeros(2), torch.zeros(2))
torch._dynamo.reset()
""")
        == ""
    )


def run_alone(program: str) -> str:
    """What a program writes, in a Python of its own where warnings are errors of ours alone."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr
