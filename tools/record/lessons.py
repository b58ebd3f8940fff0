"""Is each lesson's error PyTorch's own? Raise them all on its CUDA build, and compare: `make test-errors`.

No GPU is needed, and none is simulated by this project: PyTorch's CUDA build runs over tools/record/runtime.c, where
kernels do nothing. What a lesson computes is wrong there, but PyTorch decides before any kernel starts whether tensors
may meet, and words its errors itself. So the cells tagged raises-exception are compared with what is stored of them.
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets.config import Config

import results
from kernels import sockets_as_files
from notebooks import ROOT, portable

# Cells whose error depends on what a kernel computes, and why.
OF_VALUES: dict[str, str] = {}
# cuDNN cannot start over runtime.c, and an nn.GRU on the GPU wants it: PyTorch's own GRU is then asked.
CUDNN_CANNOT_START = "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"
WITHOUT_CUDNN = "--IPKernelApp.exec_lines=import torch; torch.backends.cudnn.enabled = False"


def main() -> int:
    import torch  # here, so that tests of the functions below need not wait for it

    if not torch.cuda.is_available() or torch.cuda.device_count() < 2:
        print("Fewer than two GPUs are found: call this as make test-errors, which makes two.", file=sys.stderr)
        return 2
    gpu = torch.cuda.get_device_name(0)
    if "runtime.c" not in gpu:  # a real GPU computes values too
        OF_VALUES.clear()
    os.environ["SAMEDEVICE_GPUS"] = "real"  # that is, not simulated by us
    lessons, differ = {}, 0
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        begin = time.perf_counter()
        cells = list(compare(nbformat.read(path, 4), *asked(path)))
        for name, complaint in cells:
            if complaint:
                print(f"{name}: {complaint}", file=sys.stderr)
        wrong = sum(complaint is not None for _, complaint in cells)
        differ += wrong
        same = sum(complaint is None and name not in OF_VALUES for name, complaint in cells)
        lessons[path.stem] = {"errors": len(cells), "same": same}
        print(
            f"{path.stem}: {len(cells)} errors, {wrong} not as stored, {time.perf_counter() - begin:.0f} s", flush=True
        )
    counted = {key: sum(lesson[key] for lesson in lessons.values()) for key in ("errors", "same")}
    about = {"torch": torch.__version__, "gpu": gpu}
    results.write("errors", about | counted | {"of_values": OF_VALUES, "by_lesson": lessons})
    return 1 if differ else 0


def asked(path: Path) -> list[NotebookNode]:
    """The lesson as the CUDA build ran it, and where cuDNN was to start for an error, also as it ran without."""
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
        timeout=120,
        kernel_name="python3",
        config=Config(KernelManager=sockets_as_files()),
        allow_errors=True,
        extra_arguments=["--IPKernelApp.log_level=ERROR", *arguments],
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except (CellTimeoutError, DeadKernelError) as error:
        print(f"{path.stem} was not run to its end: {str(error).splitlines()[0]}", file=sys.stderr)
    return notebook


def compare(stored: NotebookNode, *runs: NotebookNode) -> Iterator[tuple[str, str | None]]:
    """Each cell that is to raise, and what is wrong with its error, if anything."""
    for before, *answers in zip(raising(stored), *map(raising, runs), strict=True):
        now = errors(answers[0])
        if any(CUDNN_CANNOT_START in text for _, text in now):
            now = errors(answers[-1])
        complaint = f"stored {errors(before)}, raised {now}"
        if before.id in OF_VALUES:
            yield before.id, f"{complaint}, though it depends on values" if errors(before) == now else None
        else:
            yield before.id, None if errors(before) == now else complaint


def raising(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if "raises-exception" in cell.metadata.get("tags", [])]


def errors(cell: NotebookNode) -> list[tuple[str, str]]:
    return [(out.ename, portable(out.evalue)) for out in cell.outputs if out.output_type == "error"]


if __name__ == "__main__":
    sys.exit(main())
