# culprit: states
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence


class Recurrent(nn.Module):
    """A recurrent layer that keeps each step, such as for gradients of each example."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.RNNCell(inputs, hidden)

    def forward(self, x):
        is_packed = isinstance(x, PackedSequence)
        lengths, order = None, None
        if is_packed:
            data, lengths, _, order = x
            steps = data.split(tuple(lengths))
            size = int(lengths[0])
        else:
            steps, size = x.unbind(0), x.shape[1]
        start = torch.zeros(size, self.hidden, device=self.cell.weight_hh.device)
        states = []
        for layer in range(1):
            outputs, last = self.run(steps, start, lengths, is_packed=is_packed)
            states.append(last)
        states = torch.stack(states)
        return states if order is None else states.index_select(1, order)

    def run(self, steps, start, lengths, is_packed):
        outputs = [start]
        for step in steps:
            outputs.append(self.cell(step, outputs[-1][: len(step)]))
        if is_packed:
            last = torch.zeros(len(start), self.hidden)
            for i in range(len(start)):
                last[i] = outputs[int((lengths > i).sum())][i]
        else:
            last = outputs[-1]
        return outputs[1:], last


def main():
    torch.manual_seed(0)
    layer = Recurrent(3, 4)
    x, lengths = torch.randn(5, 2, 3), torch.tensor([3, 5])
    expected = layer(pack_padded_sequence(x, lengths, enforce_sorted=False))
    layer.to("cuda")
    states = layer(pack_padded_sequence(x.to("cuda"), lengths, enforce_sorted=False))
    assert states.is_cuda and torch.allclose(states.cpu(), expected, atol=1e-5)
