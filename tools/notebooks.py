"""Execute the notebooks on simulated GPUs and store their outputs, the same on every machine: `make notebooks`.

A notebook is stored only if every cell did what it says: an error where there is the tag raises-exception, none
elsewhere. What differs between machines (paths, addresses, times) is scrubbed by tests/notebooks/sanitize.cfg, which
nbval reads too. A traceback is stored as the site would show it, because a real GPU has no frames of the simulation.
Cells are numbered in their order, as the page shows them, so that a traceback's "Cell In[7]" can be found; nbval does
not compare these numbers. A notebook that is executed twice does not change. If this is interrupted, each notebook is
as it was, or stored as a whole.
"""

import asyncio
import itertools
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.reader import NotJSONError
from nbval.plugin import get_sanitize_patterns
from traitlets.config import Config

from kernel_sockets import sockets_as_files
from site_build.tracebacks import shorten

ROOT = Path(__file__).resolve().parent.parent
_ANY_CELL = "Cell In[1]"  # what nbval reads for each: stored, a traceback names the cell that the page numbers
SCRUBS = [
    (pattern, replacement)
    for pattern, replacement in get_sanitize_patterns((ROOT / "tests/notebooks/sanitize.cfg").read_text("utf-8"))
    if replacement != _ANY_CELL
]
AT_ONCE = 2
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def main(arguments: list[str]) -> int:
    paths = [Path(argument) for argument in arguments] or sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in paths:
        if path.suffix != ".ipynb" or not path.is_file():
            print(f"{path} is not a notebook: give the path of an .ipynb file, or nothing for all.", file=sys.stderr)
            return 2
    # What is stored must not depend on whether the machine that stores it has a GPU.
    os.environ["SAMEDEVICE_GPUS"] = "simulated"
    received = [signal.SIGINT]

    def end(number: int, _: object) -> None:
        received.append(signal.Signals(number))
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a script's background, where asyncio does not answer
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)  # which asyncio answers: it cancels what runs and waits for the cleaning up

    signal.signal(signal.SIGTERM, end)
    try:
        with asyncio.Runner(loop_factory=_Loop) as runner:
            return 0 if runner.run(store_all(paths)) else 1
    except KeyboardInterrupt:
        print("Interrupted: notebooks not named above as stored are as they were.", file=sys.stderr)
        return 128 + received[-1]  # as a shell says it


class _Loop(asyncio.SelectorEventLoop):
    def add_signal_handler(self, *_: object) -> None:
        """Refuse, as a loop without signals does: nbclient's ends the kernels and then waits for their answers."""
        raise NotImplementedError

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Say nothing of nbclient's watch over a kernel, which fails if the kernel ends between two looks."""
        if "_async_poll_kernel_alive" not in repr(context.get("future")):
            super().default_exception_handler(context)


async def store_all(paths: list[Path]) -> bool:
    free = asyncio.Semaphore(AT_ONCE)

    async def one(path: Path) -> bool:
        async with free:
            return await store(path)

    async with asyncio.TaskGroup() as group:  # interrupted, it waits until each kernel has ended
        tasks = [group.create_task(one(path)) for path in paths]
    return all(task.result() for task in tasks)


async def store(path: Path) -> bool:
    """Execute one notebook; store it and return True, or say what is wrong and leave the file as it was."""
    begin = time.perf_counter()
    _unfinished(path).unlink(missing_ok=True)  # of a run that was killed
    before = path.read_text("utf-8")
    try:
        notebook = nbformat.reads(before, as_version=4)
    except NotJSONError:
        print(f"{path.name}: not JSON; a merge may have left its marks in it.", file=sys.stderr)
        return False
    complaint = await execute(notebook, path.parent)
    if complaint:
        print(f"{path.name}: {complaint} Not stored.", file=sys.stderr)
        return False
    scrub(notebook)
    after = nbformat.writes(notebook) + "\n"
    if after != before:
        replace(path, after)
    news = "stored" if after != before else "unchanged"
    print(f"{path.name}: {news}, {time.perf_counter() - begin:.1f} s", flush=True)
    return True


def replace(path: Path, text: str) -> None:
    """Write a file so that at every moment it is the old one or the new one."""
    new = _unfinished(path)
    try:
        with new.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, new)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.unfinished")


async def execute(notebook: NotebookNode, folder: Path) -> str | None:
    """Run every code cell and keep its outputs; return what is wrong with the first cell that misbehaves."""
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        config=Config(KernelManager=sockets_as_files()),
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        coalesce_streams=True,
        shutdown_kernel="immediate",
        resources={"metadata": {"path": str(folder)}},
    )
    async with client.async_setup_kernel():
        code = [(index, cell) for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        for number, (index, cell) in enumerate(code):  # numbered as nbval does
            try:
                await client.async_execute_cell(cell, index, execution_count=number + 1)
            except CellExecutionError as error:
                return f"Cell {number} raised {error.ename}: {error.evalue} It is not tagged raises-exception."
            except (CellTimeoutError, DeadKernelError) as error:
                task = asyncio.current_task()
                if task and task.cancelling():  # nbclient takes that for a kernel's death
                    raise asyncio.CancelledError from None
                return f"Cell {number} did not end: {error}"
            raised = any(output.output_type == "error" for output in cell.outputs)
            if "raises-exception" in cell.metadata.get("tags", []) and not raised:
                return f"Cell {number} is tagged raises-exception, but it raised nothing."
    return None


def scrub(notebook: NotebookNode) -> None:
    """Take out what depends on the machine, the day and the editor."""
    notebook.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata.language_info = {"name": "python"}
    numbers = itertools.count(1)
    for cell in notebook.cells:
        cell.metadata = {key: value for key, value in cell.metadata.items() if key in ("tags", "alt")}
        if cell.cell_type == "code":
            cell.execution_count = next(numbers)
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                output.text = portable(output.text)
            elif output.output_type == "error":
                output.evalue = portable(output.evalue)
                output.traceback = shorten(portable("\n".join(output.traceback))).splitlines()
            else:
                if output.output_type == "execute_result":
                    output.execution_count = cell.execution_count
                for kind, data in output.data.items():
                    if kind.startswith("text/"):
                        output.data[kind] = portable(data)


def portable(text: str) -> str:
    text = ANSI.sub("", text)
    for pattern, replacement in SCRUBS:
        text = re.sub(pattern, replacement, text)
    return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
