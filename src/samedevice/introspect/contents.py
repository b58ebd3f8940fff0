"""How to look into an object, one level down, without running any of the program's code.

`reading(kind)` says how to read the instances of a class. Values come from Python's own slots: the items of a
container, the instance's `__dict__`, its `__slots__`, what a function closes over. No `__iter__`, `__len__`, property
or `__getattr__` of the program is called, and no iterator is used up.

What the whole program shares belongs to no object, so nobody looks into it from one: Python modules, loggers, files,
and the classes and functions of PyTorch and of the standard library.
"""

import builtins
import collections
import collections.abc
import gc
import io
import itertools
import logging
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from samedevice.introspect import classes, objects

# What holds nothing, if it is an instance of exactly one of these.
ATOMS: tuple[type, ...] = (
    *(bool, int, float, complex, str, bytes, bytearray, memoryview, range, object),
    *(type(None), type(...), type(NotImplemented), types.CodeType, types.GenericAlias, types.UnionType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType),
    *(types.MethodDescriptorType, types.ClassMethodDescriptorType),
    type(vars(collections.abc.Mapping)["_abc_impl"]),  # which classes an abstract class knows
)
# What holds nothing of its own, instances of subclasses included.
_SHARED = (types.ModuleType, logging.Logger, io.IOBase.__mro__[1], weakref.ref, *weakref.ProxyTypes)
_SHARED_OF_TORCH = {
    "device",
    "dtype",
    "layout",
    "memory_format",
    "Generator",
    "Size",
    "Stream",
    "StorageBase",
    "TypedStorage",
}
_HOLD_NUMBERS_AND_TEXT = {"numpy", "tokenizers"}  # packages whose C objects hold no tensors
_VIEWS = tuple(map(type, ({}.keys(), {}.values(), {}.items())))
# What C keeps in an instance of these is all read below.
_READ_WHOLE: tuple[type, ...] = (
    *(object, dict, list, tuple, set, frozenset, collections.deque, collections.OrderedDict, *_VIEWS),
    *(int, float, complex, str, bytes, bytearray, type, types.FunctionType, types.BuiltinFunctionType),
    *(types.CellType, types.MappingProxyType),
)
_DUNDERS = ("__self__", "__func__")  # of the slots with such names, the ones that hold what a program put there
_OF_EVERY_CLASS = {"__annotations__", "__dataclass_fields__", "__attrs_attrs__", "__orig_bases__", "__parameters__"}

Kind = Literal["attribute", "class attribute", "item", "element", "key", "same"]


class Parts(NamedTuple):
    """What an object holds in one way.

    Attributes:
        kind: how Python code reaches a part from the object. An "element" of a set and a "key" of a dict have no code
            of their own; what is the "same" is reached by the code for the object, as the dict in a UserDict is.
        keys: the name, the index or the key of each part.
        values: the parts.
    """

    kind: Kind
    keys: Iterable[Any]
    values: list[Any]


Reader = Callable[[Any], Parts]


@dataclass(frozen=True)
class Reading:
    """How to look into the instances of a class.

    Attributes:
        readers: the functions that read what an instance holds.
        unread: why an instance is left alone, in words that follow "because"; "" if it is read.
        in_c: whether C may keep more in an instance than the readers find.
    """

    readers: tuple[Reader, ...] = ()
    unread: str = ""
    in_c: bool = False


def reading(kind: type) -> Reading:
    """Return how to look into the instances of a class.

    Example:
        >>> [list(read([4, 5]).values) for read in reading(list).readers]
        [[4, 5]]
        >>> reading(type(iter([]))).unread
        'reading an iterator uses it up'
    """
    bases = classes.mro(kind)
    if _is_among((kind,), ATOMS) or _is_among(bases, _SHARED) or any(map(_is_shared_in_torch, bases)):
        return Reading()
    if _is_among(bases, (types.FrameType, types.TracebackType)):
        return Reading(unread="what is in a frame belongs to the function that ran there")
    native = _made_in_c(bases)
    if native is not None and classes.defined(native, "__next__") is not None:
        return Reading(unread="reading an iterator uses it up")
    readers = [read for base in bases for container, read in _CONTAINERS if base is container]
    readers += [read for read in (_attributes_of(bases), _slots_of(bases), _class_attributes_of(bases)) if read]
    if native is None or _package(native) in _HOLD_NUMBERS_AND_TEXT:
        return Reading(tuple(readers))
    if not _is_of_python(native):
        return Reading(tuple(readers), "a C extension keeps its content out of Python's sight")
    return Reading(tuple(readers), in_c=True)


