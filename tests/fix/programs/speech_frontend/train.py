import math
import random

import torch
import torch.nn as nn
from augment import SpecAugment
from frontend import MelFrontend


def tones(n, length=512):
    label = torch.randint(0, 4, (n,))
    t = torch.arange(length) / length
    freq = 20 * (label + 1) + 4 * torch.rand(n)
    wav = torch.sin(2 * math.pi * freq[:, None] * t[None, :]) + 0.3 * torch.randn(n, length)
    return wav, label


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.frontend = MelFrontend()
        self.augment = SpecAugment()
        self.conv = nn.Conv1d(10, 16, 3)
        self.fc = nn.Linear(16, 4)

    def forward(self, wav):
        mel = self.frontend(wav)
        if self.training:
            mel = self.augment(mel)
        return self.fc(self.conv(mel.transpose(1, 2)).relu().mean(dim=2))


random.seed(3)
torch.manual_seed(3)
device = torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")
model = Classifier().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(1, 16):
    wav, label = tones(16)
    loss = nn.functional.cross_entropy(model(wav.to(device)), label.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.4f}")
model.eval()
wav, label = tones(40)
with torch.no_grad():
    pred = model(wav.to(device)).argmax(dim=1).cpu()
print("correct", int((pred == label).sum()), "running mean", round(model.frontend.running_mean.mean().item(), 4))
