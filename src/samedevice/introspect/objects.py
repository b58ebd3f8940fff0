"""Facts about a program's objects without running any of its code: no __getattr__, no property, no __repr__.

A value that could only be had by running something is MISSING.
"""

import collections
import functools
import itertools
import math
import sys
import types
from collections.abc import Iterable
from typing import Any, Final

from samedevice.introspect import classes
from samedevice.introspect.namespaces import names

MISSING: Final = object()

_DICT_SLOT = (types.GetSetDescriptorType, types.MemberDescriptorType)
_SLOT = (types.MemberDescriptorType, type(collections.namedtuple("_", "x").x))  # type: ignore[attr-defined]


def is_a(value: object, module: str, name: str) -> bool:
    """Tell whether a value is an instance of a class of a module that the program has imported."""
    wanted = getattr(sys.modules.get(module), name, None)
    # This is type's own method, not the metaclass's.
    return wanted is not None and type.__subclasscheck__(wanted, type(value))


def is_one_of(value: object, *kinds: type) -> bool:
    """Tell whether a value is an instance of some classes, as isinstance does, without asking for its `__class__`."""
    return issubclass(type(value), kinds)


def is_device(value: object) -> bool:
    """Tell whether a value is a torch.device: while GPUs are simulated, that name stands for another class."""
    return (classes.module(type(value)), classes.name(type(value))) == ("torch", "device")


def is_generator(value: object) -> bool:
    """Tell whether a value is a torch.Generator: while GPUs are simulated, that name stands for another class."""
    torch = sys.modules.get("torch")
    return torch is not None and type.__subclasscheck__(type(torch.default_generator), type(value))


def is_tensor(value: object) -> bool:
    return is_a(value, "torch", "Tensor")


def is_module(value: object) -> bool:
    return is_a(value, "torch.nn", "Module")


def is_optimizer(value: object) -> bool:
    return is_a(value, "torch.optim", "Optimizer")


def attributes(value: object) -> dict[str, Any]:
    """Return what stands in the instance itself: its `__dict__`, read past any property of that name."""
    for base in classes.mro(type(value)):
        slot: Any = classes.namespace(base).get("__dict__")
        if type(slot) in _DICT_SLOT:
            try:
                found = slot.__get__(value)
            except (AttributeError, TypeError):  # it is the slot of another class
                continue
            return names(found) if found is not value else {}
    return {}


def attribute(value: object, name: str) -> Any:
    """Return `value.name`, as far as looking suffices."""
    if is_one_of(value, types.ModuleType):
        return attributes(value).get(name, MISSING)
    if is_module(value):
        for where in ("_parameters", "_buffers", "_modules"):
            found = attributes(value).get(where, {}).get(name, MISSING)
            if found is not MISSING:
                return found
    if is_tensor(value):
        return tensor_attribute(value, name)
    if type(classes.defined(type(value), "__getattribute__")) is not types.WrapperDescriptorType:  # the program's own
        return MISSING
    if is_one_of(value, type):
        held = classes.defined(value, name, MISSING)  # type: ignore[arg-type]  # it is a class
        return MISSING if held is MISSING or classes.defined(type(held), "__get__") is not None else held
    own = attributes(value)
    held = classes.defined(type(value), name, MISSING)
    if held is MISSING:
        return own.get(name, MISSING)
    if type(held) in _SLOT:
        try:
            return type(held).__get__(held, value)
        except AttributeError:
            return MISSING
    if name in own and classes.defined(type(held), "__set__") is None:
        return own[name]
    return MISSING if classes.defined(type(held), "__get__") is not None else held


def method(value: object, name: str) -> types.FunctionType | None:
    """Return the function that `value.name(...)` runs, if that is a method of the program's; `value` may be a class."""
    held = classes.defined(value if is_one_of(value, type) else type(value), name)  # type: ignore[arg-type]
    if type(held) in (staticmethod, classmethod):
        held = held.__func__
    return classes.wrapped(held)[-1] if type(held) is types.FunctionType else None


def getter(value: object, name: str) -> types.FunctionType | None:
    """Return the function that `value.name` runs, if that is a property."""
    held = classes.defined(type(value), name)
    found = held.fget if type(held) is property else None
    return found if type(found) is types.FunctionType else None


def tensor_attribute(tensor: Any, name: str) -> Any:
    """Return what a tensor holds beside its values: `.grad`, `.data`, and what the program attached to it."""
    torch = sys.modules["torch"]
    if name in ("grad", "data", "T", "mT", "H"):
        # The same device and owner as the tensor itself, which is what is asked.
        with torch._C.DisableTorchFunction():
            base = torch._C.TensorBase
            if name == "grad" and (base.is_leaf.__get__(tensor) or base.retains_grad.__get__(tensor)):
                return base.grad.__get__(tensor)  # of any other tensor it would warn
            return None if name == "grad" else tensor
    return attributes(tensor).get(name, MISSING)


def item(value: Any, key: Any) -> Any:
    """Return `value[key]` of Python's own containers and of torch's, for text, a number, or the very key of a dict."""
    if type(key) not in (str, int):
        # Found without hashing it, which may be the program's own code: an optimizer's state has parameters for keys.
        pairs = dict.items(value) if is_one_of(value, dict) and key is not MISSING else ()
        return next((held for own, held in itertools.islice(pairs, 10_000) if own is key), MISSING)
    if is_module(value):
        modules = attributes(value).get("_modules", {}) or attributes(value).get("_parameters", {})
        names = list(modules)
        if type(key) is int:
            return modules[names[key]] if -len(names) <= key < len(names) else MISSING
        return modules.get(key, MISSING)
    if is_one_of(value, collections.UserDict):
        value = attributes(value).get("data", MISSING)
    if is_one_of(value, dict):
        return dict.get(value, key, MISSING)
    for kind in (list, tuple, collections.deque):
        if is_one_of(value, kind) and type(key) is int:
            size = kind.__len__(value)
            return kind.__getitem__(value, key) if -size <= key < size else MISSING
    return MISSING