def attributes(value: object) -> Parts:
    """Return what stands in the instance itself."""
    own = objects.attributes(value)
    return Parts("attribute", list(own), list(own.values()))


def class_attributes(value: type) -> Parts:
    """Return what the body of a class defined and what it inherits, if the program defined it."""
    return _class_attributes(classes.mro(value))


def hides(value: object, shown: Iterable[Parts], is_atom: Callable[[type], bool]) -> bool:
    """Tell whether an object that is made in C refers to something that none of its readers found.

    Args:
        value: the object.
        shown: what the readers found.
        is_atom: whether instances of a class hold nothing.
    """
    known = {id(part) for parts in shown for part in parts.values} | {id(objects.attributes(value))}
    return any(
        id(held) not in known
        and not is_atom(type(held))
        and not objects.is_one_of(held, type)
        and not (type(held) in (dict, list, tuple) and not held)
        for held in gc.get_referents(value)
    )


def elements_of_array(array: Any) -> Parts:
    """Return the objects in a NumPy array of objects; a NumPy array of anything else holds none."""
    ndarray = sys.modules["numpy"].ndarray
    if not ndarray.dtype.__get__(array).hasobject:
        return Parts("item", (), [])
    shape = ndarray.shape.__get__(array)
    indices = range(shape[0]) if len(shape) == 1 else itertools.product(*map(range, shape))
    return Parts("item", indices, list(ndarray.flat.__get__(array)))


# What each kind of container holds


def _of_dict(value: Any) -> Parts:
    return Parts("item", list(dict.keys(value)), list(dict.values(value)))


def _keys_of_dict(value: Any) -> Parts:
    return Parts("key", itertools.repeat(""), list(dict.keys(value)))


def _of_tuple(value: Any) -> Parts:
    fields = objects.fields(value)
    parts = list(tuple.__iter__(value))
    return Parts("attribute", fields, parts) if len(fields) == len(parts) > 0 else Parts("item", range(2**63), parts)


def _ordered(kind: Any) -> Reader:
    return lambda value: Parts("item", range(2**63), list(kind.__iter__(value)))


def _unordered(kind: Any) -> Reader:
    return lambda value: Parts("element", itertools.repeat(""), list(kind.__iter__(value)))


def _of_proxy(value: Any) -> Parts:
    return Parts("same", ("",), gc.get_referents(value))


def _of_function(value: Any) -> Parts:
    """Return defaults and closure; a wrapper that was made for a function has that function's `__module__`."""
    slots = classes.namespace(types.FunctionType)
    homes = slots["__module__"].__get__(value), dict.get(slots["__globals__"].__get__(value), "__name__")
    if all(type(home) is str and _is_library(home) for home in homes):
        return Parts("attribute", (), [])
    names = ("__defaults__", "__kwdefaults__", "__closure__")
    return Parts("attribute", names, [slots[name].__get__(value) for name in names])


def _of_cell(value: Any) -> Parts:
    try:
        return Parts("attribute", ("cell_contents",), [types.CellType.cell_contents.__get__(value)])
    except ValueError:  # a name that has no value yet
        return Parts("attribute", (), [])


def _of_builtin(value: Any) -> Parts:
    return Parts("attribute", ("__self__",), [vars(types.BuiltinFunctionType)["__self__"].__get__(value)])


def _of_exception(value: Any) -> Parts:
    names = ("args", "__cause__", "__context__", "__traceback__")
    return Parts("attribute", names, [vars(BaseException)[name].__get__(value) for name in names])


def _of_user_container(value: Any) -> Parts:
    """Return the container that a UserDict or a UserList has inside."""
    own = objects.attributes(value)
    return Parts("same", ("",), [own["data"]] if "data" in own else [])


