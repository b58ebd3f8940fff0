# culprit: totals
# cause: tensor_created_in_forward_without_device | metric_or_accumulator_state
import tempfile

import torch
import torch.distributed as dist


class Mean:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def add(self, value):
        self.sum, self.count = self.sum + value, self.count + 1

    def over_all_ranks(self):
        totals = torch.tensor([self.sum, self.count], dtype=torch.float64)
        dist.all_reduce(totals)
        self.sum, self.count = totals.tolist()
        return totals.dtype


def main():
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("nccl", init_method=f"file://{folder}/group", rank=0, world_size=1)
        try:
            mean = Mean()
            mean.add(2.0)
            assert mean.over_all_ranks() == torch.float64 and mean.sum == 2
        finally:
            dist.destroy_process_group()
