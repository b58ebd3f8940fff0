"""`samedevice run`: the script is none the wiser, its errors are explained, misuse is one sentence."""

import os
import re
import sys
import zipapp
import zipfile
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest

from samedevice.doors import program
from samedevice.doors.cli import main
from samedevice.tested_torch import TESTED

RUN = ("-m", "samedevice", "run")
NO_TORCH = (
    "samedevice: the script did not import torch itself, so it ran without simulated GPUs, as do programs it starts.\n"
)

# What a script may ask about itself.
CURIOUS = """
import inspect, sys
import __main__
print(__name__, __file__, sys.argv, sys.path, sys.modules["__main__"] is __main__, __package__, __spec__)
print(sorted(globals()), type(__loader__), __builtins__, __doc__, sys.flags.safe_path)
class Here: ...
print(inspect.getsource(Here), Here.__module__, sys._getframe().f_code.co_filename)
print("torch" in sys.modules, sys.stdin.read())
"""


@pytest.mark.parametrize("script", ["look.py", "./look.py", "below/../look.py", "below/link.py", "{}/look.py"])
def test_a_script_sees_what_python_shows_it(python, tmp_path, script):
    (tmp_path / "look.py").write_text(CURIOUS)
    (tmp_path / "below").mkdir()
    if os.name != "nt":  # links need a right there
        (tmp_path / "below" / "link.py").symlink_to(tmp_path / "look.py")
    elif "link" in script:
        pytest.skip("Windows gives few users the right to make links")
    arguments = [script.format(tmp_path), "--gpus", "3", "--", "--help", "-x"]
    plain, run = python(*arguments, input="from stdin"), python(*RUN, *arguments, input="from stdin")
    assert run.stdout == plain.stdout
    assert "False from stdin" in run.stdout
    assert (run.returncode, run.stderr) == (0, NO_TORCH)


def test_a_safe_path_stays_safe(python, tmp_path):
    (tmp_path / "look.py").write_text(CURIOUS)
    plain, run = python("-P", "look.py"), python("-P", *RUN, "look.py")
    assert run.stdout == plain.stdout
    assert str(tmp_path) not in run.stdout.splitlines()[0].partition("[")[2].replace("look.py", "")


# Each way to name a program, and what it is read from.
WAYS = {
    "module": ["-m", "pkg.train"],
    "module in one word": ["-mpkg.train"],
    "package": ["-m", "pkg"],
    "folder": ["./pkg"],
    "archive": ["below/../pkg.pyz"],
    "standard input": ["-"],
}


def write_package(folder, program):
    """The same program as a module of a package, as its __main__.py and in an archive."""
    (folder / "below").mkdir()
    (folder / "pkg").mkdir()
    for name, text in {"__init__": "", "train": program, "__main__": program}.items():
        (folder / "pkg" / f"{name}.py").write_text(text)
    zipapp.create_archive(folder / "pkg", folder / "pkg.pyz")


def without_addresses(text):
    return re.sub("0x[0-9a-f]+", "0x", text)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_module_a_folder_an_archive_and_standard_input_see_what_python_shows_them(python, tmp_path, way):
    curious = CURIOUS.replace("print(inspect.getsource(Here), ", "print(") if way == "standard input" else CURIOUS
    write_package(tmp_path, curious)
    arguments = [*WAYS[way], "--gpus", "3", "--", "--help", "-x", "-m", "-"]
    for safe in ((), ("-P",)) if WAYS[way][0][:2] != "-m" else ((),):
        plain = python(*safe, *arguments, input=curious)
        run = python(*safe, *RUN, *arguments, input=curious)
        assert without_addresses(run.stdout) == without_addresses(plain.stdout)
        assert "__main__ " in run.stdout
        assert (run.returncode, run.stderr) == (0, NO_TORCH)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("end", ["1 / 0", "import sys; sys.exit(3)"])
def test_they_end_as_under_python(python, tmp_path, way, end):
    program = f"def end():\n    {end}\n\n\nprint('begun')\nend()\n"
    write_package(tmp_path, program)
    plain, run = python(*WAYS[way], input=program), python(*RUN, *WAYS[way], input=program)
    assert (run.returncode, run.stdout) == (plain.returncode, plain.stdout)
    # From Python 3.13 on, what stands in linecache is shown: the lines of standard input are there for the doctor.
    shown, expected = (
        [line for line in one.stderr.removesuffix(NO_TORCH).splitlines() if way != "standard input" or "  File" in line]
        for one in (run, plain)
    )
    assert shown == expected


