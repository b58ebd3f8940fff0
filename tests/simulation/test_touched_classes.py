"""What programs and libraries find out about PyTorch's classes is the same in a simulation as outside it.

Libraries list the attributes of a class and read each, derive from it, mock it, ask for its signature, and pickle it.
The classes are all of torch that a simulation changes or puts another in the place of, and the classes of simulated
tensors: they are read from what it has changed, and none is named here. A class that is whole in PyTorch's CUDA build
alone, as torch.cuda.Stream is, has at least what a build without CUDA shows.
"""

import contextlib
import inspect
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock

import pytest
import torch
from tests.simulation.test_clean import attributes, changed

from samedevice import simulate_cuda
from samedevice.simulation import session
from samedevice.simulation.class_stand_ins import InPlace
from samedevice.simulation.tensor import classes


class Touched(NamedTuple):
    """A class of torch, where the class is found that stands there in a simulation, and which members are others."""

    outside: type
    find: Callable[[], type]
    members: list[str]


class Mixin:
    """What a program mixes into its classes."""

    def save(self) -> str:
        return "saved"


@contextlib.contextmanager
def simulated() -> Iterator[None]:
    """A simulation that has put in place, too, what it puts there late."""
    with simulate_cuda(devices=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's of nested tensors, ours of compilers
        torch.nested.nested_tensor([torch.zeros(2, device="cuda")])
        torch.jit.script(torch.nn.Linear(1, 1))
        torch.nn.Parameter(torch.zeros(1, device="cuda"))
        torch.func.vmap(torch.sin)(torch.zeros(1, device="cuda"))
        yield


def of_torch(cls: Any) -> bool:
    return isinstance(cls, type) and cls.__module__.partition(".")[0] == "torch"


def touched() -> dict[str, Touched]:
    """Each class by its name; asked in a simulation."""
    found: dict[str, Touched] = {}
    for owner, name, original in session._session._changed:
        if of_torch(owner):
            entry = found.setdefault(name_of(owner), Touched(owner, lambda cls=owner: cls, []))
            entry.members.extend({name} - UNCOMPARED)
        if of_torch(original) and isinstance(vars(owner)[name], type):
            place = f"{getattr(owner, '__name__', owner)}.{name}"
            found[place] = Touched(original, lambda owner=owner, name=name: vars(owner)[name], [])
    for twin in list(classes._twins.values()):
        if of_torch(classes.original_of(twin)):
            found[f"the twin of {twin.__name__}"] = Touched(classes.original_of(twin), lambda twin=twin: twin, [])
    return found


def name_of(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def tried(function: Callable[..., Any], *args: Any) -> Any:
    """What a function returns, or the type of what it raises."""
    try:
        return function(*args)
    except Exception as error:
        return type(error)


def bases(cls: Any) -> Any:
    return [name_of(base) for base in inspect.getmro(cls)] if isinstance(cls, type) else cls


def signature(item: Any) -> Any:
    found = tried(inspect.signature, item)
    return str(found) if isinstance(found, inspect.Signature) else found


def is_found_by_its_name(item: Any) -> Any:
    return tried(lambda: pickle.loads(pickle.dumps(item)) == item)


def derived(cls: Any) -> list[Any]:
    """Classes that a program derives from this one: alone, with a mixin behind it, and with one before it."""
    return [tried(type, "Derived", bases, {}) for bases in ((cls,), (cls, Mixin), (Mixin, cls))]


# Two say how an instance is laid out in memory. The third is the device of a tensor that holds simulated ones: a name
# that nobody else uses, and it answers.
UNCOMPARED = {"__dict__", "__weakref__", "_samedevice_device"}


def names(item: Any) -> set[str]:
    return {*dir(item)} - UNCOMPARED


def refused(cls: Any) -> set[str]:
    return {name for name in dir(cls) if tried(getattr, cls, name) is AttributeError}


def of_derived(cls: Any) -> Any:
    if not isinstance(cls, type):
        return cls  # nothing can be derived
    return bases(cls), cls.__module__, refused(cls), tried(lambda: cls.save is Mixin.save)  # type: ignore[attr-defined]


def methods(cls: Any, members: list[str]) -> dict[str, Any]:
    return {name: value for name in members if callable(value := getattr(cls, name, None))}


FINDINGS: dict[str, Callable[[Any, list[str]], Any]] = {
    "name": lambda cls, members: (name_of(cls), cls.__name__, repr(cls), cls.__doc__),
    "dir": lambda cls, members: names(cls),
    "what getattr refuses": lambda cls, members: refused(cls),
    "bases": lambda cls, members: bases(cls),
    "signature": lambda cls, members: signature(cls),
    "mock": lambda cls, members: names(mock.create_autospec(cls)),
    "signature of a mock": lambda cls, members: signature(mock.create_autospec(cls)),
    "pickle": lambda cls, members: is_found_by_its_name(cls),
    "classes derived from it": lambda cls, members: [of_derived(each) for each in derived(cls)],
    "methods": lambda cls, members: {
        name: (value.__name__, signature(value)) for name, value in methods(cls, members).items()
    },
    "documentation": lambda cls, members: {
        name: value.__doc__
        for name in members
        if inspect.isroutine(value := getattr(cls, name, None)) or inspect.isdatadescriptor(value)
    },
    "methods that pickle does not find": lambda cls, members: {
        name for name, value in methods(cls, members).items() if is_found_by_its_name(value) is not True
    },
}
EARLIER = "classes derived from it before the simulation"


def difference(outside: Any, inside: Any) -> Any:
    """What differs, as short as it can be said."""
    if isinstance(outside, set) and isinstance(inside, set):
        return {"only outside": outside - inside, "only inside": inside - outside}
    if isinstance(outside, dict) and outside.keys() == inside.keys():
        return {key: difference(value, inside[key]) for key, value in outside.items() if value != inside[key]}
    if isinstance(outside, list | tuple) and len(outside) == len(inside):
        return [difference(*pair) for pair in zip(outside, inside, strict=True) if pair[0] != pair[1]]
    return f"{outside!r} outside, {inside!r} inside"


class Compared(NamedTuple):
    """What is found out outside and inside, by the name of the class and the finding."""

    outside: dict[str, dict[str, Any]]
    inside: dict[str, dict[str, Any]]
    whole_on_cuda_alone: list[str]


@pytest.fixture(scope="module")
def compared() -> Compared:
    def found(cls: Any, members: list[str], earlier: list[Any]) -> dict[str, Any]:
        findings = {name: find(cls, members) for name, find in FINDINGS.items()}
        return findings | {EARLIER: [of_derived(each) for each in earlier]}

    with simulated():
        everything = touched()
    earlier = {name: derived(entry.outside) for name, entry in everything.items()}
    outside = {name: found(entry.outside, entry.members, earlier[name]) for name, entry in everything.items()}
    with simulated():
        there = {name: entry.find() for name, entry in everything.items()}
        inside = {name: found(cls, everything[name].members, earlier[name]) for name, cls in there.items()}
    of_cuda = [
        name for name, cls in there.items() if cls is not everything[name].outside and not isinstance(cls, InPlace)
    ]
    return Compared(outside, inside, of_cuda)


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.parametrize("finding", [*FINDINGS, EARLIER])
def test_what_is_found_out_about_a_class_is_the_same_in_a_simulation(compared: Compared, finding: str) -> None:
    differing = []
    for name in compared.outside.keys() - {*compared.whole_on_cuda_alone}:
        before, now = compared.outside[name][finding], compared.inside[name][finding]
        is_less_refused = finding == "methods that pickle does not find" and now < before
        if now != before and not is_less_refused:
            differing.append(f"{name}: {difference(before, now)}")
    assert not differing, "\n".join(differing)


@pytest.mark.slow
@pytest.mark.skipif(torch.backends.cuda.is_built(), reason="a build with CUDA shows NCCL's own methods, too")
def test_a_class_that_is_whole_on_cuda_alone_has_at_least_what_is_seen_outside(compared: Compared) -> None:
    assert compared.whole_on_cuda_alone
    for name in compared.whole_on_cuda_alone:
        before, now = compared.outside[name], compared.inside[name]
        assert before["dir"] <= now["dir"], name
        assert before["mock"] <= now["mock"], name
        assert not now["what getattr refuses"] - before["what getattr refuses"], name
        assert now["pickle"] is True, name
        assert all(isinstance(each, tuple) for each in now["classes derived from it"]), name
        assert now["classes derived from it"][1][-1] is True, name  # a mixin's method is found


def test_every_class_that_differs_inside_is_among_those_that_were_compared(compared: Compared) -> None:
    before = attributes()
    with simulated():
        others = {owner for owner, _ in changed(before, attributes())}
    of_classes = {name for name in others if name in before and "__dict__" in before[name]}
    assert of_classes and of_classes <= compared.outside.keys()


def test_a_class_that_a_program_derives_makes_its_own_instances_on_a_gpu() -> None:
    with simulate_cuda(devices=2):

        class Generator(torch.Generator):
            def __init__(self, device: str, name: str) -> None:
                self.name = name

        class Stream(torch.Stream, Mixin): ...

        class Weight(type(torch.nn.Parameter(torch.ones(1, device="cuda")))): ...  # type: ignore[misc]

        generator = Generator("cuda:1", name="noise")
        assert isinstance(generator, Generator) and generator.name == "noise"
        drawn = [
            torch.rand(2, device="cuda:1", generator=each.manual_seed(5))
            for each in (generator, torch.Generator("cuda:1"))
        ]
        assert torch.equal(*drawn)
        assert not isinstance(torch.Generator("cuda"), Generator)
        assert Stream("cuda:1").save() == "saved" and isinstance(Stream(), torch.Stream)
        with Stream("cuda:1") as stream:
            assert torch.accelerator.current_stream() == stream
        weight = Weight(torch.ones(1, device="cuda:1"))
        assert isinstance(weight, Weight) and weight.is_cuda and weight.requires_grad
    assert Generator("cpu", name="ended").manual_seed(5).initial_seed() == 5


def test_a_class_goes_by_pickle_into_a_simulation_and_out_of_it() -> None:
    with simulated():
        everything = touched()
    outside = {name: tried(pickle.dumps, entry.outside) for name, entry in everything.items()}
    sent = {name: pickled for name, pickled in outside.items() if isinstance(pickled, bytes)}
    with simulated():
        inside = {name: pickle.dumps(everything[name].find()) for name in sent}
        for name, pickled in sent.items():
            assert pickle.loads(pickled) == everything[name].find(), name
    for name, pickled in inside.items():
        assert pickle.loads(pickled) is everything[name].outside, name
