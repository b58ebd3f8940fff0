"""A simulation begins, and every thread sees it. That it leaves no trace: test_clean.py."""

import gc
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from samedevice import simulate_cuda
from samedevice.simulation import stand_ins
from samedevice.simulation.rules import native_functions


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True])
def test_the_number_of_gpus_must_be_a_positive_integer(wrong: object) -> None:
    with pytest.raises(ValueError, match="integer of at least 1") as refusal:
        simulate_cuda(devices=wrong)  # type: ignore[arg-type]
    assert repr(wrong) in str(refusal.value)


def test_start_and_stop_do_what_the_context_does() -> None:
    simulation = simulate_cuda(2).start()
    try:
        assert torch.cuda.device_count() == 2
    finally:
        simulation.stop()
    with pytest.raises(RuntimeError, match=r"not running.*stop\(\) once"):
        simulation.stop()


def test_a_nested_simulation_of_as_many_gpus_or_fewer_joins_the_running_one() -> None:
    with simulate_cuda(devices=2):
        with simulate_cuda(), simulate_cuda(devices=2):
            assert torch.cuda.device_count() == 2
        with pytest.warns(UserWarning, match=r"2 GPU.* of 1 joins it: torch.cuda.device_count\(\) is 2 here") as said:
            simulate_cuda(devices=1).start().stop()
        assert said[0].filename == __file__
        with pytest.warns(UserWarning, match="joins it") as said, simulate_cuda(devices=1):
            assert torch.zeros(1, device="cuda:1").device.index == 1
        assert said[0].filename == __file__
    with simulate_cuda():
        assert torch.cuda.device_count() == 1


def test_a_nested_simulation_of_more_gpus_is_refused_and_changes_nothing() -> None:
    with simulate_cuda(devices=2):
        with pytest.raises(RuntimeError, match=r"2 GPU.*3") as refusal:
            simulate_cuda(devices=3).start()
        assert "devices=3" in str(refusal.value)
        assert torch.cuda.device_count() == 2


def draws(device: str) -> list[object]:
    torch.manual_seed(2)
    torch.cuda.manual_seed(9)  # which does nothing where there is no GPU
    x = torch.randn(3, device=device)
    generator = torch.Generator(device).manual_seed(4)
    state = generator.get_state()
    drawn = [torch.rand(2, generator=generator, device=device).tolist() for _ in range(2)]
    generator.set_state(state)
    again = torch.rand(2, generator=generator, device=device).tolist()
    return [x.tolist(), drawn, again, torch.nn.functional.dropout(x).tolist(), torch.randn(2).tolist()]


def test_with_the_cpus_generator_gpus_draw_what_the_cpu_does() -> None:
    on_the_cpu = draws("cpu")
    with simulate_cuda(devices=2, rng="cpu"):
        assert draws("cuda:1") == on_the_cpu
        with simulate_cuda():
            assert draws("cuda:0") == on_the_cpu
        with pytest.raises(RuntimeError, match="rng='cuda' cannot start inside it"):
            simulate_cuda(rng="cuda").start()
    with simulate_cuda(devices=2):
        assert draws("cuda:1") != on_the_cpu
        with pytest.raises(RuntimeError, match="rng='cpu' cannot start inside it"):
            simulate_cuda(rng="cpu").start()


def test_another_word_for_the_generators_is_refused() -> None:
    with pytest.raises(ValueError, match='rng must be "cpu" or "cuda", whose numbers the GPUs draw; got \'gpu\''):
        simulate_cuda(rng="gpu")  # type: ignore[arg-type]


@pytest.mark.parametrize(("visible", "seen"), [("1", 1), ("0,1", 2), ("1,0", 2), ("", 0), ("-1", 0), ("0,7,1", 1)])
def test_cuda_visible_devices_hides_gpus(monkeypatch: pytest.MonkeyPatch, visible: str, seen: int) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with simulate_cuda(devices=2):
        assert (torch.cuda.device_count(), torch.cuda.is_available()) == (seen, seen > 0)


def test_hidden_gpus_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with simulate_cuda(devices=2), pytest.raises(RuntimeError, match="No CUDA GPUs are available"):
        torch.zeros(1, device="cuda")


