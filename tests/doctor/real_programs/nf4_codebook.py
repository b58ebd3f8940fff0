# culprit: levels
# cause: wrong_default_index | hardcoded_cuda
import torch
from torch import nn


def codebook(bits=4):
    steps = torch.linspace(-1, 1, 2 ** bits, device="cuda")
    return steps.sign() * steps.abs().pow(1.5)


def fake_quantize(weight, block=8):
    levels = codebook()
    blocks = weight.reshape(-1, block)
    absmax = blocks.abs().amax(dim=1, keepdim=True).clamp_min(1e-8)
    distance = ((blocks / absmax).unsqueeze(-1) - levels).abs()
    codes = distance.argmin(dim=-1)
    restored = levels[codes] * absmax
    return weight + (restored.view_as(weight) - weight).detach()


class QATLinear(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, fake_quantize(self.weight), self.bias)


def swap_linears(model):
    for name, child in model.named_children():
        if type(child) is nn.Linear:
            new = QATLinear(child.in_features, child.out_features)
            new.load_state_dict(child.state_dict())
            setattr(model, name, new)
    return model


def main(local_rank=1):
    device = torch.device("cuda", local_rank)
    model = swap_linears(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8)))
    model = model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    x, y = torch.randn(4, 16).to(device), torch.randn(4, 8).to(device)
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
