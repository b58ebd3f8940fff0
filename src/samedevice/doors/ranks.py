"""Ranks of one torchrun that fail with the same error: one of them explains it.

The ranks are processes, and torchrun names a file for each in a folder of this run that all of this machine share
(TORCHELASTIC_ERROR_FILE, https://docs.pytorch.org/docs/stable/elastic/errors.html). Whoever makes the file of an
error there first explains it.
"""

import os
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samedevice.doctor import Diagnosis


def this_rank() -> str:
    """Return the name of this process among the ranks, such as "rank 0"."""
    return f"rank {os.environ.get('RANK', '')}"


def explained_by(diagnosis: "Diagnosis") -> str:
    """Return who explains this very error, such as "rank 0"; "" if it is for this process to do.

    Two errors are the same if the same line failed with the same message, for the same tensor and the same cause. Each
    rank has a GPU of its own, so the number of the device is not compared.
    """
    folder = _folder_of_the_run()
    if folder is None:
        return ""
    claim, mine = folder / f"samedevice-{_name(diagnosis)}", folder / f"samedevice-of-{os.getpid()}-{get_ident()}"
    try:
        mine.write_text(this_rank())
        try:
            os.link(mine, claim)  # a file made under its own name could be read before the rank is written in it
            return ""
        except FileExistsError:
            rank = claim.read_text()
            return rank if rank != this_rank() else ""  # in another thread
        finally:
            mine.unlink()
    except OSError:  # torchrun's folder is gone, or its disk has no links
        return ""


def _folder_of_the_run() -> Path | None:
    """Return the folder that torchrun made for this attempt of this run. The file is attempt_0/LOCAL_RANK/error.json.

    Whoever sets the variable by hand names another file, in a folder that is there for the next run too.
    """
    folder = Path(os.environ.get("TORCHELASTIC_ERROR_FILE", "")).parent
    is_torchruns = folder.name == os.environ.get("LOCAL_RANK") and folder.parent.name.startswith("attempt_")
    return folder.parent if is_torchruns else None


def _name(diagnosis: "Diagnosis") -> str:
    import hashlib

    message, place = diagnosis.message, diagnosis.place
    culprits = [(culprit.expression, culprit.cause) for culprit in diagnosis.culprits]
    error = (message and message.id, place and (place.file, place.line), culprits)
    return hashlib.sha256(repr(error).encode()).hexdigest()[:16]
