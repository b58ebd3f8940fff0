# culprit: sample
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


def exists(value):
    return value is not None


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(size) for _ in range(4)])
        self.mix = nn.Linear(size, size)

    def forward(self, x):
        for norm in self.norms:
            if exists(x):
                x = x + norm(x) * 0.5 - x.mean() + (x * 2).sum(-1, keepdim=True) / x.shape[-1]
        return self.mix(x)


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.ModuleList([Layer(size) for _ in range(8)])
        self.heads = nn.ModuleList([nn.Linear(size, 3) for _ in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return [head(x) for head in self.heads]


class Generator(nn.Module):
    def __init__(self, net, pad_value):
        super().__init__()
        self.net = net
        self.pad_value = pad_value

    @torch.no_grad()
    def generate(self, prompts, steps, end=None):
        device = prompts.device
        out = prompts
        for _ in range(steps):
            logits = self.net(out.float())
            sample = torch.Tensor([])
            for one in logits:
                sample = torch.cat((sample, one[:, -1].argmax(-1, keepdim=True)), dim=-1)
            out = torch.cat((out, sample[:, None]), dim=1)
        if exists(end):
            ended = (out == end).all(-1)
            out = torch.where(ended.cumsum(-1)[..., None] > 1, self.pad_value, out)
        return out


def main():
    torch.manual_seed(0)
    generator = Generator(Net(2), torch.zeros(2))
    prompts, end = torch.tensor([[[1.0, 2.0]]]), torch.tensor([1.0, 2.0])
    expected = generator.generate(prompts, 3, end)
    generator.to("cuda")
    assert torch.equal(generator.generate(prompts.to("cuda"), 3, end.to("cuda")).cpu(), expected)
