"""What the plugin costs who does not use it, how it is switched on and off, and what it says of a wrong number."""

import pytest

EMPTY = {"test_one.py": "def test_one():\n    pass\n"}
ASKING = """
import pytest

@pytest.mark.gpus(2)
def test_marked():
    pass

def test_fixture(simulated_cuda):
    pass

def test_other():
    pass
"""
# Sessions in one process.
EACH = "import pytest\nfor option in {!r}: print(int(pytest.main(['-p', 'samedevice', option])))"


def test_a_session_that_does_not_use_it_loads_nothing_else(run_session):
    loaded = """
import sys

def test_loaded():
    ours = [name for name in sys.modules if name.partition(".")[0] == "samedevice"]
    theirs = ["samedevice.doors", "samedevice.doors.pytest_plugin", "samedevice.gpu_choice", "samedevice.plurals"]
    assert sorted(ours) == ["samedevice", *theirs]
    assert "torch" not in sys.modules

def test_fails():
    raise RuntimeError("Expected all tensors to be on the same device")
"""
    # As it is installed, beside whatever else is.
    session = run_session({"test_one.py": loaded}, autoload=True)
    assert "1 failed, 1 passed" in session.out, session
    assert "samedevice:" not in session.out
    assert "- samedevice -" not in session.out


def test_a_number_out_of_range_is_one_sentence(run_session):
    numbers = ["0", "17", "-1", "two", "", "1.5", "01", "\uff11"]
    session = run_session(EMPTY, start=("-X", "utf8", "-c", EACH.format([f"--simulate-cuda={one}" for one in numbers])))
    said = [line for line in session.err.splitlines() if line]
    assert said == [f"ERROR: --simulate-cuda takes the number of GPUs, 1 to 16, not {one!r}." for one in numbers]
    assert session.out.splitlines() == [str(int(pytest.ExitCode.USAGE_ERROR))] * len(numbers)


MODELS = {
    "test_models.py": """
import torch
def test_of_the_session(request):
    if torch.cuda.is_available():
        assert torch.cuda.get_device_name() == "Tesla T4"
def test_of_its_own(simulated_cuda):
    assert torch.cuda.get_device_name() == "Tesla T4"
"""
}


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--simulate-cuda", "2"], []])
def test_gpus_are_of_the_model_that_was_named(run_session, options):
    session = run_session(MODELS, *options, "--gpu-type", "NVIDIA T4")
    assert "2 passed" in session.out
    assert ("samedevice: 2 simulated GPUs (Tesla T4), on the CPU." in session.out) is bool(options)


@pytest.mark.slow
def test_a_full_gpu_ends_the_traceback_at_the_line_of_the_test(run_session):
    test = 'import torch\ndef test_of_memory(simulated_cuda):\n    torch.zeros(2**40, device="cuda")\n'
    session = run_session({"test_memory.py": test})
    assert "E       torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4096.00 GiB." in session.out
    assert "making.py" not in session.out
    assert "memory.py:3: OutOfMemoryError" in session.out


def test_an_unknown_model_is_one_sentence(run_session):
    session = run_session(EMPTY, "--gpu-type", "T5")
    assert session.err.strip().startswith("ERROR: no GPU 'T5' can be simulated, but these can: Tesla P100-PCIE-16GB, ")
    assert session.code == pytest.ExitCode.USAGE_ERROR


def test_an_unknown_choice_is_one_sentence(run_session):
    session = run_session(EMPTY, SAMEDEVICE_GPUS="none")
    assert session.err.strip() == "ERROR: SAMEDEVICE_GPUS is 'none': set it to real or to simulated, or unset it."
    assert session.code == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("options", [[], ["-q"], ["--no-header"], ["-qq"]])
def test_real_gpus_alone_forbid_the_option_and_it_is_said_once(run_session, options):
    session = run_session(EMPTY, "--simulate-cuda", "2", *options, SAMEDEVICE_GPUS="real")
    assert session.out.count("samedevice: no simulated GPUs, as SAMEDEVICE_GPUS=real forbids --simulate-cuda.") == 1
    assert session.code == pytest.ExitCode.OK


MISSING = [
    (
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')",
        "PyTorch is not installed here: pip install torch",
    ),
    (
        "raise OSError('libcudart.so: cannot open shared object file')",
        "torch cannot be imported: OSError: libcudart.so: cannot open shared object file",
    ),
    (
        "raise ModuleNotFoundError(\"No module named 'sympy'\", name='sympy')",
        "torch cannot be imported: ModuleNotFoundError: No module named 'sympy'",
    ),
]


@pytest.mark.parametrize(("torch", "fault"), MISSING)
def test_without_torch_the_option_is_refused_and_tests_are_skipped_with_the_reason(run_session, torch, fault):
    files = {"torch.py": torch, "test_one.py": ASKING}
    session = run_session(files, start=("-c", EACH.format(["--simulate-cuda=1", "-rs"])))
    assert session.err.strip() == f"ERROR: --simulate-cuda 1: {fault}."
    assert f"needs 2 GPUs, and {fault}\n" in session.out
    assert f"needs 1 GPU, and {fault}\n" in session.out
    assert "1 passed, 2 skipped" in session.out


WORKER = """
import torch
from torch.utils.data import DataLoader, Dataset

class Scaled(Dataset):
    def __init__(self):
        self.scale = torch.ones(3, device="meta")

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return torch.addcmul(torch.ones(3), torch.ones(3), self.scale)

def test_of_a_worker(simulated_cuda):
    next(iter(DataLoader(Scaled(), num_workers=1)))
"""


@pytest.mark.slow
def test_an_error_of_a_worker_is_explained_from_its_frames_for_the_fixture_too(run_session):
    session = run_session({"test_worker.py": WORKER})
    says = "`self.scale` (shape (3,)) is on meta. It is a plain attribute of Scaled."
    assert says in session.reports["test_of_a_worker"]["said"]


def test_switched_off_it_is_not_there(run_session):
    session = run_session(EMPTY, "-p", "no:samedevice", "--simulate-cuda", "1", autoload=True)
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert "unrecognized arguments: --simulate-cuda" in session.err


def test_pytest_lists_its_option_marker_and_fixture(run_session):
    seen = run_session(EMPTY, start=("-c", EACH.format(["--help", "--markers", "--fixtures"]))).out
    assert "--simulate-cuda=N" in seen
    assert "@pytest.mark.gpus(n): needs n GPUs." in seen
    assert "\nsimulated_cuda" in seen
