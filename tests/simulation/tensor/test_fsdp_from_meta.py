"""FSDP2 as PyTorch's tutorial starts it: a model on meta is sharded, and then gets its memory on the GPU."""

from collections.abc import Iterator

import pytest
import torch
from torch import distributed, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor


@pytest.fixture
def group(two_gpus: None) -> Iterator[None]:
    torch.cuda.set_device(0)
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def test_a_model_that_was_sharded_on_meta_is_trained_on_the_gpu(group: None) -> None:
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    for layer in (model[0], model[2], model):
        fully_shard(layer)
    model.to_empty(device="cuda")
    for parameter in model.parameters():
        assert isinstance(parameter, DTensor)
        assert [str(parameter.device), str(parameter.to_local().device)] == ["cuda:0", "cuda:0"]
        nn.init.ones_(parameter)
    optimizer = torch.optim.AdamW(model.parameters())
    result = model(torch.ones(2, 4, device="cuda"))
    result.sum().backward()
    optimizer.step()
    assert [str(result.device), result.tolist()[0]] == ["cuda:0", [21.0, 21.0]]


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_a_plain_model_refuses_the_weights_of_a_sharded_one_wherever_it_is(group: None, where: str) -> None:
    """The text is DTensor's own, on every device; the parameters of a model on a GPU ended the process."""
    sharded = nn.Linear(3, 8)
    fully_shard(sharded, mesh=distributed.init_device_mesh("cpu", (1,)))
    plain = nn.Linear(3, 8).to(where)
    with pytest.raises(RuntimeError, match=r"aten\.copy_.* got mixed torch.Tensor and DTensor"):
        plain.load_state_dict(sharded.state_dict())
    weight: torch.Tensor = sharded.weight
    with torch.no_grad(), pytest.raises(RuntimeError, match=r"aten\.add\.Tensor got mixed"):
        plain.weight + weight
