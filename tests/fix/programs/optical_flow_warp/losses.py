import torch
import torch.nn as nn
import torch.nn.functional as F


def create_window(size, channel):
    x = torch.arange(size).float() - size // 2
    g = torch.exp(-(x**2) / 4.5)
    g = (g / g.sum()).unsqueeze(1)
    return (g @ g.T).expand(channel, 1, size, size).contiguous()


class SSIM(nn.Module):
    def __init__(self, size=5):
        super().__init__()
        self.size, self.channel = size, 1
        self.window = create_window(size, 1)

    def forward(self, a, b):
        channel = a.size(1)
        if channel != self.channel:
            self.window = create_window(self.size, channel)
            self.channel = channel
        window = self.window
        mean = [F.conv2d(x, window, groups=channel) for x in (a, b, a * a, b * b, a * b)]
        var_a, var_b, cov = mean[2] - mean[0] ** 2, mean[3] - mean[1] ** 2, mean[4] - mean[0] * mean[1]
        top = (2 * mean[0] * mean[1] + 1e-4) * (2 * cov + 9e-4)
        return (top / ((mean[0] ** 2 + mean[1] ** 2 + 1e-4) * (var_a + var_b + 9e-4))).mean()


class EdgeAwareSmoothness:
    def __init__(self, decay=(8.0, 4.0, 2.0)):
        self.decay = torch.tensor(decay).view(1, -1, 1, 1)

    def __call__(self, flow, image):
        edge = (image[..., 1:] - image[..., :-1]).abs()
        weight = torch.exp(-(edge * self.decay).mean(dim=1, keepdim=True))
        return (weight * (flow[..., 1:] - flow[..., :-1]).abs()).mean()
