# culprit: fbank
# cause: cached_before_move
import torch
from torch import nn

_FILTERBANKS = {}


def filterbank(n_freqs, n_mels, device):
    key = (n_freqs, n_mels)
    if key not in _FILTERBANKS:
        centres = torch.linspace(0, n_freqs - 1, n_mels, device=device)
        freqs = torch.arange(n_freqs, device=device)[:, None]
        _FILTERBANKS[key] = (1 - (freqs - centres).abs() / 3).clamp_min(0)
    return _FILTERBANKS[key]


class KeywordSpotter(nn.Module):
    def __init__(self, frame=32, n_mels=8, words=5):
        super().__init__()
        self.frame, self.n_mels = frame, n_mels
        self.n_freqs = frame // 2 + 1
        self.conv = nn.Conv1d(n_mels, 12, 3)
        self.out = nn.Linear(12, words)

    def features(self, wave):
        frames = wave.unfold(-1, self.frame, self.frame // 2)
        power = torch.fft.rfft(frames).abs().pow(2)
        fbank = filterbank(self.n_freqs, self.n_mels, wave.device)
        return torch.matmul(power, fbank).clamp_min(1e-6).log()

    def forward(self, wave):
        return self.out(self.conv(self.features(wave).transpose(1, 2)).mean(-1))


def main():
    model = KeywordSpotter()
    print("output shape:", tuple(model(torch.randn(1, 320)).shape))
    device = torch.device("cuda")
    model.to(device)
    for _ in range(2):
        wave = torch.randn(4, 320).to(device)
        model(wave).logsumexp(-1).mean().backward()
