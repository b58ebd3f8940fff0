"""Models that have hooks of accelerate: they are not moved as a whole, and no zeros stand for a weight.

What is moved is the tensor that the program's own line brings. Each program is run again with the change.
"""

import pytest
import torch
from torch import nn

from real_programs import judged
from samedevice import explain, simulate_cuda

accelerate = pytest.importorskip("accelerate")

# A move after the dispatch, a parameter that the device map does not place, a head that shares a weight.
CERTAIN = {
    "moved_after_dispatch": """
# culprit: load(split).to("cuda")
# cause: library_placed_model | moved_under_hooks
import torch
from accelerate import dispatch_model
from torch import nn

split = {"0": 0, "1": "cpu"}


def load(device_map):
    return dispatch_model(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)), device_map, main_device=0)


def main():
    model = load(split).to("cuda")
    with torch.no_grad():
        assert model(torch.ones(1, 4)).shape == (1, 2)
    assert model[1].weight.is_meta
""",
    "parameter_outside_of_the_map": """
# culprit: self.first
# cause: registered_after_move | model_not_moved
import torch
from accelerate import dispatch_model
from torch import nn


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.layer = nn.Parameter(torch.ones(1, 1, 4)), nn.Linear(4, 4)

    def forward(self, x):
        x = self.layer(x)
        first = self.first.expand(len(x), -1, -1)
        return torch.cat([first, x], dim=1)


def main():
    model = dispatch_model(nn.Sequential(Patches(), nn.Linear(4, 2)), {"0.first": 0, "0.layer": 0, "1": 1})
    with torch.no_grad():
        assert model(torch.ones(2, 3, 4, device="cuda:0")).shape == (2, 4, 2)
""",
    "head_of_the_first_gpu": """
# culprit: hidden
# cause: split_model_activation_not_moved | own_tensor_under_device_map
import torch
from accelerate import dispatch_model
from torch import nn


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.layer = nn.Embedding(9, 4), nn.Linear(4, 4)

    def forward(self, ids):
        hidden = self.layer(self.table(ids))
        return nn.functional.linear(hidden, self.table.weight)


def main():
    model, ids = Words(), torch.tensor([[1, 2]])
    with torch.no_grad():
        expected = model(ids)
        split = dispatch_model(model, {"table": 0, "layer": 1})
        torch.testing.assert_close(split(ids.to("cuda:0")).cpu(), expected)
""",
}


@pytest.mark.filterwarnings("ignore")  # of accelerate
@pytest.mark.parametrize("name", CERTAIN)
def test_the_first_fix_is_right(name, tmp_path):
    program = tmp_path / "program" / f"{name}.py"
    program.parent.mkdir()
    program.write_text(CERTAIN[name].lstrip(), encoding="utf-8")
    judgement = judged(program, tmp_path)
    assert (judgement.culprit, judgement.cause, judgement.fix) == (True, True, True), judgement.said


class Offloaded(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.layer = nn.Embedding(9, 4), nn.Linear(4, 4)

    def forward(self, ids):
        found = self.words(ids)
        padding = self.words.weight[0]
        return self.layer(torch.where(ids[:, None] == 0, padding, found))


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return self.decode(x)

    def decode(self, x):
        return self.layer(x)


def a_weight_that_is_offloaded():
    model = accelerate.dispatch_model(Offloaded(), {"words": "cpu", "layer": 0}, main_device=0, force_hooks=True)
    model(torch.tensor([1], device="cuda"))


def another_method_than_forward():
    coder, _ = accelerate.cpu_offload_with_hook(Coder(), "cuda:0")
    coder.decode(torch.ones(1, 4, device="cuda:0"))


def a_layer_put_in_after_the_dispatch():
    model = accelerate.dispatch_model(nn.Sequential(Coder(), nn.Linear(2, 2)), {"0": 0, "1": 1})
    model[0].layer = nn.Linear(4, 2)
    model(torch.ones(1, 4, device="cuda:0"))


@pytest.mark.filterwarnings("ignore")  # of accelerate
@pytest.mark.parametrize(
    ("run", "expression", "advice"),
    [
        (a_weight_that_is_offloaded, "self.words.weight", "self.words(...)"),
        (another_method_than_forward, "self.layer.weight", "coder(...)"),
        (a_layer_put_in_after_the_dispatch, "self.layer.weight", "dispatch_model(...)"),
    ],
)
def test_a_model_that_has_hooks_is_not_moved(run, expression, advice):
    with simulate_cuda(devices=2):
        try:
            run()
        except RuntimeError as error:
            culprit = explain(error).culprits[0]
        else:
            pytest.fail("the program ran to its end")
    assert culprit.expression == expression
    assert culprit.fix.startswith(advice)
    assert culprit.edits == ()
