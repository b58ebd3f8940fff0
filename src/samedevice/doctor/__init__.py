"""The doctor: from an error to what PyTorch is saying, which tensor is at fault, why, and the lines to change.

`explain` reads the text of an error first (text): which message it is, and which causes it can have. If it was given an
exception, it then looks at the live frames (culprits) and asks the causes (causes) why the tensor is where it is, and
which line to change. Its answer is a Diagnosis, which can be shown as text, for `rich` and as HTML.

It needs no torch. docs/assets/doctor.js is its twin in the browser, on the same catalog.
"""

from samedevice.doctor.diagnosis import Diagnosis
from samedevice.doctor.explanation import explain

__all__ = ["Diagnosis", "explain"]
