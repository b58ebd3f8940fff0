# culprit: weight.grad_sample
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


def add_sample(weight, gradient, batch_size):
    if not hasattr(weight, "grad_sample"):
        weight.grad_sample = torch.zeros(torch.Size([batch_size]) + gradient.shape[1:])
    weight.grad_sample[: len(gradient)] += gradient


def main():
    layer = nn.Linear(3, 2).to("cuda")
    x, grad_output = torch.randn(4, 3, device="cuda"), torch.randn(4, 2, device="cuda")
    for _ in range(2):
        add_sample(layer.weight, torch.einsum("bo,bi->boi", grad_output, x), 4)
    expected = 2 * grad_output.unsqueeze(2) * x.unsqueeze(1)
    assert torch.allclose(layer.weight.grad_sample, expected)
