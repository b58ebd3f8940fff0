# culprit: self.confidence
# cause: metric_or_accumulator_state | unregistered_tensor_attribute
import torch
from torch import nn


class CalibrationError:
    def __init__(self, n_bins=10):
        self.n_bins = n_bins
        self.reset()

    def reset(self):
        self.confidence = torch.zeros(self.n_bins)
        self.accuracy = torch.zeros(self.n_bins)

    def update(self, logits, labels):
        conf, pred = logits.softmax(-1).max(-1)
        bins = (conf * self.n_bins).long().clamp(max=self.n_bins - 1)
        self.confidence.index_add_(0, bins, conf)
        self.accuracy.index_add_(0, bins, (pred == labels).float())

    def compute(self):
        gap = (self.confidence - self.accuracy).abs().sum()
        return (gap / self.n_bins).item()


class Evaluator:
    def __init__(self, model, metrics, device):
        self.model, self.metrics, self.device = model.eval(), metrics, device

    @torch.no_grad()
    def run(self, batches):
        for inputs, labels in batches:
            logits = self.model(inputs.to(self.device))
            for metric in self.metrics.values():
                metric.update(logits, labels.to(self.device))
        return {name: metric.compute() for name, metric in self.metrics.items()}


def main():
    device = torch.device("cuda")
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)
    batches = [(torch.randn(5, 8), torch.randint(0, 4, (5,))) for _ in range(3)]
    return Evaluator(model, {"ece": CalibrationError()}, device).run(batches)