def test_the_installed_command_finds_modules_where_python_m_does(python, tmp_path):
    write_package(tmp_path, "import sys\nprint(sys.path[0], sys.argv)\n")
    as_installed = "import sys; sys.path[0] = '/bin'; from samedevice.doors.cli import main; sys.exit(main())"
    run = python("-c", as_installed, "run", "-m", "pkg.train", "-m")
    assert run.stdout == python("-m", "pkg.train", "-m").stdout


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_device_error_of_theirs_is_explained_with_its_line(python, tmp_path, way):
    program = "import torch\n\nweight = torch.ones(3)\nprint(weight * torch.ones(3, device='cuda'))\n"
    write_package(tmp_path, program)
    run = python(*RUN, *WAYS[way], input=program)
    assert run.returncode == 1
    assert "`weight` (shape (3,)) is on cpu" in run.stderr
    assert "+ weight = torch.ones(3, device=" in run.stderr
    assert "doors" not in run.stderr and "runpy" not in run.stderr and "of libraries" not in run.stderr


def test_the_installed_command_is_the_same_door(python, tmp_path):
    (tmp_path / "look.py").write_text(CURIOUS)
    (entry,) = (one for one in entry_points(group="console_scripts") if one.name == "samedevice")
    assert entry.load() is main
    as_installed = "import sys; from samedevice.doors.cli import main; sys.exit(main())"
    run = python("-c", as_installed, "run", "look.py", "--full")
    assert run.stdout == python("look.py", "--full").stdout


@pytest.mark.parametrize(
    "ends",
    [
        "pass",
        "raise SystemExit",
        "import sys; sys.exit(3)",
        "import sys; sys.exit('a last word')",
        "import sys; sys.exit(True)",
        "import sys\ntry:\n    1 / 0\nfinally:\n    sys.exit(4)",
        "import atexit\natexit.register(print, 'at exit')\nraise ValueError('of its own')",
        "def f(n):\n    return f(n + 1)\nf(0)",
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise KeyError('twice') from error",
        "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
        "import sys\nsys.excepthook = lambda kind, *error: print('hook', error[0], error[1].tb_lineno)\n1 / 0",
        "import sys\ndef hook(*error):\n    sys.exit(7)\nsys.excepthook = hook\nraise ValueError('x')",
        "import sys\ndef hook(*error):\n    1 / 0\nsys.excepthook = hook\nraise ValueError('x')",
        "import sys\nsys.excepthook = None\nraise ValueError('x')",
        "import sys\nsys.excepthook = lambda *_: print(sys.last_value, sys.exc_info())\n1 / 0",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Of(Exception):\n    a: int\nraise Of(3)",
        "import sys\nclass Bare:\n    write = sys.stderr.write\nsys.stderr = Bare()\nraise ValueError('x')",
        "open('tomllib.py', 'w').write('1 / 0')  # which the doctor needs\nraise ValueError('x')",
        "import threading\nthreading.Thread(target=lambda: print('thread')).start()\nraise ValueError('x')",
        "raise KeyboardInterrupt",
        "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
        "import multiprocessing\nprint(multiprocessing.current_process().name)\nraise SystemExit(5)",
    ],
)
def test_a_script_ends_as_under_python(python, tmp_path, ends):
    (tmp_path / "end.py").write_text(f"print('begun')\n{ends}\n")
    plain, run = python("end.py"), python(*RUN, "end.py")
    assert run.returncode == plain.returncode
    assert run.stdout == plain.stdout
    # We stand on the stack too, so it overflows some calls earlier.
    shown, expected = (re.sub(r"repeated \d+ more", "repeated", one.stderr) for one in (run, plain))
    assert shown.removesuffix(NO_TORCH) == expected