def items(value: Any) -> list[tuple[str, Any]]:
    """Return what a container (or a partial) holds, each after how it is reached: "[0]", '["labels"]'."""
    if is_one_of(value, collections.UserDict):
        value = attributes(value).get("data", {})
    if is_one_of(value, dict):
        pairs = dict.items(value)
        return [(f"[{quoted(key)}]", held) for key, held in _first(pairs) if type(key) in (str, int)]
    if is_one_of(value, functools.partial):
        parts = {"args": functools.partial.args, "keywords": functools.partial.keywords}
        within = {f".{name}": part.__get__(value) for name, part in parts.items()}
        found = [(path + rest, held) for path, part in within.items() for rest, held in items(part)]
        return [(".func", functools.partial.func.__get__(value)), *found]
    for kind in (list, tuple, collections.deque):
        if is_one_of(value, kind):
            names = fields(value)
            return [
                (f".{names[index]}" if names else f"[{index}]", held)
                for index, held in enumerate(_first(kind.__iter__(value)))
            ]
    return []


def fields(value: Any) -> tuple[str, ...]:
    """Return the names of the fields of a named tuple; any other tuple has none."""
    for owner in classes.mro(type(value)):
        if type(fields := classes.namespace(owner).get("_fields")) is tuple:
            return fields
    return ()


def inside(value: Any, depth: int = 3) -> list[tuple[str, Any]]:
    """The tensors in a value, each after how it is reached: "", "[0]", '["labels"][1]'."""
    if is_tensor(value):
        return [("", value)]
    if depth == 0:
        return []
    return [(path + rest, tensor) for path, held in items(value) for rest, tensor in inside(held, depth - 1)]


def _first(values: Iterable[Any]) -> list[Any]:
    return list(itertools.islice(values, 200))


def quoted(key: Any) -> str:
    """Return the code for a key that is a number or text."""
    if type(key) is int:
        return str(key)
    text = str.__str__(key)
    return f'"{text}"' if text.isprintable() and '"' not in text and "\\" not in text else ascii(text)


def device(tensor: Any) -> str:
    """Return where a tensor is, as PyTorch writes it; a simulated tensor carries it."""
    carried = attributes(tensor).get("_samedevice_device")
    if carried is None:
        torch = sys.modules["torch"]
        with torch._C.DisableTorchFunction():
            carried = torch._C.TensorBase.device.__get__(tensor)
    return str(carried)


def shape(tensor: Any) -> tuple[int, ...] | None:
    """Return a tensor's shape; None for a lazy parameter, which has no shape yet, and for a nested tensor."""
    if is_lazy(tensor):
        return None
    torch = sys.modules["torch"]
    with torch._C.DisableTorchFunction():
        try:
            return tuple(int(size) for size in torch._C.TensorBase.shape.__get__(tensor))
        except RuntimeError:
            return None


def is_lazy(tensor: Any) -> bool:
    """Tell whether a value is a parameter that gets its shape with the first batch."""
    return is_a(tensor, "torch.nn.parameter", "UninitializedTensorMixin")


def parameters(module: Any) -> list[Any]:
    """Return the parameters of a module and of its submodules."""
    return _registered(module, ("_parameters",))


def registered(module: Any) -> list[Any]:
    """Return the parameters and the buffers of a module and of its submodules."""
    return _registered(module, ("_parameters", "_buffers"))


def _registered(module: Any, kinds: tuple[str, ...]) -> list[Any]:
    todo, seen = [module], {id(module)}
    found: list[Any] = []
    while todo:
        own = attributes(todo.pop())
        for kind in kinds:
            found += [tensor for tensor in own.get(kind, {}).values() if tensor is not None]
        children = [child for child in own.get("_modules", {}).values() if child is not None and id(child) not in seen]
        seen.update(map(id, children))
        todo += children
    return found


def is_floating(tensor: Any) -> bool:
    torch = sys.modules["torch"]
    with torch._C.DisableTorchFunction():
        return bool(torch._C.TensorBase.dtype.__get__(tensor).is_floating_point)


def hooks(tensor: Any) -> list[Any]:
    """Return what `register_hook` gave a tensor."""
    torch = sys.modules["torch"]
    with torch._C.DisableTorchFunction():
        kept = torch._C.TensorBase._backward_hooks.__get__(tensor)
    return list(dict.values(kept)) if is_one_of(kept, dict) else []


def requires_grad(tensor: Any) -> bool:
    torch = sys.modules["torch"]
    with torch._C.DisableTorchFunction():
        return bool(torch._C.TensorBase.requires_grad.__get__(tensor))


def is_array(value: object) -> bool:
    return is_a(value, "numpy", "ndarray")


def array_shape(array: Any) -> tuple[int, ...]:
    """Return the shape of a NumPy array; a subclass may have a `shape` of its own."""
    shape: tuple[int, ...] = sys.modules["numpy"].ndarray.shape.__get__(array)
    return shape


def array_bytes(array: Any) -> int:
    """Return what the elements of a NumPy array take."""
    return int(sys.modules["numpy"].ndarray.nbytes.__get__(array))


def bytes_of(tensor: Any) -> int:
    """Return how many bytes a tensor's elements take; 0 if it has no shape yet."""
    sizes = shape(tensor)
    if sizes is None:
        return 0
    torch = sys.modules["torch"]
    with torch._C.DisableTorchFunction():
        return math.prod(sizes) * int(torch._C.TensorBase.dtype.__get__(tensor).itemsize)