def test_an_accelerator_that_nobody_checked_is_named_where_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with simulate_cuda(devices=1):
        assert torch.accelerator.current_accelerator(check_available=True) is None
        chosen = torch.accelerator.current_accelerator() or "cpu"
        with pytest.raises(RuntimeError, match="No CUDA GPUs are available"):
            torch.nn.Linear(3, 1).to(chosen)


def test_a_line_that_asks_for_another_accelerator_leaves_the_batch_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)  # also on a Mac
    with simulate_cuda(devices=1):
        model = torch.nn.Linear(3, 1).to(torch.accelerator.current_accelerator())
        chosen = "mps" if torch.backends.mps.is_available() else "cpu"
        with pytest.raises(RuntimeError, match="got mat1 is on cpu, different from other tensors on cuda:0"):
            model(torch.ones(4, 3).to(chosen))


def test_a_program_may_hide_gpus_until_it_uses_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with simulate_cuda(devices=2):
        assert torch.cuda.device_count() == 2
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
        assert (torch.cuda.device_count(), str(torch.zeros(1, device="cuda").device)) == (1, "cuda:0")
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
        assert torch.cuda.device_count() == 1
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            torch.zeros(1, device="cuda:1")


def test_an_ordinal_too_high_raises_the_text_of_cuda(two_gpus: None) -> None:
    for use in (
        lambda: torch.zeros(1, device="cuda:5"),
        lambda: torch.zeros(1).cuda(2),
        lambda: torch.cuda.set_device(9),
    ):
        with pytest.raises(torch.AcceleratorError) as refusal:
            use()
        assert str(refusal.value) == (
            "CUDA error: invalid device ordinal\n"
            "GPU device may be out of range, do you have enough GPUs?\n"
            "For more detailed error information, run with CUDA_LOG_FILE=stderr\n"
        )


def test_threads_older_and_newer_than_the_simulation_see_it() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(threading.get_ident).result() != threading.get_ident()
        with simulate_cuda(devices=2):
            older = pool.submit(lambda: str(torch.zeros(1, device="cuda:1").device)).result()
            with ThreadPoolExecutor(1) as newer:
                assert newer.submit(lambda: str(torch.zeros(1).cuda().device)).result() == "cuda:0"
    assert older == "cuda:1"


def test_each_thread_has_its_own_current_gpu(two_gpus: None) -> None:
    torch.cuda.set_device(1)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(torch.cuda.current_device).result() == 0
    assert torch.cuda.current_device() == 1


def test_the_table_of_operators_is_read_only_when_devices_first_differ() -> None:
    native_functions._entries.cache_clear()
    native_functions.operator.cache_clear()
    with simulate_cuda(devices=1):
        model = torch.nn.Linear(2, 2).cuda()
        model(torch.zeros(1, 2, device="cuda")).sum().backward()
        assert native_functions._entries.cache_info().currsize == 0
        with pytest.raises(RuntimeError, match="same device"):
            model(torch.zeros(1, 2))
        assert native_functions._entries.cache_info().currsize == 1


def test_a_simulation_keeps_nothing_of_the_functions_that_it_put_in_place() -> None:
    def stand_ins_after(simulations: int) -> int:
        for _ in range(simulations):
            with simulate_cuda(devices=1):
                pass
        gc.collect()
        return sum(type(x) is stand_ins.StandIn for x in gc.get_objects())

    assert stand_ins_after(2) == stand_ins_after(3)


def test_without_torch_the_import_error_names_the_line_to_type() -> None:
    program = """
import sys
sys.modules["torch"] = None  # as if it were not installed
import samedevice
try:
    samedevice.simulate_cuda
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "PyTorch" in done.stdout
    assert "pip install torch" in done.stdout


def test_importing_samedevice_does_not_import_torch() -> None:
    program = "import sys, samedevice, lessons; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_autocast_that_was_refused_on_entering_ends_with_the_simulation() -> None:
    with simulate_cuda(), pytest.raises(TypeError), torch.autocast("cuda", dtype="float16"):  # type: ignore[arg-type]
        pass
    assert not torch.is_autocast_enabled("cuda")
