"""`sockets_as_files`: how to start a notebook's kernel so that no other program can take its ports.

A kernel is told five free TCP ports before it starts, and takes them a second later. What takes one of them meanwhile
(https://github.com/jupyter/jupyter_client/issues/487), such as a browser on a busy machine, ends the kernel at its
start. A socket that is a file with a name of its own cannot be taken.
"""

import sys
import tempfile
import uuid
from pathlib import Path

_folder: tempfile.TemporaryDirectory[str] | None = None


def sockets_as_files() -> dict[str, str]:
    """Return the traits of a jupyter_client.KernelManager that give one kernel files for its sockets.

    Empty on Windows, where ZeroMQ has no such sockets. The files go with this process at the latest.

    Example:
        >>> KernelManager(kernel_name="python3", **sockets_as_files())
        >>> NotebookClient(notebook, config=Config(KernelManager=sockets_as_files()))
    """
    global _folder
    if sys.platform == "win32":
        return {}
    if _folder is None:
        _folder = tempfile.TemporaryDirectory(prefix="kernels-")
    # A socket's path has room for about 100 characters, and macOS's folder for temporary files takes half of them.
    return {"transport": "ipc", "ip": str(Path(_folder.name) / uuid.uuid4().hex[:12])}
