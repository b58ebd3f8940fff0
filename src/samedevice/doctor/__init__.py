"""The doctor: from an error to what PyTorch is saying, which tensor is at fault, why, and the lines to change.

    paste        whatever was pasted, made into text that patterns can be matched against
    frames       the frames of a pasted traceback
    matching     which pattern of the catalog a line holds last
    reading      which message of the catalog it holds, and what that names
    ranking      which causes are likely, and what speaks for each
    live         of an exception, whose frames are still alive: the tensors at fault
    diagnosis    what `explain` returns
    rendering    a diagnosis as text, for `rich`, as HTML
    address      where the site and the project are

It needs no torch. docs/assets/doctor.js is its twin in the browser, on the same catalog.
"""

from samedevice.doctor.diagnosis import Diagnosis, explain

__all__ = ["Diagnosis", "explain"]
