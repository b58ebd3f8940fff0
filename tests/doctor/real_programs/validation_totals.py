# culprit: correct
# cause: metric_or_accumulator_state
import torch
from torch import nn


def validate(model, batches, device, num_classes=4):
    correct = torch.zeros(num_classes)
    seen = torch.zeros(num_classes)
    confidence = torch.zeros(num_classes)
    model.eval()
    with torch.no_grad():
        for images, labels in batches:
            images, labels = images.to(device), labels.to(device)
            probs = model(images).softmax(1)
            hit = (probs.argmax(1) == labels).float()
            onehot = nn.functional.one_hot(labels, num_classes).float()
            correct = correct + (onehot * hit[:, None]).sum(0)
            seen = seen + onehot.sum(0)
            confidence = confidence + probs.sum(0)
    return correct / seen.clamp(min=1), confidence / seen.sum()


def main():
    device = "cuda"
    model = nn.Linear(6, 4).to(device)
    batches = [(torch.randn(5, 6), torch.randint(0, 4, (5,))) for _ in range(3)]
    acc, conf = validate(model, batches, device)
    assert acc.shape == (4,) and abs(conf.sum().item() - 1) < 1e-4
