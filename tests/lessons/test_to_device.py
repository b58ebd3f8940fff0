"""`to_device`, which lesson 02 tells readers to copy: what it moves, what it keeps, and what it refuses."""

from collections import OrderedDict, UserDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from samedevice import simulate_cuda

LESSON = Path(__file__).parents[2] / "notebooks/02-unmoved-batches.ipynb"
Pair = namedtuple("Pair", "image label")


class Encoding(UserDict):
    """As transformers' BatchEncoding, which is a UserDict, before it had a `to` of its own."""

    def __getattr__(self, name):
        try:
            return self.data[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass
class Sample:
    image: torch.Tensor
    name: str
    size: int = field(init=False, default=3)


@dataclass(frozen=True)
class Frozen:
    image: torch.Tensor


@pytest.fixture
def to_device():
    cells = nbformat.read(LESSON, as_version=4).cells
    written = {}
    exec(next(cell.source for cell in cells if cell.id == "unmoved-batches-to-device"), written)
    with simulate_cuda(devices=1):
        yield lambda batch: written["to_device"](batch, torch.device("cuda"))


def tensors(batch):
    if isinstance(batch, torch.Tensor):
        return [batch]
    if isinstance(batch, Sample | Frozen):
        return [batch.image]
    parts = batch.values() if hasattr(batch, "values") else batch
    return [tensor for part in parts if not isinstance(part, str | int | float | None) for tensor in tensors(part)]


MAKE = {
    "a tensor": lambda x: x,
    "a list": lambda x: [x, "a text", 1],
    "a tuple": lambda x: (x, None, 0.5),
    "a dict": lambda x: {"image": x, "name": ["a", "b"]},
    "a dict in a dict": lambda x: {"seen": {"image": x}, "parts": [(x, "a")]},
    "an OrderedDict": lambda x: OrderedDict(image=x),
    "a defaultdict": lambda x: defaultdict(list, image=x),
    "a UserDict": lambda x: UserDict(image=x),
    "a BatchEncoding": lambda x: Encoding(input_ids=x, attention_mask=x),
    "a namedtuple": lambda x: Pair(x, "cat"),
    "a dataclass": lambda x: Sample(x, "cat"),
    "a frozen dataclass": Frozen,
    "a dataclass in a list": lambda x: [Sample(x, "cat")],
}


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_every_tensor_moves_and_each_container_keeps_its_type_and_stays_as_it_was(to_device, make):
    batch = make(torch.ones(2))
    moved = to_device(batch)
    assert isinstance(moved, type(batch))
    assert {str(tensor.device) for tensor in tensors(moved)} == {"cuda:0"}
    assert {str(tensor.device) for tensor in tensors(batch)} == {"cpu"}


def test_what_holds_no_tensor_stays_as_it_is(to_device):
    sample = to_device(Sample(torch.ones(2), "cat"))
    assert (sample.name, sample.size) == ("cat", 3)
    for value in ("text", b"bytes", 1, 0.5, True, None, ["a", 1], {"a": None}):
        assert to_device(value) == value


@pytest.mark.parametrize("value", [{1, 2}, object(), np.ones(2), [iter("ab")], {"image": np.ones(2)}])
def test_what_it_does_not_know_is_refused_by_its_name(to_device, value):
    with pytest.raises(TypeError, match=r"to_device cannot move a (set|object|ndarray|str\w*_iterator)"):
        to_device(value)


def test_a_packed_sequence_moves_itself_because_its_batch_sizes_have_to_stay(to_device):
    packed = pack_sequence([torch.ones(3), torch.ones(2)])
    moved = to_device(packed)
    assert isinstance(moved, PackedSequence)
    assert (str(moved.data.device), str(moved.batch_sizes.device)) == ("cuda:0", "cpu")
    with pytest.raises(ValueError, match="batch_sizes should always be on CPU"):
        PackedSequence(*(part.to("cuda") for part in packed if part is not None))
