import pytest
import torch
from attention_blocks import SelfAttention
from attention_blocks.masks import padding


@pytest.mark.parametrize("length", [1, 5])
def test_shape(device, length):
    layer = SelfAttention(8).to(device)
    assert layer(torch.randn(2, length, 8, device=device)).shape == (2, length, 8)


def test_relative_bias_learns(device):
    layer = SelfAttention(8, relative=True).to(device)
    layer(torch.randn(2, 6, 8, device=device)).sum().backward()
    assert layer.bias.grad.abs().sum().item() > 0


def test_outside_of_the_window_nothing_is_seen(device):
    layer = SelfAttention(8, window=1).to(device)
    x = torch.randn(1, 6, 8, device=device)
    before = layer(x)
    x[0, 5] += 1
    after = layer(x)
    assert torch.equal(before[0, :4], after[0, :4])
    assert not torch.equal(before[0, 4], after[0, 4])


def test_padding_hides_keys(device):
    scores = padding(torch.zeros(2, 3, 3, device=device), torch.tensor([3, 1], device=device)).softmax(-1)
    expected = torch.tensor([[1 / 3, 1 / 3, 1 / 3], [1.0, 0.0, 0.0]])
    assert (scores[:, 0] - expected).abs().max() < 1e-6


def test_padded_batch_equals_the_short_one(device):
    layer = SelfAttention(8).to(device)
    x = torch.randn(2, 5, 8, device=device)
    both = layer(x, lengths=torch.tensor([5, 3], device=device))
    alone = layer(x[1:, :3])
    torch.testing.assert_close(both[1:, :3], alone)
