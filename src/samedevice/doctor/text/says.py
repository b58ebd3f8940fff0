"""What PyTorch is saying, in one sentence: in terms of the layer, where the reader sees nothing else."""

import re

from samedevice.doctor.text.rank import filled, holds
from samedevice.doctor.text.read import Reading


def says(reading: Reading) -> str:
    """Return the first of the message's sentences that what was read can fill.

    A line such as `model(x)` has none of the arguments that PyTorch passes to `addmm` there, the bias first. A line
    that calls `torch.addmm(...)` itself has them all, so a layer would be a guess. It may be the reader's own line, or
    that of a package: `src.index_select(...)` in torch_geometric is no embedding.
    """
    message, reads = reading.message, reading.reads
    layers = [layer.says for layer in message.layers if holds(layer.when, reads)]
    caller = reading.library_frame or reading.place
    if caller and re.search(rf"\b{reads.get('op')}_? ?\(", caller.code, re.ASCII):
        layers = []
    return next(filter(None, (filled(sentence, reads) for sentence in [*layers, *message.says])))
