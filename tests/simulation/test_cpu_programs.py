"""What a program does on the CPU alone is the same in a simulation as outside of one.

The programs were found by PyTorch's own tests, run without and with a simulation.
"""

import pytest
import torch
from torch.autograd.graph import get_gradient_edge

import samedevice


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_gradients_are_asked_for_by_edges_of_the_graph(device: str) -> None:
    with samedevice.simulate_cuda(1):
        x = torch.ones(3, device=device, requires_grad=True)
        y = x * 2
        by_leaf, by_result = torch.autograd.grad(y.sum(), (get_gradient_edge(x), get_gradient_edge(y)))
        assert (by_leaf.tolist(), by_result.tolist()) == ([2, 2, 2], [1, 1, 1])
        assert by_leaf.device == by_result.device == x.device
