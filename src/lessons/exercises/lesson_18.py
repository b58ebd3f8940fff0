"""The exercises of notebooks/18-unfinished-reduction.ipynb; their solutions stand there, folded."""

import weakref
from typing import Any

import torch
from torch import distributed, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from lessons.exercises import Exercise, Prediction, RefusedError

SIZE = 16  # of a batch


class TwoHeads(nn.Module):
    """A network that returns what both heads say; both heads learn.

    It runs only inside one DistributedDataParallel, with no flag set, a backward a batch.
    """

    def __init__(self) -> None:
        super().__init__()
        self.body, self.rent, self.sale = nn.Linear(3, 8), nn.Linear(8, 1), nn.Linear(8, 1)
        self.wrapper: Any = None
        self.begun = self.ended = 0
        self.body.weight.register_hook(self.end)

    def end(self, gradient: Any) -> None:
        self.ended += 1

    def forward(self, flats: Any) -> Any:
        """Refuse a call that avoids DistributedDataParallel: in one process, its numbers would be right too."""
        wrapper = DistributedDataParallel._active_ddp_module
        if wrapper is None:
            raise RefusedError("The model has to be called through DistributedDataParallel.")
        if wrapper.find_unused_parameters or wrapper.static_graph:
            raise RefusedError("find_unused_parameters and static_graph have to stay off.")
        if not wrapper.require_backward_grad_sync:
            raise RefusedError("In no_sync the gradients are not averaged.")
        self.wrapper = self.wrapper or weakref.ref(wrapper)
        if self.wrapper() is not wrapper:
            raise RefusedError("The model was wrapped again. Wrap it once, before the loop.")
        if self.begun > self.ended or len(flats) != SIZE:
            raise RefusedError("Each batch has its forward, and then its backward. Leave the loop as it was.")
        self.begun += 1
        return self.compute(flats)

    def compute(self, flats: Any) -> Any:
        if not all(parameter.requires_grad for parameter in self.parameters()):
            raise RefusedError("A frozen layer does not learn, and sales are to be learnt, too.")
        hidden = self.body(flats).relu()
        return self.rent(hidden), self.sale(hidden)


class Batches(list[Any]):
    """A list with a process group of its own, which ends when the list is gone."""


class InAGroup(Prediction):
    """A prediction of programs that need a process group."""

    def outcome(self) -> list[str]:
        group = in_a_group([])
        try:
            return super().outcome()
        finally:
            del group


def in_a_group(batches: list[Any]) -> Batches:
    """Return the batches. While they exist, this process is a group of one, unless it was in a group already."""
    kept = Batches(batches)
    if not distributed.is_initialized():
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
        weakref.finalize(kept, distributed.destroy_process_group)
    return kept


def branch_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a network with two heads, and four batches with rents, prices and who is sold: nobody in the second."""
    net, flats, batches = TwoHeads(), torch.randn(4, SIZE, 3), []
    for step, batch in enumerate(flats):
        rents = batch.sum(dim=1, keepdim=True)
        sold = torch.rand(SIZE) < 0.5 * (step != 1)
        batches.append((batch, rents, 2 * rents, sold))
    return net, in_a_group(batches)


def branch_reference(net: Any, batches: Any) -> Any:
    losses = []
    for flats, rents, prices, sold in batches:
        rent, price = net.compute(flats)
        errors = (price - prices).square() * sold.unsqueeze(1)
        losses.append(functional.mse_loss(rent, rents) + errors.sum() / max(int(sold.sum()), 1))
    return torch.stack(losses).detach()


EXERCISES = {
    "a": InAGroup(
        setup="""
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

class Prices(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 8)
        self.rent = nn.Linear(8, 1)
        self.sale = nn.Linear(8, 1)

    def forward(self, flats):
        return self.rent(self.body(flats).relu())

net = Prices()
flats = torch.rand(4, 2)
""",
        programs=(
            "model = DistributedDataParallel(net); model(flats); model(flats)",
            "model = DistributedDataParallel(net); model(flats).sum().backward()",
            "model = DistributedDataParallel(net); model(flats).sum().backward(); model(flats)",
            "model = DistributedDataParallel(net); net.sale.requires_grad_(False); "
            "model(flats).sum().backward(); model(flats)",
            "net.sale.requires_grad_(False); model = DistributedDataParallel(net); "
            "model(flats).sum().backward(); model(flats)",
            "model = DistributedDataParallel(net); "
            "(model(flats).sum() + 0 * net.sale.weight.sum()).backward(); model(flats)",
        ),
        result="",
        on_wrong="What begins a reduction, what checks whether it has ended, and when was the list of parameters made?",
    ),
    "b": Exercise(
        parameters=("net", "batches"),
        arguments=branch_arguments,
        reference=branch_reference,
        on_error="In the second batch nobody is sold a flat. Keep price in the loss there, too, so that it adds 0.",
        on_wrong_numbers="The losses differ. The loss of a batch without a sale is that of its rents. Is yours nan?",
    ),
}
