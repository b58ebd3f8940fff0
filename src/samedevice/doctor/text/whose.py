"""Whose code failed, where it is not the reader's: what its user can do, and what to report to whom.

A line of ComfyUI, of one of its custom nodes or of an installed package is not for its user to edit.
docs/assets/doctor/whose.js does the same in the browser.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from samedevice.catalog import Application, Cause, load
from samedevice.doctor.text.read import CPU, Reading
from samedevice.doctor.text.traceback import BEGINS, Frame
from samedevice.introspect.libraries import is_model

# About these a program can be wrong; a driver, an installation or a launcher is its user's to fix. How a library is
# called and where a file goes is for the user of a library, but not for the user of an application.
_SUBJECTS = ("common-device", "layers", "indexing", "gradients", "numpy", "data", "legacy")
_OF_AN_APPLICATION = (*_SUBJECTS, "compile", "libraries", "loading")
OF_OPERATIONS = ("torchvision", "torchaudio", "torchmetrics")  # they refuse what the package above them gave
_SPREADING = ("transformers", "accelerate", "peft", "diffusers")  # they put parts of a model on several devices
HUB = "https://huggingface.co"
_TORCH = 'PyTorch: (what `python -c "import torch; print(torch.__version__)"` prints)'
_OF_SPREAD = (
    'If the model was loaded with `device_map="auto"`, load it on one GPU as a whole, with `device_map={"": 0}`, '
    "if its memory is large enough."
)
_UPDATE = "Update it: a newer release may have fixed it."
_IN_A_CONTEXT = (
    'Call it below `with torch.device("cuda"):`, or with the device that you use: PyTorch 2.0 and later creates there '
    "what is created without a device."
)
_BEFORE = re.compile(r".*(?:(?:site|dist)-packages/|transformers_modules/|/(?=(?:custom_nodes|extensions)/))")
# "pytorch version: 2.7.1+cu128", "torch==2.6.0", "ComfyUI version: 0.3.40"
_VERSION = r"(?:^|[^\w-]){name}(?: version)?{sign}v?(?P<version>[0-9]{{1,4}}\.[0-9]{{1,4}}[\w.+]{{0,30}})"
_SIGNS = (" ?== ?", " ?: ?", " ")  # before a version, the surest first


@dataclass(frozen=True)
class Owner:
    """Who keeps the code that failed.

    Attributes:
        name: the program, the package, or the part of a program: "comfyui_segment_anything".
        says: whose it is, and what it does with devices where that may be the reason.
        tries: what its user can do, the most promising first.
        command: what brings a package up to date, or "".
        where: where to report: an address, or words such as "in the repository ...".
        report: the text to report, in lines.
    """

    name: str
    says: str
    tries: tuple[str, ...]
    command: str
    where: str
    report: str


def owner(reading: Reading, cause: Cause | None, named: Sequence[Frame], *, is_looked_up: bool = False) -> Owner | None:
    """Return who keeps the code that failed, or None where it is the reader's, or may be.

    Args:
        reading: the paste.
        cause: its most likely cause.
        named: the frames of the tensors that are named: where one is the reader's, so is the fault.
        is_looked_up: whether the frames of a living error have shown that it is a library's.
    """
    subject = reading.message.subject
    if subject not in _OF_AN_APPLICATION or any(_is_own(frame) for frame in named):
        return None
    own = [frame for frame in reading.frames if not frame.in_library]
    if (found := _application(own)) is not None:
        is_called = any(_is_own(frame) for frame in own)
        return _of_application(*found, reading, is_known=len(named) == 1, is_called=is_called)
    if not own and not any(frame.package for frame in reading.frames):
        told = next((each for each in load().applications if _is_named(each, reading.trace)), None)
        if told is not None:
            return _of_application(None, told, "", reading, is_known=False, is_called=False)
    calls_it = any(map(_is_own, own)) or BEGINS not in reading.trace
    packages = [frame for frame in reading.frames if frame.package] if subject in _SUBJECTS else []
    if not packages or (calls_it and (cause is None or cause.id != "library_bug")):
        return None
    inner = [frame for frame in packages if frame.package not in OF_OPERATIONS]
    return _of_package((inner or packages)[-1], reading, is_called=calls_it and not is_looked_up)


def application_of(frame: Frame) -> tuple[Application, str] | None:
    """Return the application that a frame's file belongs to, and the name of the part of it, or None.

    Example:
        >>> application, part = application_of(Frame("ComfyUI/custom_nodes/crop/nodes.py", 3, "run", ""))
        >>> application.name, part
        ('ComfyUI', 'crop')
    """
    if frame.in_library:
        return None
    for application, path in _applications():
        if found := path.search(f"/{frame.file}"):
            return application, found["part"] if application.part else ""
    return None


def name_of(frame: Frame) -> str:
    """Return the package, the application or the part of one that a frame's file belongs to, or ""."""
    application, part = application_of(frame) or (None, "")
    return frame.package or part.replace("`", "") or (application.name if application is not None else "")


