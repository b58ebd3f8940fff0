# culprit: weight
# cause: input_not_moved | tensor_created_in_forward_without_device
import torch


def weighted(loss, weight=None, on_gpu=False):
    if weight is not None:
        if on_gpu:
            weight = weight.to(loss.device)
        loss = loss * weight
    return loss.mean()


def main():
    assert weighted(torch.ones(3, device="cuda"), torch.ones(3)).is_cuda
    assert weighted(torch.ones(3, device="cuda"), torch.ones(3), on_gpu=True).is_cuda
    assert not weighted(torch.ones(3), torch.ones(3)).is_cuda
