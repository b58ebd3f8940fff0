"""Run each optimizer of PyTorch's optim_db, three steps, on the CPU and on a simulated GPU.

It prints the name of each before it runs, so that the last one is the culprit where the process ends, and a line that
begins with "differs: " where one device refuses what the other does, or where the parameters end up different.
"""

import warnings
from typing import Any

import torch
from torch.testing._internal.common_optimizers import optim_db

from samedevice import simulate_cuda


def main() -> None:
    warnings.simplefilter("ignore")
    for info in optim_db:
        for case in info.optim_inputs_func(device="cuda"):
            # "foreach" and "fused" choose the implementation, which PyTorch's own tests put on top of each case.
            for choice in ({}, *({name: True} for name in ("foreach", "fused") if name in info.supported_impls)):
                name = f"{info.optim_cls.__name__}, {case.desc or 'as it is'}, {choice or 'by default'}"
                print(name, flush=True)
                # On the CPU there are no CUDA graphs to be captured in, and the option is refused.
                capturable = case.kwargs.get("capturable", False)
                plain = {key: value for key, value in case.kwargs.items() if key != "capturable"}
                on_cpu = attempt(info, plain if capturable else plain | choice, "cpu")
                with simulate_cuda(devices=1):
                    on_gpu = attempt(info, case.kwargs | choice, "cuda")
                if not agree(on_cpu, on_gpu):
                    print(f"differs: {name}: {on_cpu} on the CPU, {on_gpu} on the GPU", flush=True)


def attempt(info: Any, options: dict[str, Any], device: str) -> list[torch.Tensor] | Exception:
    """The parameters of a small model, of shapes (3, 4) and (4,), after three steps; or the error."""
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 3).to(device)
    inputs = torch.rand(2, 4).to(device)
    try:
        parameters = [p for p in model.parameters() if p.dim() == 2] if _needs_matrices(info) else model.parameters()
        optimizer = info.optim_cls(parameters, **options)

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = model(inputs).square().sum()
            if info.only_supports_sparse_grads:
                loss.backward()
                for parameter in model.parameters():
                    parameter.grad = parameter.grad.to_sparse()
            else:
                loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
    except Exception as error:
        return error
    return [p.detach().cpu() for p in model.parameters()]


def _needs_matrices(info: Any) -> bool:
    return info.optim_cls.__name__ == "Muon"


def agree(on_cpu: list[torch.Tensor] | Exception, on_gpu: list[torch.Tensor] | Exception) -> bool:
    if isinstance(on_cpu, Exception) or isinstance(on_gpu, Exception):
        return type(on_cpu) is type(on_gpu)
    return all(torch.allclose(x, y, atol=1e-5) for x, y in zip(on_cpu, on_gpu, strict=True))


if __name__ == "__main__":
    main()
