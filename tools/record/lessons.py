"""Is each lesson's error PyTorch's own? Raise them all on its CUDA build, and compare: `make test-errors`.

The notebooks already store what each cell raised, so these answers are compared with them and not recorded again. Over
runtime.c kernels compute nothing, but PyTorch decides before any kernel starts whether tensors may meet, and words its
errors itself. A lesson's error must not depend on what a kernel computes.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from traitlets.config import Config

import results
from kernel_sockets import sockets_as_files
from notebooks import ROOT, portable

# cuDNN cannot start over runtime.c, and an nn.GRU on the GPU wants it: PyTorch's own GRU is then asked.
CUDNN_CANNOT_START = "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"
WITHOUT_CUDNN = "--IPKernelApp.exec_lines=import torch; torch.backends.cudnn.enabled = False"


def main() -> int:
    import torch  # here, so that tests of the functions below need not wait for it

    if not torch.cuda.is_available() or torch.cuda.device_count() < 2:
        print("Fewer than two GPUs are found: call this as make test-errors, which makes two.", file=sys.stderr)
        return 2
    os.environ["SAMEDEVICE_GPUS"] = "real"  # that is, not simulated by us
    lessons = {}
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        complaints = list(compare(nbformat.read(path, 4), *asked(path)))
        wrong = [complaint for complaint in complaints if complaint]
        lessons[path.stem] = {"errors": len(complaints), "same": len(complaints) - len(wrong)}
        print(f"{path.stem}: {len(complaints)} errors, {len(wrong)} not as stored", *wrong, sep="\n  ", flush=True)
    counted = {key: sum(lesson[key] for lesson in lessons.values()) for key in ("errors", "same")}
    about = {"torch": torch.__version__, "gpu": torch.cuda.get_device_name(0)}
    results.write("errors", about | counted | {"by_lesson": lessons})
    return 1 if counted["same"] < counted["errors"] else 0


def asked(path: Path) -> list[NotebookNode]:
    """Return the lesson as the CUDA build ran it, and where cuDNN was to start for an error, also as it ran without."""
    first = execute(path)
    cudnn = any(CUDNN_CANNOT_START in text for cell in raising(first) for _, text in errors(cell))
    return [first, execute(path, WITHOUT_CUDNN)] if cudnn else [first]


def execute(path: Path, *arguments: str) -> NotebookNode:
    """Run every cell, whatever the one before came to."""
    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    client = NotebookClient(
        notebook,
        timeout=60,
        interrupt_on_timeout=True,  # generate() asks a kernel, which computes nothing, whether it may end
        kernel_name="python3",
        config=Config(KernelManager=sockets_as_files()),
        allow_errors=True,
        extra_arguments=["--IPKernelApp.log_level=ERROR", *arguments],
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except DeadKernelError as error:
        print(f"{path.stem} was not run to its end: {str(error).splitlines()[0]}", file=sys.stderr)
    return notebook


def compare(stored: NotebookNode, *runs: NotebookNode) -> Iterator[str | None]:
    """Tell of each cell that is to raise what is wrong with its error, or None."""
    for before, *answers in zip(raising(stored), *map(raising, runs), strict=True):
        now = errors(answers[0])
        if any(CUDNN_CANNOT_START in text for _, text in now):
            now = errors(answers[-1])
        yield None if errors(before) == now else f"{before.id}: stored {errors(before)}, raised {now}"


def raising(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if "raises-exception" in cell.metadata.get("tags", [])]


def errors(cell: NotebookNode) -> list[tuple[str, str]]:
    return [(out.ename, portable(out.evalue)) for out in cell.outputs if out.output_type == "error"]


if __name__ == "__main__":
    sys.exit(main())
