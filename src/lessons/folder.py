"""`new_folder`: an empty folder for the files that a lesson writes, where its `!` lines work as in a terminal.

A `!` line in a notebook starts a process. It does not find what is installed beside the notebook's own Python unless
that environment is activated, and its output has the width and the colours of whatever started the notebook.
"""

import os
import sys
import sysconfig
import tempfile
from typing import Any

from samedevice.gpu_choice import CHOICE

# tests/notebooks/sanitize.cfg takes the path of such a folder out of what is stored.
_PREFIX = "samedevice-lesson-"

# Where a CI sets these, pytest writes its summary in full and `--simulate-cuda` adds annotations. What a lesson stores
# was printed on a developer's machine.
_OF_A_CI = ("CI", "BUILD_NUMBER", "GITHUB_ACTIONS")

# The folder that was made last: it is removed with this process, or when there is a newer one.
_folder: Any = None


def new_folder() -> None:
    """Make an empty folder and go there: its files can be imported, and `!samedevice` and `!pytest` work in it.

    Example:
        >>> new_folder()
    """
    global _folder
    if _folder is not None:
        sys.path.remove(_folder.name)
    earlier = _folder
    _folder = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
    os.chdir(_folder.name)
    sys.path.insert(0, _folder.name)
    if earlier is not None:
        earlier.cleanup()
    scripts = sysconfig.get_path("scripts")
    if scripts not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = scripts + os.pathsep + os.environ["PATH"]
    os.environ.pop(CHOICE, None)  # which GPUs the notebook has is decided; a command asks for simulated ones itself
    for name in _OF_A_CI:
        os.environ.pop(name, None)
    os.environ.update(COLUMNS="80", NO_COLOR="1", OMP_NUM_THREADS="1")
    # pytest takes seconds to load the plugins of everything that is installed, and they may print.
    os.environ.update(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTEST_ADDOPTS="-p samedevice")
