# culprit: new | self.bank | self.bank[index]
# cause: written_values_on_wrong_device
import torch
from torch import nn
import torch.nn.functional as F


class InstanceBank:
    def __init__(self, size, dim, momentum=0.5):
        self.bank = F.normalize(torch.randn(size, dim), dim=1)
        self.momentum = momentum

    def logits(self, feats, tau=0.07):
        return feats @ self.bank.to(feats.device).t() / tau

    @torch.no_grad()
    def update(self, index, feats):
        old = self.bank[index].to(feats.device)
        new = F.normalize(self.momentum * old + (1 - self.momentum) * feats, dim=1)
        self.bank[index] = new


def main():
    device = torch.device("cuda")
    data = torch.randn(32, 3, 4, 4)
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(48, 8)).to(device)
    bank = InstanceBank(len(data), 8)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.03)
    for index in torch.randperm(len(data)).split(8):
        feats = F.normalize(encoder(data[index].to(device)), dim=1)
        loss = F.cross_entropy(bank.logits(feats), index.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank.update(index, feats)
