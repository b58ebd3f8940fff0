"""Where the tensors of a traced call are, in order: torch.compile shows them as `FakeTensor(..., device='cuda:0')`.

docs/assets/doctor.js does the same in the browser.
"""

import re

_BEFORE = 20  # lines before the message that may show the call
# One without a device is on the CPU: torch/_tensor_str.py leaves out the device of a default tensor. What a terminal
# broke inside a word is left out, so that nothing is taken for one on the CPU.
_TENSOR = re.compile(r"FakeTensor\(\.{3}(?:, *device='(?P<device>[^']+)')?, *size", re.ASCII)


def operands(before: list[str]) -> str:
    """Return the devices of the tensors of the call that was traced, in order; "" where all are on the same one.

    Args:
        before: the lines before the message.

    >>> given = "FakeTensor(..., device='cuda:0', size=(2,)), FakeTensor(..., size=(2,))"
    >>> operands([f"call_function <built-in function add>(*({given}), **{{}}): "])
    'cuda:0, cpu'
    """
    given = " ".join(before[-_BEFORE:]).rpartition("(*(")[2]
    devices = [tensor["device"] or "cpu" for tensor in _TENSOR.finditer(given)]
    return ", ".join(devices) if len(set(devices)) > 1 else ""
