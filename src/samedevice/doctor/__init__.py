"""The doctor: from an error to what PyTorch is saying, which tensor is at fault, why, and the lines to change.

    text         read what was pasted: which message it holds, and which causes are likely
    culprits     look at the live frames of an exception: which tensors met, and where each came from
    causes       why a tensor is where it is, and the line to change
    explanation  from an error, or the text of one, to its diagnosis
    examine      from an exception to the tensors at fault
    diagnosis    what `explain` returns
    report       print a diagnosis as text, for `rich`, as HTML
    export       the catalog as the browser's doctor reads it
    address      where the site and the project are

It needs no torch. docs/assets/doctor.js is its twin in the browser, on the same catalog.
"""

from samedevice.doctor.diagnosis import Diagnosis
from samedevice.doctor.explanation import explain

__all__ = ["Diagnosis", "explain"]
