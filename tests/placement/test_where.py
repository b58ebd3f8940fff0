"""`where` says of everything on which device it is, and what `.to()` leaves behind."""

import io
from functools import partial

import numpy
import pytest
import rich.console
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import nn

from samedevice import simulate_cuda, where

NOT_MOVED = ".to() does not move it"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))
        self.head = nn.Linear(8, 2)
        self.scale = torch.ones(8)
        self.blocks = [nn.Linear(8, 8), nn.Linear(8, 8)]
        self.tables = {"a": torch.ones(3)}

    def forward(self, x):
        return self.head(self.encoder(x))


@pytest.fixture(autouse=True)
def two_gpus():
    with simulate_cuda(devices=2):
        yield


def table(found):
    return [(row.name, row.device, row.holds, row.bytes, row.note) for row in found.rows]


def test_a_module_that_is_all_in_one_place_is_one_row():
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)).to("cuda:1")
    assert table(where(model)) == [("model", "cuda:1", "4 parameters, 3 buffers", 424, "")]


def test_submodules_that_agree_are_folded_and_what_does_not_move_is_marked():
    net = Net().to("cuda")
    net.head.to("cuda:1")
    assert table(where(net)) == [
        ("net.encoder", "cuda:0", "4 parameters, 3 buffers", 424, ""),
        ("net.head", "cuda:1", "2 parameters", 72, ""),
        ("net.scale", "cpu", "(8,)", 32, f"plain attribute: {NOT_MOVED}"),
        ("net.tables", "cpu", "1 tensor", 12, f"Python dict: {NOT_MOVED}"),
        ("net.blocks", "cpu", "4 tensors", 576, f"Python list: {NOT_MOVED}"),
    ]


def test_a_module_whose_own_tensors_are_apart_shows_each():
    layer = nn.Linear(8, 2).cuda()
    layer.bias = nn.Parameter(torch.zeros(2))
    assert table(where(layer)) == [
        ("layer.weight", "cuda:0", "parameter (2, 8)", 64, ""),
        ("layer.bias", "cpu", "parameter (2,)", 8, ""),
    ]


def test_a_tensor_of_the_class_is_called_so():
    class Scaled(nn.Linear):
        factor = torch.ones(8)

    scaled = Scaled(8, 2).cuda()
    assert table(where(scaled))[1] == ("scaled.factor", "cpu", "(8,)", 32, f"class attribute: {NOT_MOVED}")


def test_a_tied_weight_counts_once():
    a, b = nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False)
    b.weight = a.weight
    assert where(nn.ModuleList([a, b])).rows[0].bytes == 8 * 8 * 4


def test_optimizers_batches_and_arrays():
    model = nn.Linear(8, 2).cuda()
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    model(torch.ones(1, 8, device="cuda")).sum().backward()
    optimizer.step()
    batch = {"x": torch.ones(2, 8), "y": [torch.ones(3, device="cuda:1")]}
    array = numpy.zeros(3)
    assert table(where(optimizer, batch, array, 3)) == [
        ("optimizer", "cuda:0", "2 parameters to step", 0, ""),
        ("optimizer.state", "cpu", "2 step", 8, ""),
        ("optimizer.state", "cuda:0", "2 exp_avg", 72, ""),
        ("optimizer.state", "cuda:0", "2 exp_avg_sq", 72, ""),
        ('batch["x"]', "cpu", "(2, 8)", 64, ""),
        ('batch["y"][0]', "cuda:1", "(3,)", 12, ""),
        ("array", "cpu", "(3,)", 24, "NumPy array"),
        ("3", "", "no tensor", 0, ""),
    ]


def test_a_partial_function_holds_its_arguments():
    class Model(nn.Linear):
        def __init__(self):
            super().__init__(2, 3)
            self.w = partial(nn.Linear(3, 3), torch.ones(2))

    loss = partial(F.cross_entropy, weight=torch.ones(3))
    model = Model().cuda()
    assert table(where(loss, partial(print), model)) == [
        ('loss.keywords["weight"]', "cpu", "(3,)", 12, ""),
        ("partial(print)", "", "no tensor", 0, ""),
        ("model", "cuda:0", "2 parameters", 36, ""),
        ("model.w", "cpu", "3 tensors", 56, f"functools.partial: {NOT_MOVED}"),
    ]


def test_things_are_named_as_the_call_has_them():
    trainer = {"model": nn.Linear(2, 2), "x": torch.ones(2)}
    found = where(
        trainer["model"],
        trainer["x"],
    )
    assert [row.name for row in found.rows] == ['trainer["model"]', 'trainer["x"]']
    assert [row.name for row in where(*trainer.values()).rows] == ["object 1", "object 2"]


def test_lazy_and_meta_parameters_are_told():
    lazy, planned = nn.LazyLinear(3), nn.Linear(2, 2, device="meta")
    assert [(row.device, row.bytes) for row in where(lazy, planned).rows] == [("cpu", 0), ("meta", 24)]


def test_the_same_facts_as_text_html_and_for_rich():
    net = Net().cuda()
    found = where(net)
    console = rich.console.Console(file=io.StringIO(), width=120)
    console.print(found)
    for shown in (str(found), found._repr_html_(), console.file.getvalue()):
        for fact in ("net.scale", "cuda:0", "6 parameters, 3 buffers", NOT_MOVED):
            assert fact in shown
    assert found._repr_html_().lstrip().startswith("<svg")


def test_hostile_names_stay_text():
    batch = {"<script>alert(1)</script>": torch.ones(1)}
    assert "<script>" not in where(batch)._repr_html_()


def test_nothing_to_look_at_is_refused():
    with pytest.raises(TypeError, match="takes what to look at"):
        where()


def test_no_code_of_the_program_runs():
    class Loud(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)

        def __getattr__(self, name):
            raise AssertionError(name)

        def __repr__(self):
            raise AssertionError

        @property
        def table(self):
            raise AssertionError

    loud = Loud()
    assert [row.name for row in where(loud).rows] == ["loud"]


def test_a_program_without_a_file_may_contain_a_dictionary(capsys):
    program = (
        'batch = {"x": torch.ones(2), "y": [torch.ones(1)]}\nlayer = torch.nn.Linear(2, 2)\nprint(where(batch, layer))'
    )
    exec(compile(program, "<stdin>", "exec"), {"__name__": "__main__", "torch": torch, "where": where})
    printed = capsys.readouterr().out
    assert "batch" in printed
    assert "layer" in printed
