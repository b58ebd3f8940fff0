"""The programs of notebooks/practice-5-mixed.ipynb, whose puzzles show a traceback alone.

Each has four answers: the tensor, its device, and a change. The tests run all of them.
"""

from lessons.exercises.kinds import Exercise, Prediction
from lessons.tracebacks import Alternative, FailingProgram

EXERCISES: dict[str, Exercise | Prediction] = {}  # here `check` has nothing to judge: answer_of shows what is right

PROGRAMS = {
    "1": FailingProgram(
        source="""\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, tokens):
        x = self.embedding(tokens) * self.scale
        positions = torch.arange(tokens.shape[1]).unsqueeze(1)
        return x + positions / 100


torch.manual_seed(1)
tokens = torch.randint(50, (4, 6))
model = Encoder(50, 8).to("cuda")
encoded = model(tokens.to("cuda"))
print(tuple(encoded.shape), "on", encoded.device)
""",
        suspects=("x", "positions", "self.scale", "self.embedding"),
        shown=(12, 13, 19),
        alternatives=(
            Alternative("x", "cpu", {19: 'model = Encoder(50, 8).cuda().to("cuda")'}),
            Alternative("self.scale", "cpu", {9: 'self.scale = nn.Parameter(torch.ones(width, device="cuda"))'}),
            Alternative(
                "positions",
                "cpu",
                {13: "positions = torch.arange(tokens.shape[1], device=x.device).unsqueeze(1)"},
            ),
            Alternative("x", "cuda:0", {14: "return x.cpu() + positions / 100"}),
        ),
        right=3,
    ),
    "2": FailingProgram(
        source="""\
import os

import torch
from torch import nn


def noise(size):
    return torch.randn(size, 16)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(16, 32)
        self.out = nn.Linear(32, 8)

    def forward(self, z):
        h = torch.relu(self.hidden(z))
        return self.out(h)


device = torch.device("cuda")
torch.manual_seed(1)
real = torch.randn(4, 8).to(device)
generator = Generator().to(device)
fake = generator(noise(len(real)))
print("fake on", fake.device)
""",
        suspects=("z", "self.hidden", "real"),
        shown=(8, 25),
        alternatives=(
            Alternative("self.hidden.weight", "cpu", {25: "generator = Generator().cuda()"}),
            Alternative("z", "cpu", {8: 'return torch.randn(size, 16, device="cuda")'}),
            Alternative("self.hidden(z)", "cpu", {18: "h = torch.relu(self.hidden(z).to(device))"}),
            Alternative("h", "cpu", {22: 'os.environ["CUDA_LAUNCH_BLOCKING"] = "1"\ndevice = torch.device("cuda")'}),
        ),
        right=2,
    ),
    "3": FailingProgram(
        source="""\
import torch
from torch import nn


def margin(logits, labels):
    one_hot = torch.eye(3)[labels].to(logits.device)
    own = (one_hot * logits).sum(dim=1)
    best_other = (logits - 99 * one_hot).amax(dim=1)
    return (own - best_other).clamp(min=0)


torch.manual_seed(1)
images = torch.randn(4, 12).to("cuda")
labels = torch.tensor([0, 2, 1, 2]).to("cuda")
model = nn.Linear(12, 3).to("cuda")
loss = margin(model(images), labels).sum()
print("loss on", loss.device)
""",
        suspects=("torch.eye(3)", "labels", "logits"),
        alternatives=(
            Alternative("torch.eye(3)", "cpu", {6: "one_hot = torch.eye(3, device=labels.device)[labels]"}),
            Alternative("labels", "cpu", {6: "one_hot = torch.eye(3)[labels.cuda()].to(logits.device)"}),
            Alternative("one_hot", "cpu", {6: 'one_hot = torch.eye(3)[labels].to("cuda:0")'}),
            Alternative("logits", "cuda:0", {16: "loss = margin(model(images).cpu(), labels).sum()"}),
        ),
        right=1,
    ),
    "4": FailingProgram(
        source="""\
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1)
x, y = torch.randn(32, 4), torch.arange(32) % 3
model = nn.Linear(4, 3).to("cuda")
losses, hits = [], []
for part in range(4):
    images, labels = x[part::4].to("cuda"), y[part::4].to("cuda")
    logits = model(images)
    loss = F.cross_entropy(logits, labels)
    losses.append(loss.detach())
    hits.append((logits.argmax(dim=1) == labels).float().mean().cpu())
means = [np.mean(hits), np.mean(losses)]
print([f"{mean:.1f}" for mean in means])
""",
        suspects=("hits[0]", "losses[0]", "labels", "model"),
        shown=(11, 14, 15),
        alternatives=(
            Alternative(
                "hits[0]",
                "cuda:0",
                {15: "hits.append((logits.argmax(dim=1) == labels).cpu().float().mean().cpu())"},
            ),
            Alternative("losses[0]", "cuda:0", {16: "means = [np.mean(hits), np.mean(losses.cpu())]"}),
            Alternative("losses[0]", "cuda:0", {14: "losses.append(loss.data)"}),
            Alternative("losses[0]", "cuda:0", {14: "losses.append(loss.item())"}),
        ),
        right=4,
    ),
    "5": FailingProgram(
        source="""\
import io

import torch
from torch import nn


def train_step(x, y):
    loss = (model(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


torch.manual_seed(1)
x, y = torch.randn(8, 4), torch.randn(8, 1)
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
train_step(x, y)
file = io.BytesIO()
torch.save(optimizer.state_dict(), file)
file.seek(0)

model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
optimizer.load_state_dict(torch.load(file))
model.to("cuda")
print("loss on", train_step(x.to("cuda"), y.to("cuda")).device)
""",
        suspects=(
            'optimizer.state[model.weight]["exp_avg"]',
            "model.weight",
            "model.weight.grad",
            "x",
        ),
        shown=(24, 25, 26, 27),
        alternatives=(
            Alternative("model.weight", "cpu", {27: 'model = model.to("cuda")'}),
            Alternative(
                'optimizer.state[model.weight]["exp_avg"]',
                "cpu",
                {26: 'optimizer.load_state_dict(torch.load(file, map_location="cuda"))'},
            ),
            Alternative("model.weight.grad", "cpu", {10: 'loss.to("cuda").backward()'}),
            Alternative(
                'optimizer.state[model.weight]["exp_avg"]',
                "cpu",
                {26: 'model.to("cuda")\noptimizer.load_state_dict(torch.load(file))', 27: ""},
            ),
        ),
        right=4,
    ),
    "6": FailingProgram(
        source="""\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        y = self.layer(x.to(self.layer.weight.device))
        return x + torch.tanh(y)


torch.manual_seed(1)
first, second = Block(8).to("cuda:0"), Block(8).to("cuda:1")
model = nn.Sequential(first, second)
tokens = torch.randn(4, 8)
output = model(tokens.to("cuda:0"))
print("output on", output.device)
""",
        suspects=("x", "y", "self.layer"),
        shown=(11, 16, 17),
        alternatives=(
            Alternative("x", "cuda:0", {19: 'output = model(tokens.to("cuda:1"))'}),
            Alternative("x", "cuda:0", {11: "x = x.to(self.layer.weight.device)\ny = self.layer(x)"}),
            Alternative(
                "self.layer.weight",
                "cuda:0",
                {17: 'model = nn.Sequential(first, second.to("cuda:1"))'},
            ),
            Alternative("x", "cuda:0", {18: "torch.cuda.set_device(1)\ntokens = torch.randn(4, 8)"}),
        ),
        right=2,
    ),
    "7": FailingProgram(
        source="""\
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device
        self.gru = nn.GRU(8, 16, batch_first=True)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        start = torch.zeros(1, len(x), 16, device=self.device)
        _, state = self.gru(x, start)
        return self.head(state[0])


torch.manual_seed(1)
device = torch.device("cuda:0")
tagger = Tagger(device).to(device)
model = nn.DataParallel(tagger, device_ids=[0, 1])
logits = model(torch.randn(6, 5, 8))
print(tuple(logits.shape), "on", logits.device)
""",
        suspects=("x", "start", "self.gru.weight_ih_l0", "self.head.weight"),
        shown=(13, 19, 20),
        alternatives=(
            Alternative("start", "cuda:0", {13: "start = torch.zeros(1, len(x), 16, device=x.device)"}),
            Alternative("x", "cuda:1", {22: "logits = model(torch.randn(6, 5, 8).to(device))"}),
            Alternative("self.gru.weight_ih_l0", "cuda:0", {20: 'tagger = Tagger(device).to("cuda:1")'}),
            Alternative(
                "start",
                "cuda:0",
                {13: "start = torch.zeros(1, len(x), 16, device=next(self.parameters()).device)"},
            ),
        ),
        right=1,
    ),
    "8": FailingProgram(
        source="""\
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.boxes = nn.Linear(8, 4)
        self.stride = torch.tensor([8.0, 8.0, 16.0, 16.0])

    def forward(self, x):
        return torch.sigmoid(self.boxes(x)) * self.stride


torch.manual_seed(1)
x = torch.randn(4, 8).to("cuda")
model = torch.compile(Detector(), backend="eager")
model.to("cuda")
boxes = model(x)
print(tuple(boxes.shape), "on", boxes.device)
""",
        suspects=("x", "model.boxes", "model.stride"),
        shown=(9, 17, 18),
        alternatives=(
            Alternative("model.boxes.weight", "cpu", {17: 'model = torch.compile(Detector().cuda(), backend="eager")'}),
            Alternative("model.stride", "cpu", {17: "model = Detector()"}),
            Alternative(
                "model.stride",
                "cpu",
                {9: 'self.register_buffer("stride", torch.tensor([8.0, 8.0, 16.0, 16.0]))'},
            ),
            Alternative("x", "cpu", {19: 'boxes = model(x.to("cuda:0"))'}),
        ),
        right=3,
    ),
}
