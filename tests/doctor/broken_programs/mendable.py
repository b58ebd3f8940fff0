"""Whole programs, in which the line that ends with `# <-` is to be replaced by the fix, or to have it above."""

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
    "a name from before the move": """
device = torch.device("cuda")
encoder = nn.Linear(3, 8, bias=False)
weight = encoder.weight.data
encoder.to(device)
x = torch.randn(4, 3, device=device)
decoded = encoder(x) @ weight  # <-
decoded.sum().backward()
assert decoded.shape == x.shape
""",
    "a view from before the move, given to a function": """
def decode(x, weight):
    return x @ weight

encoder = nn.Linear(3, 8, bias=False)
tied = encoder.weight.detach().T
encoder.to("cuda")
decode(torch.randn(4, 3, device="cuda"), tied)  # <-
""",
    "a buffer's name from before the move": """
norm = nn.BatchNorm1d(3)
mean = norm.running_mean
norm.to("cuda")
centred = torch.randn(4, 3, device="cuda") - mean  # <-
""",
    "an attribute that was taken of a weight": """
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(3, 8, bias=False)
        self.back = self.encoder.weight.data

    def forward(self, x):
        return self.encoder(x) @ self.back  # <-

Tied().to("cuda")(torch.randn(4, 3, device="cuda"))
""",
    "values that a mask on the CPU writes": """
x = torch.zeros(8, device="cuda")
mask = torch.arange(8) > 3
fill = torch.ones(4)  # <-
x[mask] = fill
""",
    "a conversion of what has a gradient": """
scores = nn.Linear(8, 3).cuda()(torch.randn(2, 8, device="cuda"))
best = numpy.argsort(scores.numpy())  # <-
""",
    "a conversion of a model's output": """
model = nn.Linear(8, 3).cuda()
best = model(torch.randn(2, 8, device="cuda")).numpy()  # <-
""",
    "a list for numpy of what has a gradient": """
model = nn.Linear(8, 1).cuda()
losses = [model(x.cuda()).mean() for x, _ in loader()]
mean = numpy.mean(losses)  # <-
""",
    "an array in arithmetic": """
mean = numpy.ones(4)
x = torch.randn(2, 4, device="cuda")
y = x - mean  # <-
nn.Linear(4, 2).cuda()(y)
""",
    "an array of an object": """
class Centre:
    def __init__(self):
        self.mean = numpy.ones(4)

    def __call__(self, x):
        return (x - self.mean) / 2  # <-

nn.Linear(4, 2).cuda()(Centre()(torch.randn(2, 4, device="cuda")))
""",
    "an array beside whole numbers": """
steps, halves = torch.arange(3, device="cuda"), numpy.full(3, 0.5)
half = steps * halves  # <-
assert half[1].item() == 0.5
""",
    "a table that was kept from before the move": """
class Positions(nn.Linear):
    def __init__(self):
        super().__init__(8, 3)
        self.table = None  # <-

    def forward(self, x):
        if self.table is None:
            self.table = torch.linspace(0, 1, 8, device=x.device)
        return super().forward(x + self.table)

model = Positions()
model(torch.ones(1, 8))
model.to("cuda")(torch.ones(1, 8, device="cuda"))
""",
    "the weight of a partial loss": """
from functools import partial

loss = partial(nn.functional.cross_entropy, weight=torch.ones(4))
model = classifier().cuda()
for x, y in loader():
    loss(model(x.cuda()), y.cuda())  # <-
""",
    "the weight of an object's partial loss": """
from functools import partial

class Run:
    def __init__(self):
        self.loss = partial(nn.functional.cross_entropy, weight=torch.ones(4))

    def step(self, scores, y):
        return self.loss(scores, y)  # <-

Run().step(torch.randn(2, 4, device="cuda"), torch.tensor([0, 1], device="cuda"))
""",
    "a hook that returns a copy on the CPU": """
def squeeze(gradient):
    gradient = gradient.cpu()
    return gradient.clamp(-1, 1)  # <-

def step(model, x):
    model(x).sum().backward()

model = nn.Linear(3, 1).to("cuda")
model.weight.register_hook(squeeze)
step(model, torch.randn(2, 3, device="cuda"))
""",
    "a lambda as a hook": """
model = nn.Linear(3, 1).to("cuda")
model.weight.register_hook(lambda gradient: gradient.cpu() * 2)  # <-
model(torch.randn(2, 3, device="cuda")).sum().backward()
""",
    "a method as a hook": """
class Run:
    def __init__(self):
        self.model = nn.Linear(3, 1).to("cuda")
        self.model.bias.register_hook(self.halved)

    def halved(self, gradient):
        return torch.full(gradient.shape, 0.5)  # <-

    def step(self, x):
        self.model(x).sum().backward()

Run().step(torch.randn(2, 3, device="cuda"))
""",
    "a backward of one's own that returns a sum": """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        return gradient.cpu() + gradient.cpu()  # <-

Twice.apply(torch.randn(4, device="cuda", requires_grad=True)).sum().backward()
""",
    "a gradient that was left behind": """
w = torch.zeros(3, 1, requires_grad=True)
(torch.ones(2, 3) @ w).sum().backward()
w.data = w.data.to("cuda")
loss = (torch.ones(2, 3, device="cuda") @ w).sum()
loss.backward()  # <-
assert w.grad.device == w.device
""",
    "gradients of a model that were left behind": """
model = nn.Linear(3, 1)
model(torch.ones(2, 3)).sum().backward()
for parameter in model.parameters():
    parameter.data = parameter.data.to("cuda")
model(torch.ones(2, 3, device="cuda")).sum().backward()  # <-
""",
    "a gradient that was left behind, and an optimizer": """
w = torch.zeros(3, 1, requires_grad=True)
optimizer = torch.optim.SGD([w], 0.1)
(torch.ones(2, 3) @ w).sum().backward()
w.data = w.data.to("cuda")
optimizer.step()  # <-
""",
    "a checkpoint of a larger machine": """
import io

def saved():
    file = io.BytesIO()
    torch.save({"w": torch.zeros(2, device="cuda:1")}, file)
    return io.BytesIO(file.getvalue().replace(b"cuda:1", b"cuda:7"))

def read(file):
    return torch.load(file, weights_only=True)  # <-

read(saved())
""",
    "a mask that is compared in a call": """
def masked(scores):
    later = torch.ones(6, 6).triu(1)  # <-
    return torch.where(later == 1, float("-inf"), scores)

masked(torch.randn(16, 6, 6, device="cuda"))
""",
    "a mask that a method makes": """
class Attention(nn.Module):
    def mask(self, x):
        return torch.ones(x.shape[1], x.shape[1]).triu(1).bool()  # <-

    def forward(self, x):
        scores = x @ x.transpose(1, 2)
        return scores.masked_fill(self.mask(x), -torch.inf)

Attention()(torch.randn(2, 6, 8, device="cuda"))
""",
    "a buffer that another method replaces": """
class Total(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(()))

    def update(self, a, b):
        self.total += (a - b).abs().sum()

    def reset(self):
        self.total = torch.zeros(())  # <-

metric = Total().to("cuda")
x = torch.ones(3, device="cuda")
for epoch in range(3):
    metric.update(x, 2 * x)
    metric.reset()
""",
    "a total that was on the GPU until the end of its loop": """
device = torch.device("cuda")
total = torch.zeros((), device=device)
for epoch in range(2):
    for loss in torch.ones(3, device=device):
        total += loss
    total = torch.zeros(())  # <-
""",
    "a list from two devices": """
memory = [torch.tensor(0) for _ in range(6)]
memory.append(torch.tensor(1, device="cuda"))
chosen = [memory[place] for place in (1, 4, 6)]
torch.stack(chosen)  # <-
""",
    "a sample from two devices, unpacked by map": """
memory = [(torch.randn(4), torch.tensor(0)) for _ in range(6)]
memory.append((torch.randn(4), torch.tensor(1, device="cuda")))
sample = memory[-4:]
states, chosen = map(torch.stack, zip(*sample))  # <-
""",
    "a load that replaces what the optimizer steps": """
device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
state = {name: value.cpu() for name, value in model.state_dict().items()}
model.load_state_dict(state, assign=True)  # <-

def train(model, optimizer, x):
    before = model.weight.detach().clone()
    model(x).sum().backward()
    optimizer.step()
    assert not torch.equal(before, model.weight)

train(model, optimizer, torch.ones(2, 4, device=device))
""",
}
