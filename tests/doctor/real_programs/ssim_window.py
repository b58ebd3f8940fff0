# culprit: window
# cause: tensor_created_in_forward_without_device
import torch
import torch.nn.functional as F
from torch import nn


def gaussian_window(size=5, sigma=1.5, channels=3):
    x = torch.arange(size) - size // 2
    g = torch.exp(-(x**2) / (2 * sigma**2))
    g = g / g.sum()
    return torch.outer(g, g).expand(channels, 1, size, size).contiguous()


def ssim(img1, img2, window=gaussian_window(), c1=0.01**2, c2=0.03**2):
    ch, pad = img1.size(1), window.size(-1) // 2
    mu1 = F.conv2d(img1, window, padding=pad, groups=ch)
    mu2 = F.conv2d(img2, window, padding=pad, groups=ch)
    s1 = F.conv2d(img1 * img1, window, padding=pad, groups=ch) - mu1**2
    s2 = F.conv2d(img2 * img2, window, padding=pad, groups=ch) - mu2**2
    s12 = F.conv2d(img1 * img2, window, padding=pad, groups=ch) - mu1 * mu2
    score = ((2 * mu1 * mu2 + c1) * (2 * s12 + c2)) / ((mu1**2 + mu2**2 + c1) * (s1 + s2 + c2))
    return score.mean()


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 3, padding=1))

    def forward(self, x):
        return (x + self.net(x)).clamp(0, 1)


def main():
    model = Denoiser().to("cuda")
    device = next(model.parameters()).device
    clean = torch.rand(2, 3, 12, 12, device=device)
    noisy = clean + 0.1 * torch.randn_like(clean)
    loss = 1 - ssim(model(noisy), clean)
    loss.backward()
