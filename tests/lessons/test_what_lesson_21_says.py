"""What lesson 21 says without a cell that shows it: of DTensors, of FSDP and of tensors on meta."""

import warnings

import pytest
import torch
from torch import nn
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor, Shard, distribute_tensor, init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module

from lessons.exercises.lesson_21 import in_the_group

MIXED = "got mixed torch.Tensor and DTensor"


class Rents(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))

    def encode(self, flats):
        return self[0](flats)


@pytest.fixture
def mesh():
    with in_the_group():
        yield init_device_mesh("cpu", (1,))


def is_sharded(model):
    return [isinstance(tensor, DTensor) for tensor in [*model.parameters(), *model.buffers()]]


@pytest.mark.parametrize(("shape", "warned"), [((), False), ((1,), True), ((1, 1), False)])
def test_a_single_number_may_meet_a_dtensor(mesh, shape, warned):
    weight = distribute_tensor(torch.ones(8, 3), mesh, [Shard(0)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert isinstance(weight * torch.ones(shape), DTensor)
    assert bool(caught) is warned


def test_tensor_parallelism_makes_dtensors_of_its_plan_only(mesh):
    model = nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8))
    parallelize_module(model, mesh, {"0": ColwiseParallel()})
    assert is_sharded(model) == [True, True, False, False]


def test_fsdp_leaves_buffers_and_what_it_is_to_ignore_as_they_are(mesh):
    model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8))
    fully_shard(model, mesh=mesh, ignored_params={model[0].bias})
    assert is_sharded(model) == [True, False, True, True, False, False, False]


def test_a_method_beside_forward_has_to_be_registered(mesh):
    model = Rents()
    fully_shard(model, mesh=mesh)
    with pytest.raises(RuntimeError, match=MIXED):
        model.encode(torch.ones(4, 3))
    register_fsdp_forward_method(model, "encode")
    assert model.encode(torch.ones(4, 3)).shape == (4, 8)


def test_a_layer_with_a_fully_shard_of_its_own_may_be_called_alone(mesh):
    model = Rents()
    fully_shard(model[0], mesh=mesh)
    fully_shard(model, mesh=mesh)
    assert model[0](torch.ones(4, 3)).shape == (4, 8)


def test_from_a_call_to_its_backward_the_weights_are_gathered(mesh):
    model = Rents()
    fully_shard(model, mesh=mesh)
    with torch.no_grad():
        model(torch.ones(4, 3))
    assert not any(is_sharded(model))
    model.reshard()
    assert all(is_sharded(model))


def test_a_sharded_model_on_meta_fails_at_its_call_and_is_not_to_be_called_again(mesh):
    with torch.device("meta"):
        model = Rents()
    fully_shard(model, mesh=mesh)
    with pytest.raises(RuntimeError, match="FSDP parameters should be materialized from meta device before training"):
        model(torch.ones(4, 3))
    with pytest.raises(AttributeError, match="'FSDPParam' object has no attribute 'param_dtype'"):
        model(torch.ones(4, 3))


def test_assigned_values_need_no_to_empty_and_leave_a_buffer_that_no_state_has_on_meta():
    def scaled():
        layer = nn.Linear(3, 1)
        layer.register_buffer("scale", torch.ones(3), persistent=False)
        return layer

    with torch.device("meta"):
        model = scaled()
    model.load_state_dict(scaled().state_dict(), assign=True)
    assert (model.weight.device.type, model.scale.device.type) == ("cpu", "meta")
