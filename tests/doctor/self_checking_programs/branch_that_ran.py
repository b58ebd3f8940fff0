# culprit: mask
# cause: tensor_created_in_forward_without_device
import torch


def attend(x, causal):
    if causal:
        mask = torch.tril(torch.ones(x.size(1), x.size(1)))
    else:
        mask = torch.ones(x.size(1), x.size(1), device=x.device)
    return (x @ x.transpose(1, 2)) * mask


def main():
    x = torch.ones(2, 3, 4, device="cuda")
    for causal in (True, False):
        assert attend(x, causal).is_cuda
    assert float(attend(x, True)[0, 0, 2]) == 0
