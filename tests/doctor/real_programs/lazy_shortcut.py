# culprit: self.shortcut | self.shortcut.weight
# cause: submodule_created_in_forward
import torch
from torch import nn


class ResBlock1d(nn.Module):
    def __init__(self, out_channels, kernel=5, dilation=1):
        super().__init__()
        self.out_channels = out_channels
        self.conv = nn.LazyConv1d(out_channels, kernel, padding=dilation * (kernel // 2), dilation=dilation)
        self.norm = nn.GroupNorm(4, out_channels)
        self.shortcut = None

    def forward(self, x):
        y = nn.functional.silu(self.norm(self.conv(x)))
        if x.shape[1] != self.out_channels:
            if self.shortcut is None:
                self.shortcut = nn.Conv1d(x.shape[1], self.out_channels, 1)
            x = self.shortcut(x)
        return x + y


class KeywordSpotter(nn.Module):
    def __init__(self, words=10):
        super().__init__()
        self.blocks = nn.Sequential(ResBlock1d(16), ResBlock1d(16, dilation=2), ResBlock1d(32, dilation=4))
        self.head = nn.Linear(32, words)

    def forward(self, mel):
        return self.head(self.blocks(mel).mean(-1))


def train(model, loader, device, lr=1e-3):
    optimizer = None
    for mel, word in loader:
        logits = model(mel.to(device))
        optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=lr)
        loss = nn.functional.cross_entropy(logits, word.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    device = torch.device("cuda:0")
    model = KeywordSpotter().to(device)
    loader = [(torch.randn(4, 12, 40), torch.randint(0, 10, (4,))) for _ in range(2)]
    train(model, loader, device)
