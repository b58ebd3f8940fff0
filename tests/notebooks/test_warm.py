"""A fork of a warm process is a process of its own, as one is that a command started: a kernel, and a program."""

import subprocess
import sys
from queue import Empty

import pytest
from jupyter_client.manager import KernelManager

from kernel_sockets import sockets_as_files
from warm import POSSIBLE, Forks, run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not POSSIBLE, reason="kernels are forked on Linux only")]

CURIOUS = """
import gc, multiprocessing, os, signal, sys, threading, __main__
print(__name__, sorted(vars(__main__)), sys.modules["__main__"] is __main__, sys.argv[0], len(sys.argv), sys.path)
print(os.getcwd(), os.environ["KERNELS_OWN"], len(os.environ), os.getpid() == os.getpgid(0) == os.getsid(0))
print(multiprocessing.current_process().name, multiprocessing.parent_process(), multiprocessing.active_children())
print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), gc.isenabled(), gc.get_threshold())
print(sorted(thread.name for thread in threading.enumerate()), sys.flags, sys.warnoptions)
"""


class Kernel:
    def __init__(self, folder, forked=True, **environment):
        self.manager = KernelManager(kernel_name="python3", **sockets_as_files())
        if forked:
            self.manager.provisioner = Forks(kernel_spec=self.manager.kernel_spec, parent=self.manager)
        self.manager.start_kernel(cwd=str(folder), **environment)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def printed(self, code):
        said = []
        self.client.execute_interactive(code, timeout=60, output_hook=lambda message: said.append(message["content"]))
        return "".join(content.get("text", content.get("ename", "")) for content in said)

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(tmp_path):
    started = []

    def start(**options):
        started.append(Kernel(tmp_path, **options))
        return started[-1]

    yield start
    for one in started:
        one.end()


def test_it_sees_what_an_ordinary_kernel_sees(kernel, monkeypatch):
    kernel()  # the process that is forked has begun, without what is set now
    monkeypatch.setenv("KERNELS_OWN", "1")
    forked, ordinary = kernel().printed(CURIOUS), kernel(forked=False).printed(CURIOUS)
    assert "True" in forked
    assert forked == ordinary


def test_it_shares_nothing_with_another_but_what_both_began_with(kernel):
    one, other = kernel(), kernel()
    one.printed("import os, sys; x = 1; sys.of_one = os.environ['OF_ONE'] = '1'")
    assert other.printed("import os, sys; print('x' in vars(), hasattr(sys, 'of_one'), 'OF_ONE' in os.environ)") == (
        "False False False\n"
    )
    assert one.printed("print('torch' in sys.modules, os.getpid())") != other.printed("print(True, os.getpid())")


def test_it_is_interrupted_and_one_that_dies_is_dead(kernel):
    one = kernel()
    # After an error, ipykernel aborts what it has been asked meanwhile, if it is not told otherwise.
    message = one.client.execute("import time; time.sleep(100)", stop_on_error=False)
    with pytest.raises(Empty):
        one.client.get_shell_msg(timeout=0.5)
    one.manager.interrupt_kernel()
    while (reply := one.client.get_shell_msg(timeout=30))["parent_header"]["msg_id"] != message:
        pass
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert one.manager.is_alive()
    one.client.execute("import os; os._exit(3)")
    assert one.manager.provisioner.process.wait(60) == 3
    assert not one.manager.is_alive()
    assert kernel().printed("print(1)") == "1\n"


PROGRAM = """
import os, sys, __main__
own = [name for name in vars() if not name.startswith("__")]  # Python 3.11 begins with __annotations__
print(__name__, own, vars() is vars(__main__), __main__.__spec__, sys.argv, sys.path, os.getcwd())
def fail(): raise ValueError("at last")
"""


@pytest.mark.parametrize("end", ["fail()", "sys.exit(3)", "sys.exit('a word')", "os._exit(4)", "os.abort()", "pass"])
def test_a_program_prints_and_ends_as_under_python(end):
    ordinary = subprocess.run([sys.executable, "-c", PROGRAM + end], capture_output=True, text=True)
    forked = run(["-c", PROGRAM + end], timeout=60)
    assert (forked.returncode, forked.stdout, forked.stderr) == (ordinary.returncode, ordinary.stdout, ordinary.stderr)


def test_a_program_that_waits_for_ever_is_ended():
    with pytest.raises(subprocess.TimeoutExpired):
        run(["-c", "import time; time.sleep(1000)"], timeout=0.1)
