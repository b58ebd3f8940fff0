"""How a tensor is made on a simulated GPU: on the CPU, in memory of its own, and then wrapped.

factories.py and like.py say on which device; here it is made.
"""

from typing import Any, cast

import torch

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords
from samedevice.simulation.device import dispatch_modes, generators, machine, memory, sync_debug
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
# Elements from which on a tensor is looked at before it is made. A smaller one is refused when it is there.
_MANY = 2**22
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
    if device.type == "cuda":
        _refuse_large(original, device, args, kwargs)
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
        if device.type == "cuda":
            machine.refuse_if_full(error, device)
        raise reworded(error) from None
    if state.now.sync_debug_level and name in (*MADE_FROM_DATA, "new_tensor"):
        sync_debug.copies(made, device, False)
    if name in _MAY_SHARE:
        made = moved_data(made, args[1:] if name == "new" else args)
    return wrap(made, device)


def _refuse_large(original: Any, device: torch.device, args: Arguments, kwargs: Keywords) -> None:
    """Refuse a large tensor for which there is no memory, before it is made. Data is there already, and is copied."""
    if original.__name__ in MADE_FROM_DATA or original.__name__ == "new_tensor":
        return
    elements: float = 1
    for given in (*args, *kwargs.values()):
        for number in given if isinstance(given, (tuple, list)) else (given,):
            if isinstance(number, torch.Tensor):
                elements *= number.numel() or 1
            elif isinstance(number, (int, float)):
                elements *= abs(number) or 1
    if (elements**2 if original.__name__ == "eye" else elements) < _MANY:
        return
    options = {name: value for name, value in kwargs.items() if name != "generator"}
    try:
        with torch._C.DisableTorchFunction():
            on_meta = [torch.empty_like(x, device="meta") if isinstance(x, torch.Tensor) else x for x in args]
            size = original(*on_meta, **options | {"device": "meta"}).nbytes
    except Exception:  # what is refused on the CPU, too
        return
    memory.expect(size, device.index)


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
