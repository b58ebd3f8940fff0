"""What PyTorch is saying, in one sentence: in terms of the layer, where the reader sees nothing else."""

import re

from samedevice.doctor.text.rank import filled, holds
from samedevice.doctor.text.read import Reading


def says(reading: Reading) -> str:
    """Return the first of the message's sentences that what was read can fill.

    A line such as `model(x)` has none of the arguments that PyTorch passes to `addmm` there, the bias first. Where a
    line calls `torch.addmm(...)` itself, the reader sees them all, and a layer would be a guess.
    """
    message, reads = reading.message, reading.reads
    layers = [layer.says for layer in message.layers if holds(layer.when, reads)]
    line = reading.place.code if reading.place else ""
    if re.search(rf"\b{reads.get('op')}_? ?\(", line, re.ASCII):
        layers = []
    return next(filter(None, (filled(sentence, reads) for sentence in [*layers, *message.says])))
