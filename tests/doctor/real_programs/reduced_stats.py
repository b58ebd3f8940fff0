# culprit: t
# cause: tensor_created_in_forward_without_device
import os
import tempfile
import torch
import torch.distributed as dist
from torch import nn


def reduce_stats(values):
    t = torch.tensor(values, dtype=torch.float64)
    dist.all_reduce(t)
    return (t / dist.get_world_size()).tolist()


class Evaluator:
    def __init__(self, model, device):
        self.model = model.to(device)
        self.device = device
        self.loss_sum = 0.0
        self.count = 0

    def update(self, x, y):
        pred = self.model(x.to(self.device))
        self.loss_sum += (pred - y.to(self.device)).pow(2).sum().item()
        self.count += x.size(0)

    def compute(self):
        loss_sum, count = reduce_stats([self.loss_sum, self.count])
        return loss_sum / count


def main():
    torch.cuda.set_device(0)
    if not dist.is_initialized():
        store = os.path.join(tempfile.mkdtemp(), "store")
        dist.init_process_group("nccl", init_method=f"file://{store}", rank=0, world_size=1)
    try:
        ev = Evaluator(nn.Linear(3, 1), torch.device("cuda"))
        ev.update(torch.randn(4, 3), torch.randn(4, 1))
        assert ev.compute() > 0
    finally:
        dist.destroy_process_group()
