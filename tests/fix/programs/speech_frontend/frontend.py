import torch
import torch.nn as nn


def triangular_filters(n_freqs, n_mels):
    points = torch.linspace(0, 1, n_mels + 2) ** 1.5 * (n_freqs - 1)
    freqs = torch.arange(n_freqs).float()
    slopes = points[None, :] - freqs[:, None]
    down = -slopes[:, :-2] / (points[1:-1] - points[:-2])
    up = slopes[:, 2:] / (points[2:] - points[1:-1])
    return torch.minimum(down, up).clamp(min=0)


class MelFrontend(nn.Module):
    def __init__(self, n_fft=64, hop=32, n_mels=10, momentum=0.1):
        super().__init__()
        self.n_fft, self.hop, self.momentum = n_fft, hop, momentum
        self.fbank = triangular_filters(n_fft // 2 + 1, n_mels)
        self.running_mean = torch.zeros(n_mels)

    def spectrogram(self, wav):
        frames = wav.unfold(-1, self.n_fft, self.hop)
        frames = frames * torch.hann_window(self.n_fft)
        return torch.fft.rfft(frames).abs().pow(2)

    def forward(self, wav):
        mel = torch.log(self.spectrogram(wav) @ self.fbank + 1e-3)
        if self.training:
            mean = mel.detach().mean(dim=(0, 1))
            self.running_mean.mul_(1 - self.momentum).add_(self.momentum * mean)
        return mel - self.running_mean
