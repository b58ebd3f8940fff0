"""Processes that are forks of one that has imported PyTorch: notebook kernels (`Forks`), and programs (`run`).

A process of its own takes two seconds of the processor to import PyTorch, and each lesson needs one. A fork has it at
once, and is a process of its own as before: with its own session, environment and folder, and with `__main__` and
sys.path as `python -m` and `python -c` have them. Only PyTorch's import is not its own, so what stores the lessons'
outputs starts ordinary kernels, and so does a test of what a person starts.

Run as a script, this file is the process that is forked.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner

# macOS has os.fork too, but its own libraries may fail in a fork.
POSSIBLE = sys.platform == "linux"

_warm: subprocess.Popen[str] | None = None


def _ask(question: dict[str, Any]) -> Any:
    """Put one question to the process that is forked, which is started by the first."""
    global _warm
    if _warm is None:
        # Ctrl+C is not for it, and it ends when this process does, which alone can write to it.
        _warm = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        atexit.register(_warm.communicate)
    assert _warm.stdin and _warm.stdout
    print(json.dumps(question), file=_warm.stdin, flush=True)
    return json.loads(_warm.stdout.readline())


class Fork:
    """A process for Python's arguments -m or -c, with as much of subprocess.Popen as jupyter_client and `run` use."""

    stdin = stdout = stderr = None

    def __init__(
        self,
        arguments: list[str],
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        prints: tuple[str, str] = (os.devnull, os.devnull),
    ) -> None:
        """Start it; `prints` are the files for what it prints and for its errors."""
        question = {"arguments": arguments, "cwd": cwd or str(Path.cwd()), "env": env or {**os.environ}}
        self.returncode: int | None = None
        self.pid: int = _ask(question | {"prints": prints})

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = _ask({"ended": self.pid})
        return self.returncode

    def wait(self, timeout: float = float("inf")) -> int:
        deadline = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("a fork", timeout)
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forks(LocalProvisioner):
    """What starts a kernel as a fork. What the kernel prints beside its cells goes nowhere, as with nbval.

    Example:
        >>> manager = KernelManager(kernel_name="python3")
        >>> manager.provisioner = Forks(kernel_spec=manager.kernel_spec, parent=manager)
    """

    process: Any = None

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        if cmd[:3] != [sys.executable, "-m", "ipykernel_launcher"]:  # of another Python, such as Colab's
            return await super().launch_kernel(cmd, **options)
        self.process = Fork(cmd[1:], options.get("cwd"), options["env"])
        self.pid = self.pgid = self.process.pid  # os.setsid() makes it a group of its own
        self.cwd = options.get("cwd")
        return self.connection_info


def run(
    arguments: list[str], timeout: float, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Return what Python would print with -m or -c, and how it would end; not for what is about PyTorch's import."""
    if not POSSIBLE:
        command = [sys.executable, *arguments]
        return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=timeout, cwd=cwd, env=env)
    with tempfile.TemporaryDirectory(prefix="run-") as folder:
        printed, errors = Path(folder) / "printed", Path(folder) / "errors"
        process = Fork(arguments, str(cwd) if cwd else None, env, prints=(str(printed), str(errors)))
        try:
            status = process.wait(timeout)
        finally:
            process.kill()
        return subprocess.CompletedProcess(arguments, status, printed.read_text("utf-8"), errors.read_text("utf-8"))


def serve() -> None:
    """Answer each line of standard input: with a new process, or with how one ended."""
    gc.disable()
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # with which its kernels end: ipykernel reads it as it is imported
    importlib.import_module("ipykernel.kernelapp")
    importlib.import_module("torch.distributed.tensor")  # torch imports it at a process's first tensor of a subclass
    gc.freeze()  # a million objects that each collection in a fork would look at, and copy
    gc.enable()
    for line in sys.stdin:
        question = json.loads(line)
        if "ended" in question:
            process, status = os.waitpid(question["ended"], os.WNOHANG)
            print(json.dumps(os.waitstatus_to_exitcode(status) if process else None), flush=True)
        elif os.fork() == 0:
            become(**question)
            return


def become(arguments: list[str], cwd: str, env: dict[str, str], prints: list[str]) -> None:
    """Become, in a fork, what python would be with these arguments."""
    os.setsid()
    # Answered only now: who ends a kernel ends its group, and until here that was the group of the process forked.
    print(os.getpid(), flush=True)
    for stream, file in enumerate([os.devnull, *prints]):
        with open(file, "r+" if file == os.devnull else "x") as opened:  # noqa: PTH123
            os.dup2(opened.fileno(), stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))
    option, program, *rest = arguments
    if option == "-m":
        sys.path[0], sys.argv = cwd, [option, *rest]
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    sys.path[0], sys.argv = "", [option, *rest]
    main = sys.modules["__main__"] = ModuleType("__main__")
    try:
        exec(compile(program, "<string>", "exec"), vars(main))
    except Exception as error:  # shown without this file's frame
        assert error.__traceback__
        below = error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(below), below)
        sys.exit(1)


if __name__ == "__main__":
    serve()
