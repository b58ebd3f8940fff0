"""Programs as text: without a file, in a notebook's cell, and with a library."""

# The same in other guises: without a file, and in a notebook's cell.

WITHOUT_A_FILE = {
    "input_not_moved": (
        "x",
        """
def run(model, x):
    return model(x)

for x, y in loader():
    run(classifier().cuda(), x)
""",
    ),
    "unregistered_tensor_attribute": (
        "self.mean",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(8)
    def forward(self, x):
        return x - self.mean

Net().cuda()(torch.randn(2, 8, device="cuda"))
""",
    ),
    "tensor_created_in_forward_without_device": (
        "positions",
        """
class Net(nn.Embedding):
    def forward(self, x):
        positions = torch.arange(x.shape[1])
        return super().forward(positions)

Net(10, 4).cuda()(torch.randn(2, 8, device="cuda"))
""",
    ),
    "model_not_moved": (
        "model.weight",
        """
model = nn.Linear(8, 4)
out = model(torch.randn(2, 8, device="cuda"))
""",
    ),
    "split_model_activation_not_moved": (
        "hidden",
        """
a, b = nn.Linear(8, 8).to("cuda:0"), nn.Linear(8, 4).to("cuda:1")
hidden = a(torch.randn(2, 8, device="cuda:0"))
out = b(hidden)
""",
    ),
    "metric_or_accumulator_state": (
        "total",
        """
total = torch.zeros(1)
for i in range(3):
    loss = torch.ones(1, device="cuda")
    total += loss
""",
    ),
}

# A library, as it stands in site-packages, and what calls it.

LIBRARY = """
import torch
from torch import nn


def with_positions(x):
    positions = torch.arange(x.shape[1])
    return x + positions


class Centre(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(8)

    def forward(self, x):
        return x - self.mean


class Trainer:
    def __init__(self, model):
        self.model = model

    def fit(self, loader):
        for batch in loader:
            inputs, labels = batch
            self.model(inputs.flatten(1))
"""

WITH_A_LIBRARY = {
    "a function": ("library_bug", "positions", 'library.with_positions(torch.randn(2, 8, device="cuda"))'),
    "a module": ("library_bug", "self.mean", 'library.Centre().cuda()(torch.randn(2, 8, device="cuda"))'),
    "the user's batch": ("input_not_moved", "inputs", "library.Trainer(classifier().cuda()).fit(loader())"),
    "the user's mask": ("input_not_moved", "x", "for x, y in loader():\n    classifier().cuda()(x)"),
}
