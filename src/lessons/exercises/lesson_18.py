"""The exercises of notebooks/18-unfinished-reduction.ipynb; their solutions stand there, folded."""

import weakref
from typing import Any

import torch
from torch import distributed, nn
from torch.nn import functional

from lessons.exercises import Exercise, Prediction, RefusedError
from lessons.exercises.staying import plain_wrapper

SIZE = 16  # of a batch


class TwoHeads(nn.Module):
    """A network that returns what both heads say; both heads learn, from every batch.

    It runs only inside one DistributedDataParallel, with no flag set, a backward a batch. Its price is nan where
    nothing was asked for a flat, so that zero times all prices is nan, too.
    """

    def __init__(self) -> None:
        super().__init__()
        self.body, self.rent, self.sale = nn.Linear(3, 8), nn.Linear(8, 1), nn.Linear(8, 1)
        self.wrapper: Any = None
        self.begun = self.ended = self.priced = 0
        self.body.weight.register_hook(self.end)

    def end(self, gradient: Any) -> None:
        self.ended += 1

    def learn_prices(self, gradient: Any) -> None:
        """Count the batches from which the prices learn."""
        if gradient.isnan().any():
            raise RefusedError("The gradient of price is nan. A flat that was not sold has to stay out of the errors.")
        self.priced += 1

    def forward(self, flats: Any) -> Any:
        """Refuse a call that avoids DistributedDataParallel: in one process, its numbers would be right too."""
        wrapper = plain_wrapper()
        self.wrapper = self.wrapper or weakref.ref(wrapper)
        if self.wrapper() is not wrapper:
            raise RefusedError("The model was wrapped again. Wrap it once, before the loop.")
        if self.begun > self.ended or len(flats) != SIZE:
            raise RefusedError("Each batch has its forward, and then its backward. Leave the loop as it was.")
        if self.begun > self.priced:
            raise RefusedError("A batch had no price in its loss. Keep price in it, with the rows that were sold.")
        self.begun += 1
        rent, price = self.compute(flats)
        price.register_hook(self.learn_prices)
        return rent, price

    def compute(self, flats: Any) -> Any:
        if not all(parameter.requires_grad for parameter in self.parameters()):
            raise RefusedError("A frozen layer does not learn, and sales are to be learnt, too.")
        hidden = self.body(flats[:, :3]).relu()
        return self.rent(hidden), self.sale(hidden) + flats[:, 3:]


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
    """Return a network with two heads, and four batches with rents, prices and who is sold: nobody in the second.

    A flat has three numbers and what is asked for it; its price and what is asked for it are nan if it was not sold.
    """
    net, flats, batches = TwoHeads(), torch.randn(4, SIZE, 4), []
    for step, batch in enumerate(flats):
        rents = batch[:, :3].sum(dim=1, keepdim=True)
        sold = torch.rand(SIZE) < 0.5 * (step != 1)
        batch[~sold, 3] = torch.nan
        batches.append((batch, rents, rents + batch[:, 3:], sold))
    return net, in_a_group(batches)


def branch_reference(net: Any, batches: Any) -> Any:
    losses = []
    for flats, rents, prices, sold in batches:
        rent, price = net.compute(flats)
        errors = (price - prices)[sold]
        losses.append(functional.mse_loss(rent, rents) + errors.square().sum() / max(len(errors), 1))
    return torch.stack(losses).detach()


EXERCISES = {
    "a": InAGroup(
        setup="""
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
DDP = DistributedDataParallel

class Prices(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 8)
        self.rent = nn.Linear(8, 1)
        self.sale = nn.Linear(8, 1)

    def forward(self, flats):
        return self.rent(self.body(flats).relu())

net, flats = Prices(), torch.rand(4, 3)

def step(model):
    model(flats).sum().backward()

@torch.no_grad()
def evaluate(model):
    model(flats)
""",
        programs=(
            "model = DDP(net); model(flats); model(flats)",
            "model = DDP(net); step(model); evaluate(model)",
            "model = DDP(net); step(model); evaluate(model); step(model)",
            "model = DDP(net); net.sale.requires_grad_(False); step(model); step(model)",
            "net.sale.requires_grad_(False); model = DDP(net); net.sale.requires_grad_(True); step(model); step(model)",
            "model = DDP(net); (model(flats).sum() + 0 * net.sale.weight.sum()).backward(); step(model)",
        ),
        result="",
        on_wrong=(
            "What begins a reduction, what checks whether it has ended, and when was the list of parameters made?",
            "`backward` begins it. A call checks whether the one before has ended, but not under no_grad.",
            "DDP waits for what required a gradient when the model was wrapped, whatever is set afterwards.",
        ),
        about={6: "How many parameters does the layer sale have, and which of them got a gradient?"},
    ),
    "b": Exercise(
        parameters=("net", "batches"),
        arguments=branch_arguments,
        reference=branch_reference,
        on_error=(
            "Which layer gets no gradient in one of the batches, and which line decides that?",
            "In the second batch no flat was sold, so the `if` leaves price out of the loss.",
            "Remove the `if`, and keep price[sold] in the loss: an empty selection adds zero, if it is summed.",
        ),
        on_wrong_numbers=(
            "Is yours nan? Which prices are nan, and what is the mean of an empty selection?",
            "Zero times nan is nan. Only a selection, such as price[sold], keeps nan out of a sum.",
            "Sum the squares of the errors of what was sold, and divide by their number, but at least by 1.",
        ),
    ),
}
