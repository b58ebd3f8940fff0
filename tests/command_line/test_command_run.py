"""`samedevice run`: the script is none the wiser, its errors are explained, misuse is one sentence."""

import os
import re
import sys
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest

from samedevice import _run
from samedevice._cli import main

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


def test_the_installed_command_is_the_same_door(python, tmp_path):
    (tmp_path / "look.py").write_text(CURIOUS)
    (entry,) = (one for one in entry_points(group="console_scripts") if one.name == "samedevice")
    assert entry.load() is main
    as_installed = "import sys; from samedevice._cli import main; sys.exit(main())"
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
    assert f"{str(tmp_path / 'torch.py')!a}, which should be PyTorch 2.11 to 2.15 (AttributeError: " in run.stderr


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


def test_a_device_error_is_explained_before_its_traceback_in_a_thread_too(python, tmp_path):
    (tmp_path / "train.py").write_text(BROKEN)
    run = python(*RUN, "train.py")
    assert (run.returncode, run.stdout) == (1, "")
    begins, _, rest = run.stderr.partition("\n")
    assert begins == "samedevice: 2 simulated GPUs, on the CPU."
    diagnosis, _, rest = rest.partition("Exception in thread worker:\nTraceback (most recent call last):\n")
    assert "`self.scale`" in diagnosis
    thread, _, rest = rest.partition("and cpu!\n")
    assert "_run.py" not in thread and "tensor.py" not in thread
    diagnosis, _, trace = rest.partition("Traceback (most recent call last):\n")
    assert "`self.scale` (shape (3,)) is on cpu. It is a plain attribute of Net." in diagnosis
    assert '    + self.register_buffer("scale", torch.ones(3))' in diagnosis
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="what is printed has the forked worker's line")
def test_an_unchanged_script_with_workers_classes_and_settings_of_its_own_runs(python, tmp_path):
    (tmp_path / "train.py").write_text(UNCHANGED)
    run = python("-W", "ignore", *RUN, "train.py")
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
from samedevice import _moves
print(_moves.summary())
weight = torch.ones(4, device="cuda")
print(_moves.summary())
for step in range(5):
    x = torch.ones(4, requires_grad=True)
    (x.to("cuda") * weight).sum().backward()
x = torch.ones(1000).cuda(1)
x.to("cuda:1")
x.to(torch.float64)
weight.copy_(torch.zeros(4))
weight[torch.tensor([0])]
weight[torch.tensor([0])] = 1.0
print(_moves.summary())
import train
"""


def test_the_summary_says_what_moved_and_where_and_full_shows_all_of_a_traceback(python, tmp_path):
    (tmp_path / "moves.py").write_text(MOVES)
    (tmp_path / "train.py").write_text(BROKEN)
    on_a_real_gpu = "import sys, samedevice._run as run; run._real_gpus = lambda: 1; "
    on_a_real_gpu += "from samedevice._cli import main; sys.exit(main())"
    run = python("-c", on_a_real_gpu, "run", "--full", "--summary", "--gpus", "3", "moves.py")
    assert run.returncode == 1
    begins, _, rest = run.stderr.partition("\n")
    assert begins == "samedevice: 3 simulated GPUs, on the CPU; 1 real GPU of this machine stays unused."
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
    assert "_run.py" not in trace
    moved[1] = "cpu to cuda:0: 12 tensors, 348 B; 5 of them at moves.py, line 9"
    assert trace.endswith("samedevice: " + "\n  ".join(moved) + "\n")


DISTRIBUTED = """
import os, sys
import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=2)
x = torch.full((2,), rank + 1.0, device="cuda")
dist.all_reduce(x)
print(x.tolist(), x.device)
dist.destroy_process_group()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="gloo over a file, as tested in the simulation's tests")
def test_under_torchrun_it_says_that_nccl_is_not_simulated_and_gloo_works(python, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    (tmp_path / "train.py").write_text(DISTRIBUTED)

    def rank(number):
        rank = {"RANK": str(number), "LOCAL_RANK": str(number)}
        return python("-W", "ignore", *RUN, "train.py", str(tmp_path / "store"), **rank)

    with ThreadPoolExecutor() as pool:
        first, second = pool.map(rank, range(2))
    assert (first.stdout, second.stdout) == ("[3.0, 3.0] cuda:0\n", "[3.0, 3.0] cuda:1\n")
    assert first.stderr == (
        "samedevice: 2 simulated GPUs, on the CPU.\n"
        'samedevice: NCCL is not simulated. gloo works between simulated GPUs, if named: init_process_group("gloo").\n'
    )
    assert second.stderr == "", "said once"


def test_without_torch_the_traceback_is_followed_by_what_to_do(python, tmp_path):
    (tmp_path / "train.py").write_text("import torch\n")
    hide = "import sys, importlib.machinery as m; find = m.PathFinder.find_spec; m.PathFinder.find_spec = "
    hide += "classmethod(lambda cls, name, *rest: None if name == 'torch' else find(name, *rest)); "
    run = python("-c", f"{hide}from samedevice._cli import main; main(['run', 'train.py'])")
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
        (["run", "."], ["'.' is a directory"]),
        (["run", "wrong.py"], ["'wrong.py' is not valid Python", "line 2"]),
        (["run", "null.py"], ["'null.py' is not valid Python", "null bytes"]),
        (["run", "latin.py"], ["'latin.py' is not valid Python", "utf-8"]),
        (["run", "--gpus", "17", "good.py"], ["'17'", "1 to 16"]),
        (["run", "--gpus=0", "good.py"], ["'0'", "1 to 16"]),
        (["run", "--gpus", "two", "good.py"], ["'two'", "1 to 16"]),
        (["run", "--gpus"], ["--gpus", "expected one argument"]),
        (["run", "--gpu", "3", "good.py"], ["--gpu", "samedevice run --help"]),
        (["run", "-m", "good"], ["-m", "samedevice run --help"]),
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
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("samedevice: ")
    for part in says:
        assert part in err


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

    monkeypatch.setattr(_run.io, "open_code", refuse)
    assert main(["run", str(tmp_path / "closed.py")]) == 2
    assert capsys.readouterr().err.endswith("closed.py' cannot be read: Permission denied.\n")


def test_help_says_what_each_option_does(capsys):
    assert main(["--help"]) == 0
    with pytest.raises(SystemExit) as ended:
        main(["run", "--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    usage = "samedevice explain [--more | --json] [--no-source] [FILE | ID]"
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
    assert (
        python("-c", f"import samedevice._cli, sys; print([x for x in {heavy} if x in sys.modules])").stdout == "[]\n"
    )
