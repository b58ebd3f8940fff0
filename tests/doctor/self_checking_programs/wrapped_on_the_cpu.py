# culprit: model
# cause: model_not_moved
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(gpu):
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model[0].weight.detach().cpu().clone()
    wrapped = DistributedDataParallel(model, device_ids=[gpu])
    wrapped(torch.ones(2, 4, device=f"cuda:{gpu}")).sum().backward()
    optimizer.step()
    return model, before


def main():
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("nccl", init_method=f"file://{folder}/group", rank=0, world_size=1)
        try:
            model, before = train(1)
        finally:
            dist.destroy_process_group()
    assert {parameter.device for parameter in model.parameters()} == {torch.device("cuda:1")}
    assert not torch.equal(model[0].weight.cpu(), before)