def test_what_follows_the_script_under_i_is_not_silent(python, tmp_path):
    (tmp_path / "end.py").write_text("x = 1\n1 / 0\n")
    plain, run = (python("-i", *before, "end.py", input="print(x)\nmissing\n") for before in ((), RUN))
    assert (run.stdout, run.stderr) == (plain.stdout, plain.stderr)
    assert "NameError" in run.stderr


def test_a_torch_that_cannot_be_imported_fails_as_under_python(python, tmp_path):
    (tmp_path / "torch.py").write_text("raise OSError('libcudart.so')\n")
    (tmp_path / "train.py").write_text("import torch\n")
    plain, run = python("train.py"), python(*RUN, "train.py")
    assert (run.returncode, run.stderr) == (plain.returncode, plain.stderr)
    assert "OSError: libcudart.so" in run.stderr


def test_a_torch_that_is_not_pytorch_is_named(python, tmp_path):
    (tmp_path / "torch.py").write_text("")
    (tmp_path / "train.py").write_text("import torch\n")
    run = python(*RUN, "train.py")
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert f"{str(tmp_path / 'torch.py')!a}, which should be PyTorch {TESTED} (AttributeError: " in run.stderr


BROKEN = """
import threading
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 3)
        self.scale = torch.ones(3)

    def forward(self, x):
        return self.layer(x) * self.scale


model = nn.Sequential(Net()).to(device)
for step in range(3):
    thread = threading.Thread(target=model, args=[torch.ones(2, 8).to(device)], name="worker")
    thread.start()
    thread.join()
    model(torch.ones(2, 8).to(device))
"""


@pytest.mark.slow
def test_a_device_error_is_explained_before_its_traceback_in_a_thread_too(forked, tmp_path):
    (tmp_path / "train.py").write_text(BROKEN)
    run = forked(*RUN, "train.py")
    assert (run.returncode, run.stdout) == (1, "")
    begins, _, rest = run.stderr.partition("\n")
    assert begins == "samedevice: 1 simulated GPU, on the CPU (--gpus 2 for two)."
    diagnosis, _, rest = rest.partition("Exception in thread worker:\nTraceback (most recent call last):\n")
    assert "`self.scale`" in diagnosis
    thread, _, rest = rest.partition("and cpu!\n")
    assert "doors" not in thread and "tensor.py" not in thread
    diagnosis, _, trace = rest.partition("Traceback (most recent call last):\n")
    assert "`self.scale` (shape (3,)) is on cpu. It is a plain attribute of Net." in diagnosis
    assert '    + self.register_buffer("scale", torch.ones(3), persistent=False)' in diagnosis
    assert re.findall(r'File ".*", line \d+|\[\d+ frames? of libraries: --full shows all\]', trace) == [
        f'File "{tmp_path}{os.sep}train.py", line 24',
        "[5 frames of libraries: --full shows all]",
        f'File "{tmp_path}{os.sep}train.py", line 16',
    ]
    assert trace.endswith(
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!\n"
    )


# A worker's class is the script's own, and the worker is a process that imports the script anew.
UNCHANGED = """
import os, pickle, sys
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
import importlib.util
assert importlib.util.find_spec("torch") is not None
import torch
from torch import tensor
from torch.utils.data import DataLoader, Dataset
from samedevice import simulate_cuda

SEEN = torch.cuda.device_count()

class Counting(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return {"index": index, "main": __name__, "seen": SEEN}

if __name__ == "__main__":
    assert type(pickle.loads(pickle.dumps(Counting()))) is Counting
    for context in ("spawn", "fork" if hasattr(os, "fork") else "spawn"):
        for batch in DataLoader(Counting(), batch_size=2, num_workers=1, multiprocessing_context=context):
            print(batch["index"].to("cuda").device, batch["main"], batch["seen"].tolist())
        if sys.platform == "win32":
            break
    with simulate_cuda(1):
        pass
    print(tensor([1], device="cuda").device, torch.__spec__.loader.exec_module.__qualname__)
    torch.ones(2, 3, device="cuda") @ torch.ones(2, 3, device="cuda")
"""


