# culprit: self.window
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class MelToMagnitude(nn.Module):
    def __init__(self, n_mels=16, bins=33):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(n_mels, 48, 3, padding=1), nn.ReLU(), nn.Conv1d(48, bins, 1))

    def forward(self, mel):
        return nn.functional.softplus(self.net(mel))


class GriffinLim:
    def __init__(self, n_fft=64, hop=16, iterations=4, momentum=0.9):
        self.n_fft, self.hop = n_fft, hop
        self.iterations, self.momentum = iterations, momentum
        self.window = torch.hann_window(n_fft)

    def _synthesize(self, spec):
        return torch.istft(spec, self.n_fft, self.hop, window=self.window, center=True)

    def _analyze(self, wave):
        return torch.stft(wave, self.n_fft, self.hop, window=self.window, center=True, return_complex=True)

    def __call__(self, magnitude):
        angle = torch.rand_like(magnitude) * 6.2831853
        phase = torch.polar(torch.ones_like(angle), angle)
        for _ in range(self.iterations):
            wave = self._synthesize(magnitude * phase)
            rebuilt = self._analyze(wave)
            phase = rebuilt / rebuilt.abs().clamp(min=1e-8)
        return self._synthesize(magnitude * phase)


class TextToSpeech:
    def __init__(self, device):
        self.device = torch.device(device)
        self.model = MelToMagnitude().to(self.device).eval()
        self.vocoder = GriffinLim()

    @torch.inference_mode()
    def speak(self, mel):
        magnitude = self.model(mel.to(self.device))
        return self.vocoder(magnitude).cpu()


def main():
    tts = TextToSpeech("cuda")
    return tts.speak(torch.randn(1, 16, 20)).shape
