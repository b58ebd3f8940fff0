"""The exercises of notebooks/21-sharded-and-compiled.ipynb; their solutions stand there, folded."""

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

import torch
from torch import distributed, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate, distribute_tensor, init_device_mesh

from lessons.exercises import Exercise, RefusedError
from lessons.exercises.lesson_18 import InAGroup


class Rents(nn.Module):
    """A network that takes only a state of which each rank keeps its part."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.rent = nn.Linear(3, 8), nn.Linear(8, 1, bias=False)

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Refuse whole tensors: a group of one process would take them, and a real group refuses them later."""
        if assign and not all(isinstance(tensor, DTensor) for tensor in state_dict.values()):
            raise RefusedError("With assign=True, plain tensors take the place of the DTensors.")
        if any(isinstance(x, DTensor) and isinstance(x.placements[0], Replicate) for x in state_dict.values()):
            raise RefusedError("Each rank has to keep a part, and not a copy of the whole.")
        return super().load_state_dict(state_dict, strict, assign)

    def forward(self, flats: Any) -> Any:
        return self.rent(self.body(flats).relu())


@contextlib.contextmanager
def in_the_group() -> Iterator[None]:
    """Make this process a group of one for a while, unless it is in a group already.

    DTensor keeps what it knows of operators with the name of a group, and an earlier group is gone.
    """
    own = not distributed.is_initialized()
    if own:
        logging.getLogger("torch.utils.flop_counter").setLevel("ERROR")  # it says on import that there is no Triton
        from torch.distributed.tensor import debug

        getattr(debug, "_clear_sharding_prop_cache", lambda: None)()
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        if own:
            distributed.destroy_process_group()


def load_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a sharded model on meta, the state of a trained one, and flats."""
    state = Rents().state_dict()
    with torch.device("meta"):
        model = Rents()
    fully_shard(model, mesh=init_device_mesh("cpu", (1,)))
    return model, state, torch.rand(16, 3)


def load_reference(model: Any, state: Any, flats: Any) -> Any:
    parameters = dict(model.named_parameters())
    parts = {
        name: distribute_tensor(x, parameters[name].device_mesh, parameters[name].placements)
        for name, x in state.items()
    }
    model.load_state_dict(parts, assign=True)
    return model(flats)


EXERCISES = {
    "a": InAGroup(
        setup="""
import torch
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel
from torch.distributed.tensor.parallel import parallelize_module
model = nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8))
mesh = init_device_mesh("cpu", (1,))
weight = distribute_tensor(torch.ones(8, 3), mesh, [Shard(0)])
mask = torch.ones(8, 3)
plan = {"0": ColwiseParallel()}
""",
        programs=(
            "weight * torch.ones(1, 1)",
            "weight * mask",
            "weight.detach().clone() * mask",
            "weight.full_tensor() * mask",
            "fully_shard(model, mesh=mesh); model[0](torch.ones(4, 3))",
            "parallelize_module(model, mesh, plan); model[1].weight * torch.ones(8)",
        ),
        result="",
        on_wrong=(
            "Which operands are DTensors, which are plain, and which are single numbers, the same on all ranks?",
            "A copy of a DTensor is a DTensor. full_tensor() returns a plain tensor, with the whole.",
        ),
        about={
            5: "When does FSDP gather the weights, and is that called here?",
            6: "Which layers does the plan name?",
        },
    ),
    "b": Exercise(
        parameters=("model", "state", "flats"),
        arguments=load_arguments,
        reference=load_reference,
        on_error=(
            "Which of the two is plain: the weights of the model, or the tensors of the state?",
            "The weights are DTensors. Make a DTensor of each tensor in the state, spread as its weight is.",
            "Give distribute_tensor the p.device_mesh and the p.placements of the weight. Or use to_empty and "
            "set_model_state_dict.",
        ),
        on_wrong_numbers=(
            "The numbers are not those of the state. What does to_empty put into the weights?",
            "to_empty gives memory without values. Each value has to come from the state.",
        ),
        inside=in_the_group,
    ),
}