UMLAUTS = "import torch\nä = torch.ones(3, device='cuda')\nprint('Gerät', ä + torch.ones(3))\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({}, "Gerät 1 ü"),
        # Names of files are in the encoding of the locale, and what is printed in another.
        ({"PYTHONUTF8": "0", "LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "ascii"}, r"Ger\xe4t 1 \xfc"),
    ],
)
def test_a_folder_with_spaces_and_umlauts_is_named_in_any_encoding(python, tmp_path, settings, shown):
    script = tmp_path / "Gerät 1 ü" / "a script.py"
    script.parent.mkdir()
    script.write_text(UMLAUTS, "utf-8")
    run = python(*RUN, str(script), **settings)
    assert run.returncode == 1
    assert f"{shown}{os.sep}a script.py, line 3\n" in run.stderr
    assert "found at least two devices, cuda:0 and cpu!" in run.stderr
    assert "UnicodeEncodeError" not in run.stderr


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="what is printed has the forked worker's line")
def test_an_unchanged_script_with_workers_classes_and_settings_of_its_own_runs(python, tmp_path):
    (tmp_path / "train.py").write_text(UNCHANGED)
    run = python("-W", "ignore", *RUN, "--gpus", "2", "train.py")
    assert run.stdout.splitlines() == [
        "cuda:0 ['__mp_main__', '__mp_main__'] [1, 1]",
        "cuda:0 ['__main__', '__main__'] [1, 1]",
        "cuda:0 _LoaderBasics.exec_module",
    ]
    line, _, trace = run.stderr.partition("\n")
    assert line == "samedevice: 2 simulated GPUs, on the CPU, 1 of them seen through CUDA_VISIBLE_DEVICES=1."
    failing = UNCHANGED.splitlines()[-1]
    where = f'  File "{tmp_path}/train.py", line {len(UNCHANGED.splitlines())}, in <module>\n{failing}\n'
    assert trace.startswith(f"Traceback (most recent call last):\n{where}")
    assert trace.endswith("\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)\n")
    assert trace.count("  File ") == 1, "an error of another kind is shown as Python shows it, without our frames"
    assert run.returncode == 1


MOVES = """
import torch
from samedevice.doors import copies
print(copies.summary())
weight = torch.ones(4, device="cuda")
print(copies.summary())
for step in range(5):
    x = torch.ones(4, requires_grad=True)
    (x.to("cuda") * weight).sum().backward()
x = torch.ones(1000).cuda(1)
x.to("cuda:1")
x.to(torch.float64)
weight.copy_(torch.zeros(4))
weight[torch.tensor([0])]
weight[torch.tensor([0])] = 1.0
print(copies.summary())
import train
"""


@pytest.mark.slow
def test_the_summary_says_what_moved_and_where_and_full_shows_all_of_a_traceback(python, tmp_path):
    (tmp_path / "moves.py").write_text(MOVES)
    (tmp_path / "train.py").write_text(BROKEN)
    on_a_real_gpu = "import sys, samedevice.doors.simulated as simulated; simulated._real_gpus = lambda: 1; "
    on_a_real_gpu += "from samedevice.doors.cli import main; sys.exit(main())"
    run = python("-c", on_a_real_gpu, "run", "--full", "--summary", "--gpus", "3", "moves.py")
    assert run.returncode == 1
    begins, _, rest = run.stderr.partition("\n")
    assert (
        begins
        == "samedevice: 3 simulated GPUs, on the CPU; 1 real GPU of this machine stays unused without --gpus real."
    )
    *before, after = run.stdout.splitlines()
    assert before == ["['no GPU was used: everything ran on the CPU.']", "['no tensor moved between devices.']"]
    moved = [
        "moved between devices:",
        "cpu to cuda:0: 8 tensors, 112 B; 5 of them at moves.py, line 9",
        "cuda:0 to cpu: 5 tensors, 80 B; at moves.py, line 9",
        "cpu to cuda:1: 1 tensor, 4 kB; at moves.py, line 10",
    ]
    assert eval(after) == moved
    _, _, rest = rest.partition("and cpu!\n")  # the thread's
    diagnosis, _, trace = rest.partition("Traceback (most recent call last):\n")
    assert "`self.scale`" in diagnosis
    assert trace.count(f"{os.sep}torch{os.sep}nn{os.sep}modules{os.sep}") == 5
    assert "frames of libraries" not in trace
    assert "doors" not in trace
    moved[1] = "cpu to cuda:0: 12 tensors, 348 B; 5 of them at moves.py, line 9"
    assert trace.endswith("samedevice: " + "\n  ".join(moved) + "\n")


