# culprit: class_weights | criterion.keywords["weight"] | inverse_frequency(counts)
# cause: loss_weight_not_moved
from functools import partial
import torch
import torch.nn.functional as F
from torch import nn


def inverse_frequency(counts, power=0.5):
    freq = torch.tensor(counts, dtype=torch.float32)
    weight = (freq.sum() / freq) ** power
    return weight / weight.mean()


def make_criterion(counts, smoothing=0.1):
    class_weights = inverse_frequency(counts)
    return partial(F.cross_entropy, weight=class_weights, label_smoothing=smoothing, ignore_index=255)


class SegHead(nn.Module):
    def __init__(self, classes, width=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1))
        self.classifier = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        logits = self.classifier(self.encoder(x).relu())
        return F.interpolate(logits, size=x.shape[-2:], mode="nearest")


def train_step(model, batch, criterion, optimizer, device):
    image, mask = (item.to(device) for item in batch)
    optimizer.zero_grad(set_to_none=True)
    loss = criterion(model(image), mask)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    device = torch.device("cuda")
    model = SegHead(4).to(device)
    criterion = make_criterion([9000, 400, 120, 33])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    batch = torch.rand(2, 3, 16, 16), torch.randint(0, 4, (2, 16, 16))
    return train_step(model, batch, criterion, optimizer, device)
