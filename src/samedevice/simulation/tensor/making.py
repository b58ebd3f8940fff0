"""How a tensor is made on a simulated GPU: on the CPU, in memory of its own, and then wrapped.

factories.py and like.py say on which device; here it is made.
"""

from typing import Any, cast

import torch

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords
from samedevice.simulation.device import dispatch_modes, generators, sync_debug
from samedevice.simulation.device.devices import is_index
from samedevice.simulation.rules import kernel_names
from samedevice.simulation.rules.layout_errors import reworded
from samedevice.simulation.tensor import functorch, ownership
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import wrap

MADE_FROM_DATA = ("tensor", "as_tensor", "asarray")
_to = torch.Tensor.to
# What makes tensors in memory that a program has already, and what of its data has none of its own or is a tensor's.
_MAY_SHARE = ("as_tensor", "asarray", "new")
_OF_NO_ARRAY = (bool, int, float, complex, list, tuple, torch.Tensor, torch.TypedStorage, torch.UntypedStorage)
_UNSEEN = (*MADE_FROM_DATA, "new", "new_tensor", "range")


def given(**named: Any) -> Keywords:
    """The arguments that a program has given, of those that are None or False where it has not."""
    return {name: value for name, value in named.items() if value is not None and value is not False}


def made_while_seen(
    original: Any, name: str, device: torch.device, args: Arguments, kwargs: Keywords, named: Any
) -> torch.Tensor:
    """What a factory makes while a mode is on: by the operator, on the device as the program has named it.

    Data comes to a tensor where no mode sees it (torch/csrc/utils/tensor_new.cpp, internal_new_from_data).
    """
    if name in _UNSEEN or name.startswith("sparse_"):
        with dispatch_modes.unseen():
            made = made_on(original, device, *args, **kwargs)
        return made if name.startswith("sparse_") else cast(torch.Tensor, torch.ops.aten.lift_fresh.default(made))
    with dispatch_modes.asking():
        made = original(*args, device=device if is_index(named) else named, **kwargs)
    return made


def made_on(original: Any, device: torch.device, *args: Any, **kwargs: Any) -> torch.Tensor:
    """A tensor that is made on the CPU and is then on a GPU; from data, that is a copy."""
    name = original.__name__
    if dispatch_modes.faking():
        if name not in _UNSEEN:
            return cast(torch.Tensor, original(*args, device=device, **kwargs))
        return _to(original(*args, device="cpu", **kwargs), device)
    try:
        if "generator" in kwargs and generators.is_of_another_type(kwargs["generator"], device):
            made = unless_drawn(original, args, kwargs | {"device": "cpu"}, device)
        elif name.startswith("rand") or name == "normal":
            with generators.of(device, kwargs.get("generator")):
                made = original(*args, device="cpu", **kwargs)
        else:
            made = original(*args, device="cpu", **kwargs)
    except NotImplementedError as error:
        raise kernel_names.of_cuda(error) or reworded(error) from None
    except RuntimeError as error:
        raise reworded(error) from None
    if state.now.sync_debug_level and name in (*MADE_FROM_DATA, "new_tensor"):
        sync_debug.copies(made, device, False)
    if name in _MAY_SHARE:
        made = moved_data(made, args[1:] if name == "new" else args)
    return wrap(made, device)


def made_on_cpu(original: Any, args: Arguments, kwargs: Keywords, device: torch.device) -> torch.Tensor:
    """What a factory makes on the CPU, or on a device that PyTorch itself knows."""
    generator = kwargs.get("generator")
    if generator is not None:
        if generators.is_of_another_type(generator, device):
            return unless_drawn(original, args, kwargs, device)
        generators.check_generator(generator, device)
    made: torch.Tensor = original(*args, **kwargs)
    return ownership.owned(made) if functorch.is_wrapped(made) else made


def unless_drawn(original: Any, args: Arguments, kwargs: Keywords, device: torch.device) -> torch.Tensor:
    """What a function gives with a generator of another type of device than this one."""
    generator = kwargs["generator"]
    made = generators.unless_drawn(lambda other: original(*args, **kwargs | {"generator": other}), generator, device)
    return cast(torch.Tensor, made)


def moved_data(made: torch.Tensor, data: Any) -> torch.Tensor:
    """What was made on the CPU of a program's data, in memory of its own, as a move to a GPU gives it.

    PyTorch makes a tensor in the memory of an array, or of whatever else has memory, and copies it to the GPU
    (torch/csrc/utils/tensor_new.cpp, internal_new_from_data). Numbers and lists have none, and storages are taken over.
    """
    return made if not data or isinstance(data[0], _OF_NO_ARRAY) else made.detach().clone()


def pinned(made: torch.Tensor) -> torch.Tensor:
    if isinstance(made, SimulatedTensor) or made.layout is not torch.strided:
        raise RuntimeError("Only dense CPU tensors can be pinned")  # native/TensorFactories.cpp, empty
    return made.pin_memory()
