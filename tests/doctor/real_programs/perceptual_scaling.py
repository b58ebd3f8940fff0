# culprit: self.SHIFT
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class InputScaling(nn.Module):
    SHIFT = torch.tensor([-0.030, -0.088, -0.188]).view(1, 3, 1, 1)
    SCALE = torch.tensor([0.458, 0.448, 0.450]).view(1, 3, 1, 1)

    def forward(self, x):
        return (x - self.SHIFT) / self.SCALE


class PerceptualDistance(nn.Module):
    def __init__(self, widths=(8, 16)):
        super().__init__()
        self.scaling = InputScaling()
        stages, channels = [], 3
        for width in widths:
            stages.append(nn.Sequential(nn.Conv2d(channels, width, 3, 2, 1), nn.ReLU()))
            channels = width
        self.stages = nn.ModuleList(stages)
        self.linear = nn.ModuleList(nn.Conv2d(w, 1, 1, bias=False) for w in widths)

    def forward(self, a, b):
        a, b = self.scaling(a), self.scaling(b)
        total = 0.0
        for stage, lin in zip(self.stages, self.linear):
            a, b = stage(a), stage(b)
            diff = nn.functional.normalize(a, dim=1) - nn.functional.normalize(b, dim=1)
            total = total + lin(diff.pow(2)).mean(dim=(1, 2, 3))
        return total


def main():
    device = torch.device("cuda:0")
    lpips = PerceptualDistance().to(device).eval().requires_grad_(False)
    decoder = nn.Sequential(nn.ConvTranspose2d(4, 3, 4, 2, 1), nn.Tanh()).to(device)
    optimizer = torch.optim.AdamW(decoder.parameters(), lr=1e-3)
    latents = torch.randn(2, 4, 8, 8, device=device)
    target = torch.rand(2, 3, 16, 16, device=device) * 2 - 1
    recon = decoder(latents)
    loss = nn.functional.l1_loss(recon, target) + lpips(recon, target).mean()
    loss.backward()
    optimizer.step()
