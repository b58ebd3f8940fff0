"""The cell of a notebook, where Python has the temporary file that IPython compiled it from."""

import sys
from pathlib import PurePath

from samedevice.doctor.diagnosis import Diagnosis


def in_cells(diagnosis: Diagnosis) -> Diagnosis:
    """Name cells as IPython's tracebacks do, such as "Cell In[3]"; any other file keeps its name."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    if name_of is None:  # no shell, or that of an early IPython 8
        return diagnosis

    def named(file: str, line: int) -> tuple[str, int]:
        # A frame's file has forward slashes, on Windows too.
        cell = name_of(file) or name_of(str(PurePath(file)))
        return " ".join(cell) if cell else file, line

    return diagnosis.relocated(named)
