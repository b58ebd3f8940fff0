# culprit: [torch.norm(gradient.detach(), kind) for gradient in gradients if gradient is not None]
# cause: split_model_activation_not_moved
import torch
from torch import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4).to("cuda:0")
        self.second = nn.Linear(4, 1).to("cuda:1")

    def forward(self, x):
        return self.second(self.first(x.to("cuda:0")).to("cuda:1"))


def adapt(model, loss, most):
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    kind = 2.0
    total = torch.norm(torch.stack(
        [torch.norm(gradient.detach(), kind) for gradient in gradients if gradient is not None]
    ), kind)
    for parameter, gradient in zip(model.parameters(), gradients):
        parameter.data -= 0.1 * gradient * min(1.0, most / float(total))


def main():
    model = Pair()
    adapt(model, model(torch.randn(5, 3)).pow(2).mean(), 0.5)
    assert {str(parameter.device) for parameter in model.parameters()} == {"cuda:0", "cuda:1"}
