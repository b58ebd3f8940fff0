"""What machines are told of a run's device errors, beside the text: a file of JSON, annotations of GitHub Actions."""

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from samedevice.doors.stderr import say

if TYPE_CHECKING:
    from samedevice.doctor import Diagnosis


class ForMachines:
    """The file and the annotations of one run."""

    def __init__(self, json_file: str | None = None, annotate: bool = False) -> None:
        """Remember where to write.

        Args:
            json_file: where to write what is known of the first device error, or that there was none; None for nowhere.
            annotate: also print annotations on standard output.
        """
        self._file = Path(json_file).absolute() if json_file is not None else None  # the script may change directory
        self._annotate = annotate
        self._folder = Path.cwd() if annotate else None
        self._first: Diagnosis | None = None

    def note(self, diagnosis: "Diagnosis") -> None:
        """Remember a device error for the file, which holds the first."""
        self._first = self._first or diagnosis

    def annotate(self, diagnosis: "Diagnosis") -> None:
        """Annotate a device error, if that was asked for."""
        if self._annotate:
            from samedevice.doctor.annotations import as_annotations

            with contextlib.suppress(Exception):  # of a stdout of the script's own
                sys.stdout.write(as_annotations(diagnosis, self._folder))
                sys.stdout.flush()

    def end(self) -> None:
        """Write the file, if one was asked for."""
        if self._file is None:
            return
        from samedevice.doctor.diagnosis import Diagnosis
        from samedevice.doctor.diagnosis_json import as_data

        data = as_data(self._first or Diagnosis(None, "The script raised no device error."))
        try:
            self._file.write_text(json.dumps(data, indent=2) + "\n", "utf-8")
        except OSError as error:
            say(f"{str(self._file)!a} cannot be written: {error.strerror}.")
