"""Tensors on meta beside those on a GPU."""

import torch
from torch import nn


def _where(*tensors):
    return [str(tensor.device) for tensor in tensors]


def meta_meets_cuda():
    return str((torch.zeros(2, device="meta") + torch.zeros(2, device="cuda")).device)


def meta_meets_cuda_in_a_product():
    return str((torch.zeros(2, 2, device="cuda") @ torch.zeros(2, 2, device="meta")).device)


def meta_goes_to_cuda():
    torch.zeros(2, device="meta").to("cuda")


def cuda_goes_to_meta():
    x = torch.zeros(2, device="cuda").to("meta")
    return [str(x.device), x.is_meta, str(torch.empty_like(x, device="cuda:1").device)]


def meta_is_copied_to():
    x = torch.zeros(2, device="meta")
    x.copy_(torch.zeros(2, device="cuda"))
    return str(x.device)


def cuda_is_copied_to_from_meta():
    torch.zeros(2, device="cuda").copy_(torch.zeros(2, device="meta"))


def state_of_the_gpu_into_meta():
    layer = nn.Linear(1, 1, device="meta")
    layer.load_state_dict(nn.Linear(1, 1).cuda().state_dict(), assign=True)
    return _where(layer.weight)
