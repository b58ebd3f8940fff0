"""The line that is shown is the one that a person would keep: it runs once, where the thing is made, and heals it."""

import linecache
import textwrap

import pytest
import torch
import torch.distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from samedevice import explain, simulate_cuda

NAMES = {
    "torch": torch,
    "nn": nn,
    "F": nn.functional,
    "DataLoader": DataLoader,
    "TensorDataset": TensorDataset,
    "DistributedDataParallel": DistributedDataParallel,
}


def run(source, names):
    """Run a cell of a notebook; return the culprits of its error, or None where it runs to its end."""
    place = f"<ipython-input-1-{abs(hash(source)):012x}>"
    linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    try:
        exec(compile(source, place, "exec"), names)
    except RuntimeError as error:
        return explain(error).culprits
    return None


def changed(source, edits):
    """Make the changes in a cell."""
    lines = source.splitlines()
    for edit in sorted(edits, key=lambda edit: edit.line, reverse=True):
        line = lines[edit.line - 1]
        indent = line[: len(line) - len(line.lstrip())]
        new = [textwrap.indent(edit.text, indent)] * bool(edit.text)
        lines[edit.line - 1 : edit.line] = [*new, line] if edit.action == "before" else new
    return "\n".join(lines) + "\n"


KEPT = {
    "a device that another cell chose": (
        'device = torch.device("cuda")',
        "mean = torch.zeros(3)\nfor _ in range(2):\n    mean += torch.ones(3, device=device)\n",
        "mean = torch.zeros(3, device=device)\nfor _ in range(2):\n    mean += torch.ones(3, device=device)\n",
    ),
    "the device of what a function was given, not a global": (
        'device = torch.device("cuda")',
        """
        def place(words):
            positions = torch.arange(words.shape[1])
            return words + positions
        place(torch.ones(2, 3, device=device))
        """,
        """
        def place(words):
            positions = torch.arange(words.shape[1], device=words.device)
            return words + positions
        place(torch.ones(2, 3, device=device))
        """,
    ),
    "a layer that came after the move": (
        'device = torch.device("cuda")',
        """
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2)).to(device)
        model[1] = nn.Linear(3, 2)
        for _ in range(2):
            for x in torch.ones(2, 4, 3):
                model(x.to(device))
        """,
        """
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2)).to(device)
        model[1] = nn.Linear(3, 2)
        model.to(device)
        for _ in range(2):
            for x in torch.ones(2, 4, 3):
                model(x.to(device))
        """,
    ),
    "a layer that a loop adds": (
        'device = torch.device("cuda")',
        """
        model = nn.Sequential(nn.Linear(3, 3)).to(device)
        for _ in range(2):
            model.append(nn.Linear(3, 3))
            for x in torch.ones(2, 4, 3):
                model(x.to(device))
        """,
        """
        model = nn.Sequential(nn.Linear(3, 3)).to(device)
        for _ in range(2):
            model.append(nn.Linear(3, 3))
            model.to(device)
            for x in torch.ones(2, 4, 3):
                model(x.to(device))
        """,
    ),
    "the moves of a batch": (
        "",
        """
        device = torch.device("cuda:1")
        model = nn.Linear(3, 1).to(device)
        for x, y in DataLoader(TensorDataset(torch.ones(4, 3), torch.ones(4, 1))):
            x, y = x.cuda(), y.cuda()
            F.mse_loss(model(x), y)
        """,
        """
        device = torch.device("cuda:1")
        model = nn.Linear(3, 1).to(device)
        for x, y in DataLoader(TensorDataset(torch.ones(4, 3), torch.ones(4, 1))):
            x, y = x.to(device), y.to(device)
            F.mse_loss(model(x), y)
        """,
    ),
    "a part of a split model": (
        "",
        """
        class Split(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(3, 3).to("cuda:0")
                self.head = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).to("cuda:1")
            def forward(self, x):
                x = self.body(x)
                return self.head(x)
        Split()(torch.ones(2, 3, device="cuda:0"))
        """,
        """
        class Split(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(3, 3).to("cuda:0")
                self.head = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).to("cuda:1")
            def forward(self, x):
                x = self.body(x)
                x = x.to(next(self.head.parameters()).device)
                return self.head(x)
        Split()(torch.ones(2, 3, device="cuda:0"))
        """,
    ),
    "a loader that pins what its collate_fn moved": (
        'device = torch.device("cuda")',
        """
        def train(loader):
            for x in loader:
                x.sum()
        def collate(items):
            return torch.stack(items).to(device)
        loader = DataLoader(torch.ones(4, 3), batch_size=2, collate_fn=collate, pin_memory=True)
        train(loader)
        """,
        """
        def train(loader):
            for x in loader:
                x.sum()
        def collate(items):
            return torch.stack(items).to(device)
        loader = DataLoader(torch.ones(4, 3), batch_size=2, collate_fn=collate)
        train(loader)
        """,
    ),
    "an optimizer that stepped before the move": (
        'device = torch.device("cuda")',
        """
        def step(model, optimizer):
            model(torch.ones(2, 3, device=model.weight.device)).sum().backward()
            optimizer.step()
        model = nn.Linear(3, 1)
        optimizer = torch.optim.Adam(model.parameters())
        step(model, optimizer)
        model.to(device)
        step(model, optimizer)
        """,
        """
        def step(model, optimizer):
            model(torch.ones(2, 3, device=model.weight.device)).sum().backward()
            optimizer.step()
        model = nn.Linear(3, 1)
        optimizer = torch.optim.Adam(model.parameters())
        step(model, optimizer)
        model.to(device)
        optimizer.load_state_dict(optimizer.state_dict())
        step(model, optimizer)
        """,
    ),
    "what a method returns": (
        "",
        """
        class Net(nn.Module):
            def distances(self, words):
                steps = torch.arange(words.shape[1])
                return (steps[:, None] - steps).abs()
            def forward(self, words):
                distances = self.distances(words)
                return words + distances
        Net()(torch.ones(3, 3, device="cuda"))
        """,
        """
        class Net(nn.Module):
            def distances(self, words):
                steps = torch.arange(words.shape[1], device=words.device)
                return (steps[:, None] - steps).abs()
            def forward(self, words):
                distances = self.distances(words)
                return words + distances
        Net()(torch.ones(3, 3, device="cuda"))
        """,
    ),
    "what a module returns": (
        "",
        """
        class Pool(nn.Module):
            def forward(self, x):
                pooled = torch.zeros(len(x), 3)
                pooled[:] = x
                return pooled
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.pool, self.head = Pool(), nn.Linear(3, 2)
            def forward(self, x):
                return self.head(self.pool(x))
        Net().cuda()(torch.ones(2, 3, device="cuda"))
        """,
        """
        class Pool(nn.Module):
            def forward(self, x):
                pooled = torch.zeros(len(x), 3, device=x.device)
                pooled[:] = x
                return pooled
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.pool, self.head = Pool(), nn.Linear(3, 2)
            def forward(self, x):
                return self.head(self.pool(x))
        Net().cuda()(torch.ones(2, 3, device="cuda"))
        """,
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_the_line_is_the_one_to_keep(name):
    other_cell, before, after = (textwrap.dedent(source).lstrip("\n") for source in KEPT[name])
    with simulate_cuda(devices=2):
        names = {**NAMES}
        exec(other_cell, names)
        culprits = run(before, names)
        new = changed(before, [edit for culprit in culprits[:1] for edit in culprit.edits])
        assert new == after, culprits
        assert run(new, names) is None


def test_a_method_that_also_reads_what_its_object_keeps_is_left_alone():
    source = textwrap.dedent("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.offset = torch.ones(3)
            def shift(self, x):
                return torch.arange(3) + self.offset
            def forward(self, x):
                shift = self.shift(x)
                return x + shift
        Net().cuda()(torch.ones(3, 3, device="cuda"))
    """)
    with simulate_cuda():
        culprits = run(source, {**NAMES})
        assert run(changed(source, culprits[0].edits), {**NAMES}) is None


WRAPPED = """
class Prices(nn.Module):
    def __init__(self):
        super().__init__()
        self.rent, self.sale = nn.Linear(2, 1), nn.Linear(2, 1)
    def forward(self, x):
        {forward}
def rent_only(guess, rent):
    return F.mse_loss(guess[0] if isinstance(guess, tuple) else guess, rent)
net = Prices()
model = DistributedDataParallel({model})
for _ in range(2):
    loss = rent_only(model(torch.ones(4, 2)), torch.ones(4, 1))
    loss.backward()
"""


@pytest.fixture
def one_process():
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def test_a_layer_that_forward_does_not_use_is_frozen_above_the_wrapper(one_process):
    source = WRAPPED.format(forward="return self.rent(x)", model="net")
    first = run(source, {**NAMES})[0]
    assert (first.cause, first.case) == ("ddp_unused_parameters", "")
    new = changed(source, first.edits)
    assert "net.sale.requires_grad_(False)\nmodel = DistributedDataParallel(net)" in new
    assert run(new, {**NAMES}) is None


def test_of_a_model_without_a_name_it_is_said_in_words_what_to_freeze(one_process):
    first = run(WRAPPED.format(forward="return self.rent(x)", model="Prices()"), {**NAMES})[0]
    assert (first.cause, first.edits) == ("ddp_unused_parameters", ())
    assert first.fix == "freeze sale with requires_grad_(False) before DistributedDataParallel wraps the model"


@pytest.mark.parametrize(("model", "name"), [("Prices()", "model.module"), ("net", "net")])
def test_a_layer_whose_output_the_loss_leaves_out_is_not_frozen(one_process, model, name):
    first = run(WRAPPED.format(forward="return self.rent(x), self.sale(x)", model=model), {**NAMES})[0]
    assert (first.case, first.edits) == ("ddp_output_left_out_of_loss", ())
    assert first.sentence == f"`{name}.sale.weight` (shape (1, 2)) had no part in the loss, though `forward` uses it."
    assert first.fix == f"compute the loss in rent_only from what {name}.sale returns, too"


BRANCHES = [
    "return self.sale(x) if x.sum() < 0 else self.rent(x)",
    "return self.rent(x) if x.sum() > 0 else getattr(self, 'sale')(x)",
]


@pytest.mark.parametrize("forward", BRANCHES)
def test_a_layer_that_some_steps_may_use_is_not_frozen(one_process, forward):
    first = run(WRAPPED.format(forward=forward, model="net"), {**NAMES})[0]
    assert (first.cause, first.edits) == ("ddp_unused_parameters", ())
    assert first.fix == "let the loss of every step use net.sale, or set find_unused_parameters=True"
