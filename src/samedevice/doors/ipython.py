"""`%load_ext samedevice`: in IPython, Jupyter and Colab, an uncaught device error is followed by its diagnosis.

It follows `shell.showtraceback`, by which IPython shows whatever nobody caught, whether it came from a cell, `%run`,
`%%time`, a widget's output or `ipython script.py`. It also listens to the event `post_run_cell`, which hears of cells
only, because handlers of `set_custom_exc` show an error by themselves. Such handlers are left as they are: Colab has
one, and IPython keeps room for no second.
"""

import contextlib
import functools
import sys
from typing import TYPE_CHECKING, Any

from samedevice.doors.uncaught import is_told
from samedevice.doors.where_they_fail import explain_where_they_fail

if TYPE_CHECKING:
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

_loaded: dict["InteractiveShell", "Diagnoses"] = {}


def load(shell: "InteractiveShell") -> None:
    """Let the diagnosis follow each device error that `shell` shows. To load twice does no harm."""
    explain_where_they_fail()
    if shell not in _loaded:
        _loaded[shell] = Diagnoses(shell)


def unload(shell: "InteractiveShell") -> None:
    """Leave `shell` as it was before `load`."""
    if shell in _loaded:
        _loaded.pop(shell).stop()


class Diagnoses:
    """What follows the tracebacks of one shell, from now until `stop`."""

    def __init__(self, shell: "InteractiveShell") -> None:
        self._shell = shell
        self._stopped = False
        self._showing = False
        self._shown = False  # whether IPython has shown an error since the last cell ended
        self._uncaptured: DisplayPublisher | None = None
        self._publisher()
        # Other tools put theirs on the instance too, as `rich.traceback.install` does.
        self._earlier = vars(shell).get("showtraceback")
        show = shell.showtraceback

        @functools.wraps(show)
        def showtraceback(*args: Any, **kwargs: Any) -> Any:
            exc_tuple = args[0] if args else kwargs.get("exc_tuple")
            # Without it IPython shows the error that is being handled, else the last one, as `%tb` does.
            error = (exc_tuple or sys.exc_info())[1]
            self._cut(getattr(sys, "last_value", None) if error is None else error)
            returned = show(*args, **kwargs)
            self._shown = True
            self._follow(getattr(sys, "last_value", None) if error is None else error)
            return returned

        self._showtraceback = showtraceback
        shell.showtraceback = showtraceback  # type: ignore[method-assign]
        shell.events.register("post_run_cell", self.post_run_cell)

    def stop(self) -> None:
        self._stopped = True
        with contextlib.suppress(ValueError):  # the events may have been reset
            self._shell.events.unregister("post_run_cell", self.post_run_cell)
        if vars(self._shell).get("showtraceback") is not self._showtraceback:
            return  # another tool's stands before ours and calls it: it stays, and says nothing more
        if self._earlier is None:
            del self._shell.showtraceback
        else:
            self._shell.showtraceback = self._earlier  # type: ignore[method-assign]

    def post_run_cell(self, result: "ExecutionResult | None") -> None:
        if not self._shown and result is not None:
            self._follow(result.error_in_exec)
        self._shown = False
        self._publisher()

    def _cut(self, error: object) -> None:
        """Hide the simulation's frames, as `samedevice run` does; `%xmode Verbose` shows them."""
        is_verbose = getattr(getattr(self._shell, "InteractiveTB", None), "mode", "") == "Verbose"
        if self._stopped or is_verbose or not isinstance(error, BaseException):
            return
        with contextlib.suppress(Exception):
            from samedevice.introspect.tracebacks import cut_the_simulation

            cut_the_simulation(error)

    def _follow(self, error: BaseException | None) -> None:
        """Show the diagnosis of an error, if it is about devices. Nothing that fails here reaches the program."""
        if self._stopped or self._showing or not isinstance(error, Exception):
            return
        self._showing = True
        try:
            from samedevice.doctor import explain

            diagnosis = explain(error)
            if diagnosis.message is not None and not is_told(error):
                shown = {"text/plain": f"\n{diagnosis}", "text/html": diagnosis._repr_html_()}
                self._publisher().publish(data=shown, metadata={})
        except KeyboardInterrupt:
            pass  # the reader has seen enough; the cell has failed already
        except Exception as failure:
            with contextlib.suppress(Exception):
                print(
                    f"samedevice could not explain this error: it failed itself ({type(failure).__name__}).",
                    file=sys.stderr,
                )
        finally:
            self._showing = False

    def _publisher(self) -> "DisplayPublisher":
        """Return where tracebacks go: in a kernel, `%%capture` takes what is displayed but leaves the traceback."""
        from IPython.core.displaypub import CapturingDisplayPublisher

        current = self._shell.display_pub
        if not isinstance(current, CapturingDisplayPublisher):
            self._uncaptured = current
        return self._uncaptured or current
