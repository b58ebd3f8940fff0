"""Pinned memory and default devices."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


def _where(*tensors):
    return [str(tensor.device) for tensor in tensors]


def pinning():
    x = torch.tensor([1.0, 2.0]).pin_memory()
    return [
        x.is_pinned(),
        str(x.device),
        x.tolist(),
        torch.zeros(2).is_pinned(),
        torch.empty(2, pin_memory=True).is_pinned(),
    ]


def a_pinned_tensor_pins_to_itself():
    x = torch.zeros(2).pin_memory()
    return [x.pin_memory() is x, x.clone().is_pinned(), x[1:].is_pinned(), x.cuda().is_pinned()]


def pinning_a_gpu_tensor_of_integers():
    torch.zeros(2, dtype=torch.int64, device="cuda").pin_memory()


def a_pinned_factory_on_the_gpu():
    torch.zeros(2, device="cuda", pin_memory=True)


def a_default_device():
    torch.set_default_device("cuda:1")
    try:
        return [str(torch.get_default_device()), *_where(
            torch.zeros(1), torch.tensor([1]), torch.arange(2), nn.Linear(1, 1).weight, torch.zeros(1, device="cpu"),
            torch.as_tensor([1.0]), torch.eye(2), torch.randperm(3),
        )]  # fmt: skip
    finally:
        torch.set_default_device(None)


def a_default_device_and_older_tensors():
    x = torch.zeros(1)
    with torch.device("cuda"):
        return [
            *_where(
                x, torch.zeros_like(x), x.new_zeros(1), torch.FloatTensor([1.0]), torch.Tensor(2), torch.Generator()
            )
        ]


def default_devices_nest():
    with torch.device("cuda:1"):
        outer = torch.zeros(1)
        with torch.device("cpu"):
            inner = torch.zeros(1)
        again = torch.zeros(1)
    return _where(outer, inner, again, torch.zeros(1))


def a_default_device_that_follows_the_current():
    torch.set_default_device("cuda")
    try:
        with torch.cuda.device(1):
            return [str(torch.get_default_device()), *_where(torch.zeros(1))]
    finally:
        torch.set_default_device(None)


def a_default_device_in_a_thread():
    torch.set_default_device("cuda")
    try:
        with ThreadPoolExecutor(1) as pool:
            return [str(pool.submit(torch.zeros, 1).result().device), str(torch.zeros(1).device)]
    finally:
        torch.set_default_device(None)


def a_default_device_as_a_decorator():
    @torch.device("cuda:1")
    def make():
        return torch.zeros(1)

    return _where(make(), torch.zeros(1))


def the_old_default_type():
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
    try:
        return _where(torch.zeros(1), torch.tensor([1.0]), torch.Tensor(2))
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")
