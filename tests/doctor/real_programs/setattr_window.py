# culprit: self.window
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class Spectrogram(nn.Module):
    def __init__(self, n_fft=16):
        super().__init__()
        self.n_fft = n_fft
        setattr(self, "window", torch.hann_window(n_fft))
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, wav):
        frames = wav.unfold(-1, self.n_fft, self.n_fft // 2)
        frames = frames * self.window
        return torch.fft.rfft(frames).abs() * self.scale


def main():
    for dev in ("cuda", "cpu"):
        m = Spectrogram().to(dev)
        out = m(torch.randn(2, 64, device=dev))
        assert out.device.type == dev
