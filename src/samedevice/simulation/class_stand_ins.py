"""Classes that others take the place of: a program finds out about them what it finds out about PyTorch's.

Libraries list the attributes of a class and read each, ask for its signature, derive from it, mock it, and pickle it by
its name. A class in the place of another answers with what the other one has: it is known by it, and equals it. A class
that a program derives from it is derived from the other one. `face` makes such a class; the classes of tensors have
twins (tensor/classes.py). tests/simulation/test_touched_classes.py walks every class that is touched, so a name that
is added to a class of PyTorch's fails there.
"""

import copyreg
import functools
import inspect
import operator
import sys
import types
from typing import Any, ClassVar


class InPlace(type):
    """The type of a class in the place of `original`."""

    original: type
    for_derived: ClassVar[dict[str, Any]] = {}  # members of a class that a program derives

    def __new__(meta, name: str, bases: tuple[Any, ...], members: dict[str, Any], **options: Any) -> Any:
        if "original" in members:
            return super().__new__(meta, name, bases, members, **options)
        # A program derives a class of its own. Python then asks the type of the class that it finds among the bases.
        members.setdefault("__module__", sys._getframe(1).f_globals["__name__"])
        members = {**meta.for_derived, **members}
        bases = tuple(base.derived_from if isinstance(base, InPlace) else base for base in bases)
        return types.new_class(name, bases, options, lambda own: own.update(members))

    def __eq__(cls, other: object) -> bool:
        return cls is other or cls.original is (other.original if isinstance(other, InPlace) else other)

    def __hash__(cls) -> int:
        return hash(cls.original)

    def __dir__(cls) -> list[str]:
        return dir(cls.original)

    def __repr__(cls) -> str:
        return repr(cls.original)

    # inspect.getmro asks for this, mock and functools.singledispatch too. Python itself keeps the order elsewhere.
    __mro__: Any = property(lambda cls: cls.original.__mro__)

    # functools.singledispatch puts the order together from these, and compares it with the one above.
    __bases__: Any = property(lambda cls: cls.original.__bases__)
    __base__: Any = property(lambda cls: cls.original.__base__)

    def __subclasses__(cls) -> Any:
        return cls.original.__subclasses__()

    # inspect.signature asks the class that this one wraps.
    __wrapped__: Any = property(lambda cls: cls.original)

    if sys.version_info >= (3, 13):  # which asks a class itself; a function is called for the answer
        __signature__: Any = property(lambda cls: functools.partial(inspect.signature, cls.original))

    @property
    def derived_from(cls) -> Any:
        """What a class is derived from that a program derives from this one."""
        return cls.original


class Face(InPlace):
    """The type of a class without instances of its own: it knows those of the original, and has its attributes."""

    def __getattribute__(cls, name: str) -> Any:
        if name in _OF_FACES:
            return _own(cls, name)
        return getattr(_own(cls, "original"), name)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _own(cls, "original"))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.original)


_own = type.__getattribute__
_OF_FACES = frozenset(("original", "derived_from", "__wrapped__", "__signature__"))


def face(kind: type[Face], original: type) -> Any:
    """The class of this type that stands for `original`."""
    return kind(original.__name__, (), {"original": original, "__module__": original.__module__})


def pickle_as_original(kind: type[InPlace]) -> None:
    """Let a class of this type be pickled as the one that it stands for, where PyTorch's name leads to that one."""
    copyreg.pickle(kind, _reduce)


def _reduce(cls: Any) -> Any:
    return operator.getitem, ((cls.original,), 0)
