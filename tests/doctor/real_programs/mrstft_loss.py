# culprit: self.window
# cause: unregistered_tensor_attribute | loss_weight_not_moved
import torch
from torch import nn


class STFTLoss(nn.Module):
    def __init__(self, fft_size, hop, win_length):
        super().__init__()
        self.fft_size, self.hop, self.win_length = fft_size, hop, win_length
        self.window = torch.hann_window(win_length)

    def stft(self, x):
        spec = torch.stft(x, self.fft_size, self.hop, self.win_length, self.window, return_complex=True)
        return spec.abs().clamp(min=1e-7)

    def forward(self, pred, target):
        p, t = self.stft(pred), self.stft(target)
        sc = torch.norm(t - p) / torch.norm(t)
        return sc + (p.log() - t.log()).abs().mean()


class MultiResolutionSTFTLoss(nn.Module):
    def __init__(self, resolutions=((64, 16, 64), (32, 8, 32))):
        super().__init__()
        self.losses = nn.ModuleList(STFTLoss(*r) for r in resolutions)

    def forward(self, pred, target):
        return sum(loss(pred, target) for loss in self.losses) / len(self.losses)


def main():
    device = "cuda"
    vocoder = nn.Conv1d(4, 1, 3, padding=1).to(device)
    criterion = MultiResolutionSTFTLoss().to(device)
    mel, wav = torch.randn(2, 4, 256), torch.randn(2, 256)
    loss = criterion(vocoder(mel.to(device)).squeeze(1), wav.to(device))
    loss.backward()