RANDOM = """
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
torch.cuda.manual_seed_all(7)  # which does nothing where there is no GPU
model = nn.Sequential(nn.Linear(8, 8, device=device), nn.Dropout(0.5), nn.Linear(8, 2)).to(device)
optimizer = torch.optim.Adam(model.parameters())
generator = torch.Generator(device).manual_seed(3)
for step in range(3):
    x = torch.randn(4, 8, device=device) + torch.rand(4, 8, generator=generator, device=device)
    kept = generator.get_state()
    loss = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False).square().mean()
    loss.backward()
    optimizer.step()
    again = torch.randperm(5, generator=generator, device=device).tolist()
    generator.set_state(kept)
    print(loss.item(), again, torch.randperm(5, generator=generator, device=device).tolist())
print(torch.randn(2).tolist())
"""


@pytest.mark.weekly
@pytest.mark.slow
def test_with_the_cpus_generator_a_run_has_the_cpus_numbers_digit_by_digit(python, tmp_path):
    (tmp_path / "train.py").write_text(RANDOM)
    plain, run = python("train.py", CUDA_VISIBLE_DEVICES=""), python(*RUN, "--rng", "cpu", "train.py")
    assert run.returncode == plain.returncode == 0, run.stderr
    assert run.stdout == plain.stdout
    assert run.stderr == "samedevice: 1 simulated GPU, on the CPU, with the CPU's random numbers (--gpus 2 for two).\n"
    assert python(*RUN, "train.py").stdout != plain.stdout


IN_A_STRING = """
import torch
exec("torch.ones(3).to('cuda')")
exec(compile("torch.ones(3).to('cuda:1')", "<generated>", "exec"))
"""


@pytest.mark.slow
def test_the_summary_names_the_line_that_ran_a_text_and_standard_input_in_words(python, forked, tmp_path):
    (tmp_path / "train.py").write_text(IN_A_STRING)
    run = forked(*RUN, "--gpus", "2", "--summary", "train.py")
    assert "cpu to cuda:0: 1 tensor, 12 B; at train.py, line 3\n" in run.stderr
    assert "cpu to cuda:1: 1 tensor, 12 B; at train.py, line 4\n" in run.stderr
    run = python(*RUN, "--gpus", "2", "--summary", "-", input=IN_A_STRING)
    assert "cpu to cuda:0: 1 tensor, 12 B; at standard input, line 3\n" in run.stderr


