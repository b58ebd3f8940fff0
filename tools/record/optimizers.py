"""Questions about optimizers: a step with each of optim_db's own options, with the parameters together and apart.

One case is an optimizer, one of its sets of options, how it is to be computed (foreach, fused) and a placement: the
devices of two parameters, or "CPU, then GPU" for parameters that are moved between two steps. Its answer is the devices
of each parameter and of what the optimizer keeps for it, or the error.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.testing._internal.common_optimizers import optim_db

from record.errors import text

MOVED = ["cpu -> cuda:0"]


class Case(NamedTuple):
    """An optimizer and its options."""

    name: str
    number: int
    optimizer: type[torch.optim.Optimizer]
    options: dict[str, Any]
    how: str
    sparse: bool

    @property
    def told(self) -> str:
        """Return the options in words; the number tells apart what these do not."""
        given = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.name}({given})"


def cases() -> Iterator[Case]:
    for info in optim_db:
        for number, given in enumerate(info.optim_inputs_func(device="cuda")):
            for how in ("", *(how for how in ("foreach", "fused") if how in info.supported_impls)):
                options = given.kwargs | ({how: True} if how else {})
                yield Case(
                    info.optim_cls.__name__, number, info.optim_cls, options, how, info.only_supports_sparse_grads
                )


def placements(gpus: int) -> list[list[str]]:
    found = [["cuda:0", "cuda:0"], ["cuda:0", "cpu"], ["cpu", "cuda:0"]]
    return [*found, ["cuda:0", "cuda:1"], MOVED] if gpus > 1 else [*found, MOVED]


def ask(case: Case, placement: list[str]) -> dict[str, Any]:
    """Return the answer to one case: {"ok": devices} or {"error": type, "message": text}."""
    try:
        return {"ok": _devices(case, placement)}
    except Exception as error:
        return {"error": type(error).__name__, "message": text(error)}


def _devices(case: Case, placement: list[str]) -> list[str]:
    parameters = [
        torch.nn.Parameter(torch.ones(2, 3, device=device)) for device in (["cpu"] if placement == MOVED else placement)
    ]
    optimizer = case.optimizer(parameters, **case.options)

    def closure() -> torch.Tensor:
        for parameter in parameters:
            gradient = torch.ones_like(parameter)
            parameter.grad = _sparse(gradient) if case.sparse else gradient
        return torch.ones((), requires_grad=True)

    optimizer.step(closure)
    if placement == MOVED:
        for parameter in parameters:
            parameter.grad = None
            parameter.data = parameter.data.to("cuda:0")
        optimizer.step(closure)
    found = []
    for parameter in parameters:
        state = optimizer.state[parameter]
        tensors = {key: value for key, value in sorted(state.items()) if isinstance(value, torch.Tensor)}
        found.append(" ".join([str(parameter.device), *(f"{key}:{x.device}" for key, x in tensors.items())]))
    return found


def _sparse(x: torch.Tensor) -> torch.Tensor:
    """Return all of a matrix as a sparse tensor; to_sparse() would ask a kernel where the zeros are."""
    rows = torch.arange(x.shape[0], device="cpu").to(x.device)
    return torch.sparse_coo_tensor(rows[None], x.detach(), x.shape)
