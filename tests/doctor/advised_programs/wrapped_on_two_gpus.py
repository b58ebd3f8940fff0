# culprit: model
# cause: split_model_activation_not_moved
import tempfile

import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def wrap(model, gpu):
    return DistributedDataParallel(model, device_ids=[gpu], output_device=gpu)


def main():
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("nccl", init_method=f"file://{folder}/group", rank=0, world_size=1)
        try:
            model = nn.Sequential(nn.Linear(2, 2).to("cuda:0"), nn.Linear(2, 2).to("cuda:1"))
            wrap(model, 0)
        finally:
            dist.destroy_process_group()