# The script of PyTorch's tutorial on DistributedDataParallel, and what people add to it. It is written for CUDA alone.
DISTRIBUTED = """
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    torch.manual_seed(rank)
    model = DDP(nn.Linear(4, 2).to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.arange(32.0).reshape(8, 4) / 32, torch.tensor([0, 1] * 4))
    sampler = DistributedSampler(data, shuffle=False)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(data, batch_size=2, sampler=sampler, pin_memory=True):
            loss = nn.functional.cross_entropy(model(x.to(rank, non_blocking=True)), y.to(rank))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    dist.barrier(device_ids=[rank])
    total = torch.tensor([rank + 1.0], device="cuda")
    dist.all_reduce(total)
    weights = [torch.empty(4, device=rank) for _ in range(2)]
    dist.all_gather(weights, model.module.weight[0].detach())
    mean = torch.tensor([float(rank)], device=rank)
    dist.all_reduce(mean, op=dist.ReduceOp.AVG, async_op=True).wait()
    last = torch.full((2,), float(rank), device=rank)
    dist.broadcast(last, src=1)
    losses = [None, None]
    dist.all_gather_object(losses, loss.item())
    mesh = init_device_mesh("cuda", (2, 1), mesh_dim_names=("data", "model"))  # split_group makes its groups
    halves = distribute_tensor(torch.arange(4.0, device=rank), mesh, [Shard(0), Replicate()])
    whole = halves.full_tensor()
    dist.all_reduce(whole, group=mesh.get_group("model"))
    of_mesh = [halves.to_local().tolist(), str(whole.device), whole.tolist()]
    answers = [dist.get_backend(), total.tolist(), str(total.device), torch.equal(*weights), mean.item(), last.tolist()]
    # In one piece, as the ranks share a pipe.
    os.write(1, (" ".join(map(str, [rank, *of_mesh, *answers, len(set(losses))])) + chr(10)).encode())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="NCCL is for Linux")
def test_a_script_for_nccl_runs_unchanged_under_torchrun(python, tmp_path):
    (tmp_path / "train.py").write_text(DISTRIBUTED)
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    run = python(*torchrun, *RUN, "train.py")
    assert run.returncode == 0, run.stderr
    assert sorted(run.stdout.splitlines()) == [
        "0 [0.0, 1.0] cuda:0 [0.0, 1.0, 2.0, 3.0] nccl [3.0] cuda:0 True 0.5 [1.0, 1.0] 2",
        "1 [2.0, 3.0] cuda:1 [0.0, 1.0, 2.0, 3.0] nccl [3.0] cuda:1 True 0.5 [1.0, 1.0] 2",
    ]
    assert [line for line in run.stderr.splitlines() if line.startswith("samedevice:")] == [
        "samedevice: 2 simulated GPUs, on the CPU.",
        "samedevice: gloo does the work of NCCL, on the CPU: results are as on CUDA, speed is not.",
    ]


def test_without_torch_the_traceback_is_followed_by_what_to_do(python, tmp_path):
    (tmp_path / "train.py").write_text("import torch\n")
    hide = "import sys, importlib.machinery as m; find = m.PathFinder.find_spec; m.PathFinder.find_spec = "
    hide += "classmethod(lambda cls, name, *rest: None if name == 'torch' else find(name, *rest)); "
    run = python("-c", f"{hide}from samedevice.doors.cli import main; main(['run', 'train.py'])")
    assert run.returncode == 1
    assert "ModuleNotFoundError: No module named 'torch'\n" in run.stderr
    assert run.stderr.splitlines()[-1].startswith(f"samedevice: {sys.executable!a} has no torch")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], ["samedevice run", "samedevice explain", "--help"]),
        (["train.py"], ["samedevice run", "'train.py'"]),
        (["run"], ["name the script"]),
        (["run", "--summary"], ["name the script"]),
        (["run", "missing.py"], ["there is no script 'missing.py'"]),
        (["run", "."], ["'.' is a directory without a __main__.py: name the script in it"]),
        (["run", "empty.pyz"], ["'empty.pyz' is an archive without a __main__.py"]),
        (["run", "-m"], ["name the module: samedevice run -m package.train"]),
        (["run", "-m", ""], ["name the module"]),
        (["run", "-m", "good.py"], ["-m takes the name of a module: `samedevice run good.py` runs the file"]),
        (["run", "-m", "torch.distributed.run", "good.py"], ["torchrun -m samedevice run"]),
        (["run", "wrong.py"], ["'wrong.py' is not valid Python", "line 2"]),
        (["run", "null.py"], ["'null.py' is not valid Python", "null bytes"]),
        (["run", "latin.py"], ["'latin.py' is not valid Python", "utf-8"]),
        (["run", "--gpus", "17", "good.py"], ["'17'", "1 to 16"]),
        (["run", "--gpus=0", "good.py"], ["'0'", "1 to 16"]),
        (["run", "--gpus", "two", "good.py"], ["'two'", "1 to 16"]),
        (["run", "--gpus"], ["--gpus", "expected one argument"]),
        (["run", "--rng", "gpu", "good.py"], ["--rng", "'gpu'"]),
        (["run", "--gpu-type", "T5", "good.py"], ["no GPU 'T5' can be simulated, but these can:", "Tesla T4", "B200"]),
        (["run", "--gpu", "3", "good.py"], ["--gpu", "samedevice run --help"]),
        (["run", "-c", "good"], ["-c", "samedevice run --help"]),
        (["run", "deep.py"], ["'deep.py' is not valid Python", "nested too deeply"]),
        (["run", "x" * 5000], ["cannot be read"]),
        (["run", ""], ["name the script"]),
        (["run", "--gpus", "9" * 5000, "good.py"], ["1 to 16"]),
        (["run", "somewhere/torchrun", "good.py"], ["torchrun -m samedevice run"]),
        (["run", "python", "good.py"], ["`samedevice run SCRIPT ...`"]),
        (["run", "bad\x1b[31m.py"], [r"'bad\x1b[31m.py'"]),
    ],
)
def test_misuse_is_one_sentence_and_exit_code_2(capsys, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text("")
    Path("wrong.py").write_text("x = 1\nprint(\n")
    Path("null.py").write_bytes(b"x = 1\0\n")
    Path("deep.py").write_text(f"x = {'-' * 100_000}1\n")
    Path("latin.py").write_bytes(b'x = "\xff"\n')
    Path("package").mkdir()
    Path("package", "__init__.py").touch()
    with zipfile.ZipFile("empty.pyz", "w") as archive:
        archive.writestr("train.py", "")
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("samedevice: ")
    for part in says:
        assert part in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "-m", "missing"], ["'missing' cannot be run: No module named missing"]),
        (["run", "-m", "package"], ["'package' cannot be run", "is a package and cannot be directly executed"]),
        (["run", "-m", "package.missing"], ["No module named package.missing"]),
        (["run", "-m", "missing.train"], ["No module named 'missing'"]),
        (["run", "-m", ".train"], ["'.train' cannot be run: Relative module names not supported"]),
        (["run", "-m", "bad\x1b[31m"], [r"bad\x1b[31m"]),
    ],
)
def test_a_module_that_runpy_does_not_find_is_one_sentence_too(python, tmp_path, arguments, says):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    run = python("-m", "samedevice", *arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.count("\n") == 1
    assert run.stderr.startswith("samedevice: ")
    for part in says:
        assert part in run.stderr


@pytest.mark.skipif(os.name == "nt", reason="a directory that is in use cannot be removed there")
def test_a_directory_that_is_gone_is_misuse(capsys, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(["run", "good.py"]) == 2
    assert capsys.readouterr().err.startswith("samedevice: the current directory cannot be read: ")


@pytest.mark.skipif(os.name == "nt" or getattr(os, "geteuid", int)() == 0, reason="this user may read every file")
def test_an_unreadable_script_is_misuse(capsys, tmp_path):
    (tmp_path / "closed.py").touch(mode=0)
    assert main(["run", str(tmp_path / "closed.py")]) == 2
    assert "cannot be read: Permission denied" in capsys.readouterr().err


def test_an_unreadable_script_is_named_with_the_reason(capsys, monkeypatch, tmp_path):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(program.io, "open_code", refuse)
    assert main(["run", str(tmp_path / "closed.py")]) == 2
    assert capsys.readouterr().err.endswith("closed.py' cannot be read: Permission denied.\n")


def test_help_says_what_each_option_does(capsys):
    assert main(["--help"]) == 0
    with pytest.raises(SystemExit) as ended:
        main(["run", "--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    usage = "samedevice explain [--more | --json | --output-format github] [--no-source] [FILE | ID | TEXT]"
    for part in (
        usage,
        "--gpus N",
        "1 to 16",
        "--full",
        "--summary",
    ):
        assert part in out


def test_the_version_is_the_installed_ones(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"samedevice {version('samedevice')}\n"


def test_the_parser_needs_no_torch(python):
    heavy = "('torch', 'numpy', 'yaml', 'rich', 'samedevice.doctor')"
    look = f"import samedevice.doors.cli, sys; print([x for x in {heavy} if x in sys.modules])"
    assert python("-c", look).stdout == "[]\n"


def test_a_gpu_of_a_model_has_its_name_and_its_memory(forked, tmp_path):
    (tmp_path / "train.py").write_text(
        "import torch\nprint([torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())])\n"
        'torch.zeros(2**32, device="cuda")\n'
    )
    run = forked(*RUN, "--gpus", "2", "--gpu-type", "nvidia t4", "train.py")
    assert (run.returncode, run.stdout) == (1, "['Tesla T4', 'Tesla T4']\n")
    assert run.stderr.startswith("samedevice: 2 simulated GPUs (Tesla T4), on the CPU.\n")
    assert "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 16.00 GiB. GPU 0 has a total " in run.stderr
    assert "site-packages" not in run.stderr
