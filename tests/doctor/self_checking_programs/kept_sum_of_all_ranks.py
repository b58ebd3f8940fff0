# culprit: self.sum
# cause: metric_or_accumulator_state | tensor_created_in_forward_without_device
import tempfile

import torch
import torch.distributed as dist


class Accuracy:
    def __init__(self):
        self.sum = torch.zeros(2)

    def add(self, right):
        self.sum += torch.tensor([float(right), 1.0], device=self.sum.device)

    def over_all_ranks(self):
        dist.all_reduce(self.sum)
        return float(self.sum[0] / self.sum[1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("nccl", init_method=f"file://{folder}/group", rank=0, world_size=1)
        try:
            accuracy = Accuracy()
            accuracy.add(True)
            accuracy.add(False)
            assert accuracy.over_all_ranks() == 0.5 and accuracy.sum.is_cuda
        finally:
            dist.destroy_process_group()
