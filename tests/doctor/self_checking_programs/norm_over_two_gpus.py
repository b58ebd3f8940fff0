# culprit: total
# cause: metric_or_accumulator_state | tensors_of_two_devices_joined | split_model_activation_not_moved
import torch
from torch import nn


def norm_of(parameters):
    total = torch.zeros((), device=parameters[0].device)
    for parameter in parameters:
        total += parameter.detach().square().sum()
    return total.sqrt()


def main():
    first, second = nn.Linear(2, 2, bias=False).to("cuda:0"), nn.Linear(2, 2, bias=False).to("cuda:1")
    norm = norm_of([first.weight, second.weight])
    expected = torch.cat([first.weight.cpu(), second.weight.cpu()]).norm()
    assert norm.device == torch.device("cuda:0")
    torch.testing.assert_close(norm.cpu(), expected)
