"""Where the tensors of a traced call are, in order: torch.compile shows them as `FakeTensor(..., device='cuda:0')`.

docs/assets/doctor.js does the same in the browser.
"""

import re

_BEFORE = 20  # lines before the message that may show the call
# One without a device is on the CPU: torch/_tensor_str.py leaves out the device of a default tensor. What a terminal
# broke inside a word is left out, so that nothing is taken for one on the CPU.
_TENSOR = re.compile(r"FakeTensor\(\.{3}(?:, *device='(?P<device>[^']+)')?, *size", re.ASCII)


def traced_call(before: list[str]) -> tuple[str, str]:
    """Return the call that was traced, and the devices of its tensors, in order; two "" where all are on the same one.

    Args:
        before: the lines before the message.

    >>> given = "FakeTensor(..., device='cuda:0', size=(2,)), FakeTensor(..., size=(2,))"
    >>> traced_call([f"call_function <built-in function add>(*({given}), **{{}}): "])
    ('add', 'cuda:0, cpu')
    """
    head, _, given = " ".join(before[-_BEFORE:]).rpartition("(*(")
    devices = [tensor["device"] or "cpu" for tensor in _TENSOR.finditer(given)]
    if len(set(devices)) < 2:
        return "", ""
    words = head[-200:].split("call_function ")[-1].replace("<", " ").replace(">", " ").split()
    return _name(words), ", ".join(devices)


def _name(words: list[str]) -> str:
    """Return the name of what was called: "add" of `<built-in function add>`, "F.x" of a function in Python."""
    kinds = ("built-in", "function", "method")
    names = [word for word in words if word not in kinds][:1]
    is_of_python = words[:1] == ["function"]
    return f"{'F.' * is_of_python}{names[0]}" if names else ""
