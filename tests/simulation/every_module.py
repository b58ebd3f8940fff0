"""Run each module of PyTorch's module_db, forward and backward, on the CPU and on a simulated GPU.

It prints the name of each before it runs, so that the last one is the culprit where the process ends, and a line that
begins with "differs: " where one device refuses what the other does.
"""

import warnings
from typing import Any

import torch
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_leaves, tree_map

from samedevice import simulate_cuda


def main() -> None:
    warnings.simplefilter("ignore")
    for info in module_db:
        try:
            inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True, training=True)
        except (RuntimeError, TypeError):
            continue  # it has none of this dtype
        for number, given in enumerate(inputs):
            if given.forward_input is None:
                continue
            print(f"{info.name}, input {number}", flush=True)
            on_cpu = attempt(info, given, "cpu")
            with simulate_cuda(devices=1):
                on_gpu = attempt(info, given, "cuda")
            if (on_cpu is None) != (on_gpu is None):
                print(f"differs: {info.name}, input {number}: {on_cpu} on the CPU, {on_gpu} on the GPU", flush=True)


def attempt(info: Any, given: Any, device: str) -> Exception | None:
    """The error of a forward and a backward, if there is one."""

    def there(x: Any) -> Any:
        return x.detach().to(device).requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x

    torch.manual_seed(0)
    try:
        module = info.module_cls(*given.constructor_input.args, **given.constructor_input.kwargs).to(device)
        result = module(*tree_map(there, given.forward_input.args), **tree_map(there, given.forward_input.kwargs))
        losses = [x.sum() for x in tree_leaves(result) if isinstance(x, torch.Tensor) and x.requires_grad]
        if losses:
            sum(losses).backward()
    except Exception as error:
        return error
    return None


if __name__ == "__main__":
    main()
