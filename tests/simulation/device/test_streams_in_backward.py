"""In backward the current stream is the one in which the node was made, whatever is current in the caller.

What is expected here is what PyTorch's CUDA build answers to the same lines.
"""

from typing import Any

import pytest
import torch

from samedevice.simulation.device import streams

pytestmark = pytest.mark.usefixtures("two_gpus")


def leaf() -> torch.Tensor:
    return torch.ones(3, device="cuda:1", requires_grad=True)


class Seen(list[int]):
    """The current streams of the second GPU, one after the other."""

    def hook(self, *_: Any) -> None:
        self.append(torch.cuda.current_stream(1).stream_id)

    def on(self, tensor: torch.Tensor) -> torch.Tensor:
        tensor.register_hook(self.hook)
        return tensor


def test_a_node_runs_in_the_stream_in_which_it_was_made() -> None:
    first, second = (torch.cuda.Stream("cuda:1") for _ in range(2))
    seen = Seen()
    x = seen.on(leaf())
    default = seen.on(x * 2)
    with torch.cuda.stream(first):
        y = seen.on(x * 2)
    with torch.cuda.stream(second):
        z = seen.on(x * 2)
        seen.on(default + y + z).sum().backward()
        assert torch.cuda.current_stream(1) == second
    assert seen == [second.stream_id, second.stream_id, first.stream_id, 0, 0]
    seen.clear()
    x = seen.on(leaf())  # whose node is made where it is used first
    with torch.cuda.stream(first):
        y = x * 2
    with torch.cuda.stream(second):
        y.sum().backward()
    assert seen == [first.stream_id]


def test_the_stream_that_a_hook_makes_current_is_so_until_its_node_has_run() -> None:
    stream = torch.cuda.Stream("cuda:1")
    seen = Seen()
    x = seen.on(leaf())
    y = x * 2
    y.register_hook(lambda _: torch.cuda.set_stream(stream))
    seen.on(y).sum().backward()
    assert [*seen, torch.cuda.current_stream(1).stream_id] == [stream.stream_id, 0, 0]


def test_streams_are_remembered_while_they_tell_nodes_apart() -> None:
    stream, other = torch.cuda.Stream("cuda:0"), torch.cuda.Stream("cuda:1")
    before = len(streams.changes())
    for _ in range(100):
        with torch.cuda.stream(stream), torch.cuda.stream(other):
            pass
    assert len(streams.changes()) - before <= 2
