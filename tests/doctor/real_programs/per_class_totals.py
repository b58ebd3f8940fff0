# culprit: totals["correct"] | totals
# cause: metric_or_accumulator_state
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = ["cat", "dog", "fox", "owl"]


def build_model():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, len(CLASSES)),
    )


def tally(pred, target):
    onehot = nn.functional.one_hot(target, len(CLASSES))
    hit = (pred == target).unsqueeze(1) * onehot
    return hit.sum(0), onehot.sum(0)


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    totals = {"correct": torch.zeros(len(CLASSES)), "count": torch.zeros(len(CLASSES))}
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        pred = model(images).argmax(1)
        correct, count = tally(pred, labels)
        totals["correct"] += correct
        totals["count"] += count
    recall = totals["correct"] / totals["count"].clamp(min=1)
    return dict(zip(CLASSES, recall.tolist()))


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = build_model().to(device)
    data = TensorDataset(torch.rand(24, 3, 8, 8), torch.randint(0, 4, (24,)))
    return evaluate(model, DataLoader(data, batch_size=8), device)
