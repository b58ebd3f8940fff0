"""The picture of a message that names two devices: what is where, with the device's shape and name.

It is drawn of what the doctor reads in the text, and is text itself: two lines of a page, which a phone has room for.
"""

from samedevice import explain
from samedevice.catalog import Cause, load
from samedevice.doctor.pages.wordings import usual_text
from samedevice.placement.drawing import colour_of
from site_build.escaping import escaped
from site_build.failure_pictures import FAILURES, failure_picture

_CALLED = {  # what old texts, and short ones, call a device
    "torch.FloatTensor": "cpu",
    "torch.cuda.FloatTensor": "cuda",
    "CPU": "cpu",
    "CUDA": "cuda",
    "GPU": "cuda",
}


def apart(text: str) -> str:
    """Return the HTML of the picture, or "" where the text does not name two devices."""
    devices = devices_of(text)
    if not devices:
        return ""
    argument = explain(text).reads.get("argument")
    names = (argument, "the others") if argument else ("one tensor", "another")
    rows = "".join(_row(device, name) for device, name in zip(devices, names, strict=True))
    return f'<div class="apart">{rows}</div>'


def devices_of(text: str) -> list[str]:
    """Return the two devices that a text names, as pages call them, the accused first; nothing if it does not."""
    reads = explain(text).reads
    devices = [_device(reads[name]) for name in ("device", "others") if name in reads]
    return devices if len(set(devices)) == 2 else []


def shape(device: str) -> str:
    """Return the classes of a device's name, which give it colour and shape."""
    colour = colour_of(device if device != "cuda" else "cuda:0")
    return "device" if colour == "ink" else f"device {colour}"


def example_picture(cause: Cause) -> str:
    """Return the HTML of a picture of a cause's example: drawn, or of the message that it raises; "" for neither."""
    if cause.id in FAILURES:
        return f'<div class="cause-picture">{failure_picture(cause.id)}</div>'
    raised = load().messages.get(cause.raises or "")
    return apart(usual_text(raised)) if raised else ""


def _device(read: str) -> str:
    name = _CALLED.get(read, read)
    return f"cuda:{name}" if name.isdigit() else name


def _row(device: str, name: str) -> str:
    return f'<p><span class="{shape(device)}">{escaped(device)}</span> {escaped(name)}</p>'
