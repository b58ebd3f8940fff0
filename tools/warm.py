"""`Forks`: notebook kernels that are forks of one process, which has imported what each of them begins with.

A kernel of its own takes two seconds of the processor to import PyTorch, and the lessons need one each. A fork has it
at once, and is a process of its own as before: with its own session, environment and folder, and with `__main__` and
sys.path as `python -m ipykernel_launcher` has them. Only PyTorch's import is not the kernel's own, so what stores the
lessons' outputs starts ordinary kernels.

Run as a script, this file is the process that is forked.
"""

import atexit
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner

KERNEL = "ipykernel_launcher"
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
    """A kernel's process, as far as jupyter_client uses a subprocess.Popen."""

    stdin = stdout = stderr = None

    def __init__(self, arguments: list[str], cwd: str | None, env: dict[str, str]) -> None:
        self.returncode: int | None = None
        self.pid: int = _ask({"arguments": arguments, "cwd": cwd or str(Path.cwd()), "env": env})

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = _ask({"ended": self.pid})
        return self.returncode

    def wait(self) -> int:
        while (status := self.poll()) is None:
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
    """Starts a kernel as a fork. What it prints past its cells goes nowhere, as nbval has it.

    Example:
        >>> manager = KernelManager(kernel_name="python3")
        >>> manager.provisioner = Forks(kernel_spec=manager.kernel_spec, parent=manager)
    """

    process: Any = None

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        if cmd[:3] != [sys.executable, "-m", KERNEL]:  # of another Python, such as Colab's
            return await super().launch_kernel(cmd, **options)
        self.process = Fork(cmd[3:], options.get("cwd"), options["env"])
        self.pid = self.pgid = self.process.pid  # os.setsid() makes it a group of its own
        self.cwd = options.get("cwd")
        return self.connection_info


def serve() -> None:
    """Answer each line of standard input: with a new kernel's process, or with how one ended."""
    gc.disable()
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # with which its kernels end: ipykernel reads it as it is imported
    import ipykernel.kernelapp
    import torch.distributed.tensor  # which torch imports at a process's first tensor of a subclass

    assert ipykernel.kernelapp and torch
    gc.freeze()  # a million objects that each collection in a kernel would look at, and copy
    gc.enable()
    for line in sys.stdin:
        question = json.loads(line)
        if "ended" in question:
            process, status = os.waitpid(question["ended"], os.WNOHANG)
            print(json.dumps(os.waitstatus_to_exitcode(status) if process else None), flush=True)
        elif os.fork() == 0:
            become_a_kernel(**question)
            return


def become_a_kernel(arguments: list[str], cwd: str, env: dict[str, str]) -> None:
    os.setsid()
    # Answered only now: who ends a kernel ends its group, and until here that was the group of the process forked.
    print(os.getpid(), flush=True)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))
    sys.path[0] = cwd
    sys.argv = [KERNEL, *arguments]
    runpy.run_module(KERNEL, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    serve()
