# culprit: parameter.grad
# cause: group_without_gpu_backend
import tempfile

import torch
import torch.distributed as dist
from torch import nn


def average(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()


def main():
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("cpu:gloo", init_method=f"file://{folder}/group", rank=0, world_size=1)
        try:
            model = nn.Linear(2, 1).cuda()
            model(torch.ones(3, 2, device="cuda")).sum().backward()
            average(model)
        finally:
            dist.destroy_process_group()
