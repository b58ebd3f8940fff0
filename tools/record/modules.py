"""Questions about modules: a forward and a backward of module_db's own inputs, model and inputs together and apart.

One case is a module, one of its sets of arguments, whether it trains, and a placement: the device of the module, then
that of each tensor among the inputs. Its answer is the devices of the results and of the gradients, or the error.
"""

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy
import torch
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from record.errors import text

_MOST = 4  # sets of arguments for each module: those that differ in their keywords or in the ranks of the inputs


class Case(NamedTuple):
    """A module with its arguments and the inputs of one forward, on the CPU."""

    name: str
    number: int
    module: type[torch.nn.Module]
    arguments: Any
    flat: list[Any]
    spec: Any
    training: bool

    @property
    def shapes(self) -> list[list[int]]:
        return [list(x.shape) for x in self.flat if isinstance(x, torch.Tensor)]


def cases(name: str) -> Iterator[Case]:
    """Yield the cases of the module of this name, always the same in one version of torch, which may not have it."""
    info = next((info for info in module_db if info.name == name), None)
    if info is None:
        return
    for training in (True, False) if info.train_and_eval_differ else (True,):
        torch.manual_seed(0)
        random.seed(0)
        numpy.random.seed(0)
        try:
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False, training=training
            )
        except (RuntimeError, TypeError):  # it has none of this dtype
            continue
        forms: set[Any] = set()
        for number, given in enumerate(inputs):
            if given.forward_input is None:
                continue
            flat, spec = tree_flatten((list(given.forward_input.args), dict(given.forward_input.kwargs)))
            ranks = tuple(x.dim() if isinstance(x, torch.Tensor) else type(x) for x in flat)
            form = (str(spec), ranks, tuple(given.constructor_input.kwargs))
            if form not in forms and len(forms) < _MOST:
                forms.add(form)
                yield Case(name, number, info.module_cls, given.constructor_input, flat, spec, training)


def names() -> list[str]:
    return list(dict.fromkeys(info.name for info in module_db))


def placements(case: Case, gpus: int) -> list[list[str]]:
    """Return placements: the module and all inputs on a GPU; the module elsewhere; one of the inputs elsewhere."""
    count = 1 + len(case.shapes)
    found = [["cuda:0"] * count]
    for index in range(count):
        for device in ("cpu", "cuda:1") if gpus > 1 else ("cpu",):
            placement = ["cuda:0"] * count
            placement[index] = device
            found.append(placement)
    return found


def ask(case: Case, placement: list[str]) -> dict[str, Any]:
    """Return the answer to one case: {"ok": devices} or {"error": type, "message": text}."""
    try:
        return {"ok": _devices(case, placement)}
    except Exception as error:
        return {"error": type(error).__name__, "message": text(error)}


def _devices(case: Case, placement: list[str]) -> list[str]:
    """Return the devices of the results, then those of the gradients."""
    torch.manual_seed(0)
    home, *devices = placement
    module = case.module(*case.arguments.args, **case.arguments.kwargs).to(home).train(case.training)
    there = iter(devices)
    leaves = [
        x.detach().clone().to(next(there)).requires_grad_(x.is_floating_point()) if isinstance(x, torch.Tensor) else x
        for x in case.flat
    ]
    args, kwargs = tree_unflatten(leaves, case.spec)
    results = [x for x in tree_leaves(module(*args, **kwargs)) if isinstance(x, torch.Tensor)]
    torch.autograd.backward([x.sum() for x in results if x.requires_grad])
    inputs = [x for x in leaves if isinstance(x, torch.Tensor)]
    return [str(x.device) for x in results] + [
        "none" if x.grad is None else str(x.grad.device) for x in (*inputs, *module.parameters())
    ]
