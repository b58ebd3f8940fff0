# culprit: counts
# cause: input_not_moved
import tempfile

import torch
import torch.distributed as dist


def add_up(counts):
    dist.all_reduce(counts)


def main():
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("nccl", init_method=f"file://{folder}/group", rank=0, world_size=1)
        try:
            counts = torch.ones(3)
            add_up(counts)  # a copy on the GPU would take the sum, and `counts` would stay as it is
        finally:
            dist.destroy_process_group()