def _application(frames: Sequence[Frame]) -> tuple[Frame, Application, str] | None:
    """Return the innermost frame of others' code in an application, else of an application, and whose it is.

    None where the innermost of the frames, which are none of libraries, is the reader's own.
    """
    if not frames or application_of(frames[-1]) is None:
        return None
    found = [(frame, *of) for frame in frames if (of := application_of(frame)) is not None]
    parts = [each for each in found if each[1].part]
    return (parts or found)[-1]


@functools.cache
def _applications() -> list[tuple[Application, re.Pattern[str]]]:
    return [(each, re.compile(each.path, re.ASCII)) for each in load().applications]


def _is_named(application: Application, trace: str) -> bool:
    return bool(application.named) and re.search(application.named, trace, re.ASCII) is not None


def _is_own(frame: Frame) -> bool:
    return not frame.in_library and application_of(frame) is None


def _of_application(
    frame: Frame | None, application: Application, part: str, reading: Reading, *, is_known: bool, is_called: bool
) -> Owner:
    """Answer the user of an application. What it does with devices is no reason where the tensor is known."""
    name = part.replace("`", "") or application.name
    parts = next((each.part for each in load().applications if each.name == application.name and each.part), "")
    is_a = f"`{name}`, {_a(parts)} of {application.name}" if part else name
    says = _where_it_failed(is_a)
    if not is_called:
        or_part = f", or from {_a(parts)} of it" if parts and not part else ""  # no traceback has to show that
        says = f"This error comes from {is_a}{or_part}, not from code of yours."
    if application.why and not is_known:
        says += f" {application.why}"
    tries = tuple(application.tries) or ("Update it.",)
    return Owner(name, says, tries, "", application.report, _report(reading, frame, application.name))


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _where_it_failed(is_a: str) -> str:
    """Say what is known where the reader's program called others' code."""
    return (
        f"The line that failed is in {is_a}, not in code of yours. If all that you pass to it is on the model's "
        "device, nothing of yours is wrong."
    )


def _of_package(frame: Frame, reading: Reading, *, is_called: bool) -> Owner:
    """Answer the user of a package, or of a model's own code, which the user's program may have called."""
    name, known = frame.package, load().libraries.get(frame.package)
    is_of_a_model = is_model(frame.file)
    is_a = f"the code that came with the model `{name}`" if is_of_a_model else f"the package `{name}`"
    says = _where_it_failed(is_a) if is_called else f"This error comes from {is_a}, not from code of yours."
    tries = [_OF_SPREAD] if is_of_a_model or name in _SPREADING else []
    if is_called and reading.pair == CPU:
        tries.append(_IN_A_CONTEXT)
    report = _report(reading, frame, name)
    if is_of_a_model:
        is_published = name.count("/") == 1
        where = f"{HUB}/{name}/discussions" if is_published else "on the page that the model comes from"
        return Owner(name, says, tuple(tries), "", where, report)
    if known is None:  # what pip calls it is not known: a guess may be another package
        return Owner(name, says, (_UPDATE, *tries), "", "in its issue tracker, to which its page on PyPI leads", report)
    command = f"pip install --upgrade {known.pip}" if known.pip else ""
    return Owner(name, says, tuple(tries), command, known.report, report)


def _report(reading: Reading, frame: Frame | None, name: str) -> str:
    """Return what to report: the message, where it failed, and the versions that the paste tells."""
    place = frame or reading.place
    lines = [reading.quoted]
    if place is not None and place.file:
        lines.append(", ".join([_shortened(place.file), *([f"line {place.line}"] if place.line else [])]) + ":")
        lines += [f"    {line}" for line in place.code.split("\n") if line]
    found = [(each, _version(each, reading.trace)) for each in (name, "PyTorch")]
    lines += [f"{each}: {version}" for each, version in found if version]
    return "\n".join(lines if found[-1][1] else [*lines, _TORCH])


def _version(name: str, trace: str) -> str:
    pattern = "(?:[Pp]y)?[Tt]orch" if name == "PyTorch" else re.escape(name)
    found = (re.search(_VERSION.format(name=pattern, sign=sign), trace, re.ASCII) for sign in _SIGNS)
    return next((each["version"] for each in found if each is not None), "")


def _shortened(path: str) -> str:
    """Leave out what stands before the packages or the application: it tells of the reader, and not of the error."""
    before = _BEFORE.match(path)
    return path[before.end() :] if before is not None else "/".join(path.split("/")[-3:])
