# culprit: total
# cause: input_not_moved | metric_or_accumulator_state | kept_in_a_list
import torch


def accumulate(totals, gradients):
    for total, gradient in zip(totals, gradients, strict=True):
        torch.add(total, gradient, out=total)


def main():
    totals = [torch.zeros(3), torch.zeros(2)]
    accumulate(totals, [torch.ones(3, device="cuda"), torch.ones(2, device="cuda")])
    assert [float(total.sum()) for total in totals] == [3, 2]
