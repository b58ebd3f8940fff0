"""Programs as text: without a file, in a notebook's cell, with a library, and with a line to mend."""

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

# Whole programs, in which the line that ends with `# <-` is to be replaced by the fix.

MENDABLE = {
    "a batch": """
model = classifier().cuda()
for x, y in loader():
    model(x)  # <-
""",
    "a factory": """
def add_noise(x):
    noise = torch.randn(x.shape)  # <-
    return x + noise

add_noise(torch.ones(3, device="cuda"))
""",
    "labels, made before the output": """
def loss(real):
    label = torch.full((real.size(0),), 1.0)  # <-
    out = real.sum(1)
    return nn.functional.binary_cross_entropy_with_logits(out, label)

loss(torch.randn(4, 8, device="cuda"))
""",
    "a plain tensor": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(8)  # <-

    def forward(self, x):
        return x - self.mean

Net().cuda()(torch.randn(2, 8, device="cuda"))
""",
    "tensors in a list": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.levels = [torch.zeros(8), torch.ones(8)]  # <-

    def forward(self, x):
        return x - self.levels[1]

Net().cuda()(torch.randn(2, 8, device="cuda"))
""",
    "layers in a dict": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {"a": nn.Linear(8, 2), "b": nn.Linear(8, 3)}  # <-

    def forward(self, x, task):
        return self.heads[task](x)

Net().cuda()(torch.randn(2, 8, device="cuda"), "b")
""",
    "a tuple's part": """
pair = (torch.randn(2, 8), torch.zeros(2))
out = classifier().cuda()(pair[0])  # <-
""",
    "a comprehension": """
model = classifier().cuda()
outs = [model(x) for x, y in loader()]  # <-
""",
    "a global in a function": """
SCALE = torch.ones(8)

def scaled(x):
    return [x * SCALE][0]  # <-

scaled(torch.ones(2, 8, device="cuda"))
""",
    "a result in a chain": """
first, second = nn.Linear(8, 8).to("cuda:0"), nn.Linear(8, 4).to("cuda:1")
out = second(first(torch.randn(2, 8, device="cuda:0")).relu())  # <-
""",
    "a list for numpy": """
losses = [torch.ones(2, device="cuda") for _ in range(3)]
mean = numpy.mean(losses)  # <-
""",
    "a conversion": """
scores = torch.ones(3, device="cuda")
best = scores.argsort().numpy()  # <-
""",
    "a generator": """
generator = torch.Generator().manual_seed(0)  # <-
noise = torch.randn(3, device="cuda", generator=generator)
""",
    "a shuffled loader": """
torch.set_default_device("cuda")
data = DataLoader(torch.ones(4, 2), batch_size=2, shuffle=True)  # <-
for x in data:
    pass
""",
    "a move thrown away": """
model = classifier().cuda()
for x, y in loader():
    x.to("cuda", non_blocking=True)  # <-
    model(x)
""",
    "a misspelt name": """
gpu = 1
device = torch.device(f"cuda{gpu}")  # <-
""",
    "an old constructor": """
device = torch.device("cuda")
mean = torch.Tensor([0.5, 0.4], device=device)  # <-
""",
    "a state that was not assigned": """
state = classifier().state_dict()
with torch.device("meta"):
    model = classifier()
model.load_state_dict(state)  # <-
model.cuda()
""",
    "a pinned loader": """
data = DataLoader(torch.ones(4, 2).cuda(), batch_size=2, pin_memory=True)  # <-
for x in data:
    pass
""",
}
