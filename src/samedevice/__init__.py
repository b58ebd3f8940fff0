"""Same Device: PyTorch device errors, raised, explained and avoided on any machine.

`import samedevice` is light: torch is imported only when a name that needs it is used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from samedevice.doctor import explain as explain
    from samedevice.doors.install import install as install
    from samedevice.placement import where as where
    from samedevice.simulation import simulate_cuda as simulate_cuda

__all__ = ["explain", "install", "simulate_cuda", "where"]


def __getattr__(name: str) -> Any:
    if name == "explain":
        from samedevice.doctor import explain

        return explain
    if name == "install":
        from samedevice.doors.install import install

        return install
    if name == "where":
        from samedevice.placement import where

        return where
    if name == "simulate_cuda":
        from samedevice.simulation import simulate_cuda

        return simulate_cuda
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Let the diagnosis of an uncaught device error follow it, from now on: `%load_ext samedevice`."""
    from samedevice.doors import ipython

    ipython.load(shell)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Leave the shell as it was: `%unload_ext samedevice`."""
    from samedevice.doors import ipython

    ipython.unload(shell)


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__file__", "__name__", "__path__"]