_CONTAINERS: list[tuple[type, Reader]] = [
    (dict, _of_dict),
    (dict, _keys_of_dict),
    (list, _ordered(list)),
    (tuple, _of_tuple),
    (set, _unordered(set)),
    (frozenset, _unordered(frozenset)),
    (collections.deque, _ordered(collections.deque)),
    *((view, _unordered(view)) for view in _VIEWS),
    (collections.UserDict, _of_user_container),
    (collections.UserList, _of_user_container),
    (types.MappingProxyType, _of_proxy),
    (types.FunctionType, _of_function),
    (types.CellType, _of_cell),
    (types.BuiltinFunctionType, _of_builtin),
    (BaseException, _of_exception),
]


# Attributes


def _attributes_of(bases: tuple[type, ...]) -> Reader | None:
    if not any("__dict__" in classes.namespace(base) for base in bases):
        return None
    is_container = _is_among(bases, (collections.UserDict, collections.UserList))
    return _attributes_but_data if is_container else attributes


def _attributes_but_data(value: Any) -> Parts:
    own = {name: held for name, held in objects.attributes(value).items() if type(name) is not str or name != "data"}
    return Parts("attribute", list(own), list(own.values()))


def _slots_of(bases: tuple[type, ...]) -> Reader | None:
    slots: dict[str, Any] = {}
    if classes.defined(bases[0], "n_sequence_fields") is not None:  # such as torch.return_types.max: a tuple has them
        return None
    for base in reversed(bases):
        for name, held in classes.namespace(base).items():
            if type(held) is types.MemberDescriptorType and (not name.startswith("__") or name in _DUNDERS):
                slots[name] = held

    def read(value: Any) -> Parts:
        found = {}
        for name, slot in slots.items():
            try:
                found[name] = slot.__get__(value)
            except AttributeError:  # a slot that has no value yet
                continue
        return Parts("attribute", list(found), list(found.values()))

    return read if slots and not _is_among(bases, (types.FunctionType,)) else None


def _class_attributes_of(bases: tuple[type, ...]) -> Reader | None:
    if all(_is_library(classes.module(base)) for base in bases):
        return None
    return lambda value: _class_attributes(bases, set(objects.attributes(value)))


def _class_attributes(bases: tuple[type, ...], hidden: Iterable[str] = ()) -> Parts:
    found: dict[str, Any] = dict.fromkeys(hidden)
    for base in bases:
        if not _is_library(classes.module(base)):
            for name, held in classes.namespace(base).items():
                if name not in found and name not in _OF_EVERY_CLASS:
                    found[name] = held.__func__ if type(held) is staticmethod else held
    names = [name for name in found if name not in hidden]
    return Parts("class attribute", names, [found[name] for name in names])


# Whose a class is


def _is_among(bases: tuple[type, ...], kinds: tuple[type, ...]) -> bool:
    """Compare by identity: `in` would compare by `==`, which a metaclass may define."""
    return any(base is kind for base in bases for kind in kinds)


def _made_in_c(bases: tuple[type, ...]) -> type | None:
    """Return the base whose instances have room for more than the slots that Python can read, if there is one."""
    size, native = 0, None
    for base in reversed(bases):
        namespace = classes.namespace(base)
        words = sum(type(held) is types.MemberDescriptorType for held in namespace.values())
        words += ("__dict__" in namespace) + ("__weakref__" in namespace)
        own_size = _BASICSIZE.__get__(base)
        if own_size > size + _WORD * words and not _is_among((base,), _READ_WHOLE):
            native = base
        size = max(size, own_size)
    return native


def _is_shared_in_torch(base: type) -> bool:
    return classes.name(base) in _SHARED_OF_TORCH and _package(base) == "torch"


def _is_of_python(native: type) -> bool:
    """Tell whether a class made in C is of the standard library, as PyTorch's autograd nodes wrongly say they are."""
    if classes.module(native) == "builtins" and getattr(builtins, classes.name(native), None) is not native:
        return "next_functions" not in classes.namespace(native)
    return _package(native) in sys.stdlib_module_names


def _is_library(module: str) -> bool:
    package = module.partition(".")[0]
    return package in sys.stdlib_module_names or package in ("torch", "numpy", "samedevice")


def _package(kind: type) -> str:
    return classes.module(kind).partition(".")[0]


_BASICSIZE = vars(type)["__basicsize__"]
_WORD = vars(type)["__basicsize__"].__get__(object) // 2  # an object is a count of references and its class
