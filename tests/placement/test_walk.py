"""`where` and `picture` see the same tensors in any object, run nothing of it, and say what they did not look into."""

import collections
import dataclasses
import functools
import gc
import itertools
import re
import threading
import time
import types
import weakref
from typing import Any, NamedTuple

import attrs
import numpy
import pytest
import torch
from torch import nn

from samedevice import simulate_cuda, where
from samedevice.placement import picture
from samedevice.placement.walk import walk


@pytest.fixture(autouse=True)
def two_gpus():
    with simulate_cuda(devices=2):
        yield


def cpu(*shape):
    return torch.ones(*shape or (2,))


def gpu(*shape):
    return torch.ones(*shape or (2,), device="cuda:1")


def counts_of_where(thing):
    """How many tensors `where` tells of on each device."""
    counts: collections.Counter = collections.Counter()
    for row in where(thing).rows:
        numbers = re.findall(r"(\d+) (?!\))[a-z]", row.holds.replace(",", ""))
        counts[row.device] += sum(map(int, numbers)) if numbers and row.shape is None else bool(row.device)
    return +counts


def counts_of_picture(thing):
    counts: collections.Counter = collections.Counter()
    for placement in picture(thing=thing)._things[0].placements:
        number = re.search("\N{MULTIPLICATION SIGN}([0-9]+)", placement.name)
        counts[placement.device] += int(number[1]) if number else bool(placement.device)
    return +counts


# Objects that hold tensors, each in its way


class Ema:
    def __init__(self):
        self.model = nn.Linear(2, 1).cuda()
        self.shadow = {name: tensor.detach().cpu() for name, tensor in self.model.named_parameters()}
        self.decay = 0.999


@dataclasses.dataclass
class Batch:
    images: torch.Tensor
    labels: torch.Tensor
    names: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True, frozen=True)
class Small:
    x: torch.Tensor


@attrs.define
class Attrs:
    x: torch.Tensor
    y: int = 3


class Pair(NamedTuple):
    x: torch.Tensor
    y: Any


class Slots:
    __slots__ = ("unset", "x")


class MoreSlots(Slots):
    __slots__ = ("__private",)

    def __init__(self):
        self.x, self.__private = cpu(), gpu()


class BatchEncoding(collections.UserDict):
    """As transformers has it."""

    def __init__(self, data, encodings=None):
        super().__init__(data)
        self._encodings = encodings

    def __getattr__(self, name):
        return self.data[name]


class MappingLike:
    def __init__(self, data):
        self.data = data

    def __getitem__(self, key):
        return self.data[key]

    def __len__(self):
        return len(self.data)


class Rollout:
    def __init__(self):
        self.observations, self.rewards = [cpu(), cpu()], collections.deque([gpu()], maxlen=3)


class Bank(dict):
    queue = None

    def __init__(self):
        self.queue = gpu(8, 2)
        self["pointer"] = cpu(1)


class Schedule:
    betas = torch.linspace(0, 1, 4)

    def __init__(self):
        self.alphas = gpu()


class Trainer:
    def __init__(self):
        self.model = nn.Linear(2, 1).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), foreach=False)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda epoch: 1.0)
        self.trainer = self  # a cycle
        self.model(gpu(3, 2).to("cuda:0")).sum().backward()
        self.optimizer.step()


class Computing:
    def __init__(self):
        self.scale = cpu()

    def run(self, x):
        return x * self.scale


class Registry:
    table = {"first": cpu()}  # noqa: RUF012

    @staticmethod
    def score(x, weight=torch.ones(3)):  # noqa: B008
        return x * weight


class Reader(types.SimpleNamespace):
    pass


def closure():
    kept = [cpu(), gpu()]
    return lambda: kept


def with_defaults(x=torch.ones(2), *, y=(torch.ones(1), 3)):  # noqa: B008
    return x, y


def objects_array():
    array = numpy.empty(3, dtype=object)
    array[0], array[2] = cpu(), gpu()
    return array


def packed():
    return nn.utils.rnn.pack_sequence([cpu(3), cpu(2)])


def ordered(**items):
    return collections.OrderedDict(items)


def module_with(**attributes):
    module = nn.Linear(2, 2).cuda()
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def nested(depth, value):
    for _ in range(depth):
        value = [value]
    return value


CPU, GPU, FIRST = "cpu", "cuda:1", "cuda:0"

TABLE = {
    "dict": (lambda: {"x": cpu(), 3: gpu(), (0, 1): cpu(), None: 1}, {CPU: 2, GPU: 1}),
    "dict by tensors": (lambda: {cpu(): "first", "x": gpu()}, {CPU: 1, GPU: 1}),
    "OrderedDict": (lambda: ordered(x=cpu()), {CPU: 1}),
    "defaultdict": (lambda: collections.defaultdict(list, x=[cpu()]), {CPU: 1}),
    "default_factory": (lambda: collections.defaultdict(functools.partial(torch.add, gpu())), {GPU: 1}),
    "ChainMap": (lambda: collections.ChainMap({"x": cpu()}, {"y": gpu()}), {CPU: 1, GPU: 1}),
    "UserDict": (lambda: BatchEncoding({"input_ids": cpu()}), {CPU: 1}),
    "UserList": (lambda: collections.UserList([cpu(), gpu()]), {CPU: 1, GPU: 1}),
    "mapping with data": (lambda: MappingLike({"x": gpu()}), {GPU: 1}),
    "mappingproxy": (lambda: types.MappingProxyType({"x": gpu()}), {GPU: 1}),
    "views of a dict": (lambda: [{"x": gpu()}.values(), {"x": cpu()}.items(), {cpu(): 1}.keys()], {GPU: 1, CPU: 2}),
    "list of tuples": (lambda: [(cpu(), 1), (gpu(), 2)], {CPU: 1, GPU: 1}),
    "long list": (lambda: [cpu() for _ in range(1000)], {CPU: 1000}),
    "named tuple": (lambda: Pair(cpu(), Pair(gpu(), 3)), {CPU: 1, GPU: 1}),
    "set": (lambda: {cpu(), gpu()}, {CPU: 1, GPU: 1}),
    "frozenset": (lambda: frozenset([gpu()]), {GPU: 1}),
    "deque": (lambda: collections.deque([cpu(), gpu()]), {CPU: 1, GPU: 1}),
    "dataclass": (lambda: Batch(gpu(), cpu()), {CPU: 1, GPU: 1}),
    "dataclass with slots": (lambda: Small(gpu()), {GPU: 1}),
    "attrs": (lambda: Attrs(gpu()), {GPU: 1}),
    "slots, inherited and private": (MoreSlots, {CPU: 1, GPU: 1}),
    "SimpleNamespace": (lambda: types.SimpleNamespace(x=cpu(), y=Reader(z=gpu())), {CPU: 1, GPU: 1}),
    "partial": (lambda: functools.partial(torch.add, gpu(), other=cpu()), {CPU: 1, GPU: 1}),
    "closure": (closure, {CPU: 1, GPU: 1}),
    "defaults of a function": (lambda: with_defaults, {CPU: 2}),
    "decorated function": (lambda: torch.no_grad()(closure()), {CPU: 1, GPU: 1}),
    "lru_cache of a function": (lambda: functools.lru_cache(with_defaults), {CPU: 2}),
    "bound method": (lambda: Computing().run, {CPU: 1}),
    "method of a list": (lambda: [cpu()].append, {CPU: 1}),
    "class attribute": (Schedule, {CPU: 1, GPU: 1}),
    "class": (lambda: {"of": Registry}, {CPU: 2}),
    "exception": (lambda: ValueError("no", cpu()), {CPU: 1}),
    "slice": (lambda: slice(cpu(), None), {CPU: 1}),
    "NumPy array": (lambda: {"x": numpy.ones(3), "y": gpu()}, {CPU: 1, GPU: 1}),
    "NumPy array of objects": (objects_array, {CPU: 1, GPU: 1}),
    "result with two names": (lambda: {"best": gpu(2, 3).max(1)}, {GPU: 2}),
    "PackedSequence": (packed, {CPU: 2}),
    "DataLoader": (lambda: torch.utils.data.DataLoader(torch.utils.data.TensorDataset(cpu(), gpu())), {CPU: 1, GPU: 1}),
    "thread-safe queue": (lambda: filled_queue(cpu()), {CPU: 1}),
    "EMA": (Ema, {FIRST: 2, CPU: 2}),
    "rollout": (Rollout, {CPU: 2, GPU: 1}),
    "memory bank": (Bank, {CPU: 1, GPU: 1}),
    "trainer": (Trainer, {FIRST: 8, CPU: 2}),
    "module with a plain object": (
        lambda: module_with(ema=Ema(), batch=Batch(gpu(), cpu())),
        {FIRST: 4, CPU: 3, GPU: 1},
    ),
    "module with a module in an object": (
        lambda: module_with(of=types.SimpleNamespace(m=nn.ReLU(), n=nn.Linear(1, 1))),
        {FIRST: 2, CPU: 2},
    ),
    "iterator in an object": (lambda: types.SimpleNamespace(x=cpu(), more=iter([])), {CPU: 1}),
    "deep nesting": (lambda: nested(200, gpu()), {GPU: 1}),
}


def filled_queue(item):
    import queue

    full = queue.Queue()
    full.put(item)
    return full


@pytest.mark.parametrize("kind", TABLE)
def test_where_and_picture_see_every_tensor(kind):
    make, expected = TABLE[kind]
    thing = make()
    told = {placement.note for placement in picture(thing=thing)._things[0].placements}
    assert counts_of_where(thing) == expected
    if kind != "long list":
        assert counts_of_picture(thing) == expected
    assert not any("no tensor" in text for text in (str(where(thing)), *told))


NOTHING = {
    "numbers": lambda: [1, 2.0, "three", None, b"", 4j, True, range(3), ...],
    "torch.Size": lambda: {"size": torch.Size([2]), "device": torch.device("cpu"), "dtype": torch.float32},
    "loss": nn.MSELoss,
    "EMA without": lambda: types.SimpleNamespace(shadow={}, decay=0.9, lock=threading.RLock(), path=[{}, ()]),
    "library": lambda: {"function": torch.relu, "class": nn.Linear, "module": torch},
    "lambda": lambda: lambda x: x,
    "generator of numbers": torch.Generator,
    "class": lambda: Ema,
}


@pytest.mark.parametrize("kind", NOTHING)
def test_no_tensor_is_said_of_what_was_looked_into_and_has_none(kind):
    thing = NOTHING[kind]()
    assert [(row.device, row.holds) for row in where(thing).rows] == [("", "no tensor")]
    assert where(thing).left_out == []
    assert repr(picture(thing=thing)).split("  ")[-2:] == ["no device", "no tensor"]


# The names


def test_the_path_is_the_code_that_leads_to_the_tensor():
    thing = types.SimpleNamespace(
        batch={"it's": [cpu()], (0, "a"): cpu()},
        pair=Pair(1, gpu()),
        loss=functools.partial(print, weight=cpu()),
        run=Computing().run,
        model=nn.ModuleDict({"head": nn.Sequential(nn.Linear(1, 1))}),
        encoding=BatchEncoding({"ids": cpu()}),
        slots=MoreSlots(),
        array=objects_array(),
        closed=closure(),
    )
    for place in walk(thing).tensors:
        assert eval(f"thing{place.path}") is place.value, place.path


def test_a_thing_that_two_hold_has_its_shortest_name_and_is_there_once():
    class Callback:
        def __init__(self, model):
            self.targets = [model]

    model = nn.Linear(2, 2)
    thing = types.SimpleNamespace(callbacks=[Callback(model)], model=model)
    assert [row.name for row in where(thing).rows] == ["thing.model"]


def test_what_a_module_registers_is_not_called_a_plain_attribute():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[0].beside = [model[1]]
    model[0].alias = model[1].weight
    assert [(row.name, row.holds) for row in where(model).rows] == [("model", "4 parameters")]
    assert "plain attribute" not in repr(picture(model=model))


def test_a_module_is_counted_whole_though_its_layer_was_met_before():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    assert [row.holds for row in where([model[0], model]).rows] == ["2 parameters", "4 parameters"]


# What is left alone


def test_an_iterator_is_not_used_up_and_is_said_to_be_left_alone():
    batches = (cpu() for _ in range(3))
    thing = {"batches": batches, "pairs": zip([1, 2], [3, 4], strict=True), "x": gpu()}
    found = where(thing)
    assert found.left_out == [
        'where did not look into thing["batches"] and thing["pairs"], because reading an iterator uses it up.'
    ]
    assert str(found).endswith(found.left_out[0])
    assert found.left_out[0].replace('"', "&quot;") in found._repr_html_()
    assert "['batches']" in repr(picture(thing=thing))
    assert len(list(batches)) == 3
    assert len(list(thing["pairs"])) == 2


def test_what_was_not_looked_into_is_not_said_to_have_no_tensor():
    batches = map(str, [])
    found = where(batches)
    assert [(row.name, row.device, row.holds) for row in found.rows] == [("batches", "", "no tensor found")]
    assert found.left_out == ["where did not look into batches, because reading an iterator uses it up."]
    assert "not looked into: reading an iterator uses it up" in repr(picture(batches=batches))


def test_a_class_that_is_an_iterator_is_read_through_its_attributes():
    class Batches:
        def __init__(self):
            self.kept = [cpu()]

        def __iter__(self):
            raise AssertionError

        __next__ = __iter__

    thing = Batches()
    assert [row.name for row in where(thing).rows] == ["thing.kept[0]"]
    assert where(thing).left_out == []


def test_an_object_of_a_c_extension_is_said_to_be_left_alone():
    graph = torch.ones(1, requires_grad=True).mul(2).grad_fn
    thing = {"script": torch._C.Graph(), "graph": graph}
    (sentence,) = where(thing).left_out
    assert 'thing["script"] and thing["graph"]' in sentence
    assert "C extension" in sentence


def test_a_module_with_hooks_is_not_said_to_have_no_tensor():
    layer = nn.ReLU()
    assert [row.holds for row in where(layer).rows] == ["no tensor"]
    layer.register_forward_hook(closure())
    assert where(layer).left_out == [
        "where did not look into layer._forward_hooks, because what a hook holds does not belong to the module."
    ]


def test_the_frames_of_an_exception_are_said_to_be_left_alone():
    def fail():
        kept = cpu()
        raise ValueError(kept.shape)

    with pytest.raises(ValueError) as caught:
        fail()
    error = caught.value
    assert where(error).rows[0].holds == "no tensor found"
    (sentence,) = where(error).left_out
    assert sentence.startswith("where did not look into error.__traceback__, because what is in a frame belongs to")


def test_a_cache_that_python_does_not_show_is_said_to_be_left_alone():
    @functools.lru_cache
    def mask(size):
        return torch.ones(size)

    assert where(mask).left_out == []
    mask(3)
    (sentence,) = where(mask).left_out
    assert sentence.startswith("where did not look into mask, because Python")


def test_nothing_is_kept_alive_by_having_been_looked_at():
    gc.disable()
    try:
        model = nn.Sequential(nn.Linear(2, 2))
        trainer = types.SimpleNamespace(batch={"x": cpu()}, optimizer=torch.optim.SGD(model.parameters()))
        batch, weight = weakref.ref(trainer.batch["x"]), weakref.ref(model[0].weight)
        shown = where(trainer), picture(trainer=trainer)
        trainer.batch.clear()
        assert batch() is None
        trainer.optimizer.param_groups.clear()
        del model
        assert weight() is None
        assert all(map(str, shown))
    finally:
        gc.enable()


# Bounds


def test_ten_million_numbers_take_no_time():
    numbers = list(range(10_000_000))
    start = time.process_time()
    assert where(numbers).rows[0].holds == "no tensor"
    assert time.process_time() - start < 3  # 0.4 on a quiet machine


def test_a_hundred_thousand_levels_are_no_recursion():
    thing = nested(100_000, gpu())
    (row,) = where(thing).rows
    assert row.device == "cuda:1"
    assert len(row.name) < 200
    assert "cuda:1" in repr(picture(thing=thing))


@pytest.mark.weekly
@pytest.mark.slow
def test_a_module_of_fifty_thousand_is_shown_soon():
    model = nn.Sequential(*[nn.Linear(1, 1, device="meta") for _ in range(50_000)])
    model[77].scale = cpu()
    start = time.process_time()
    found = where(model)
    assert time.process_time() - start < 10  # 1.5 on a quiet machine
    assert [(row.name, row.holds) for row in found.rows] == [
        ("model", "100,000 parameters"),
        ("model[77].scale", "(2,)"),
    ]


def test_too_many_objects_are_said_to_be_cut_off():
    thing = [[cpu()] for _ in range(100)]
    found = walk(thing, limit=50)
    assert found.stopped_at == 50
    assert not found.is_complete


def test_a_table_has_tens_of_rows_and_names_what_stands_out():
    history = [cpu() for _ in range(5000)]
    history[57] = gpu()
    buffer = types.SimpleNamespace(states=[cpu() for _ in range(300)], history=history, size=3)
    assert [(row.name, row.device, row.holds) for row in where(buffer).rows] == [
        ("buffer.states", "cpu", "300 tensors"),
        ("buffer.history", "cpu", "4,999 tensors"),
        ("buffer.history[57]", "cuda:1", "(2,)"),
    ]
    model = nn.ModuleList(nn.Linear(1, 1) for _ in range(500))
    model[3].cuda()
    for layer in model:
        layer.scale = cpu()
    assert len(where(model).rows) < 60
    assert len(where([{"a": cpu(), "b": gpu()} for _ in range(1000)]).rows) == 2


# Hostile objects


def refuse(*_):
    raise SystemExit("the program's own code ran")


class Meta(type):
    __getattribute__ = __instancecheck__ = __subclasscheck__ = __iter__ = __len__ = __eq__ = __call__ = refuse
    __hash__ = refuse


HOSTILE = dict.fromkeys(
    (
        *("__getattribute__", "__getattr__", "__iter__", "__len__", "__next__", "__bool__", "__eq__", "__hash__"),
        *("__repr__", "__str__", "__contains__", "__getitem__", "__get__", "__index__", "__call__", "__reduce__"),
        *("keys", "values", "items", "__missing__", "__del__x"),
    ),
    refuse,
)


@pytest.mark.parametrize("base", [object, dict, list, set, collections.UserDict, nn.Module, Exception, int])
def test_nothing_of_a_hostile_object_runs(base):
    kind = types.new_class(
        "Hostile", (base,), exec_body=lambda namespace: namespace.update(HOSTILE, x=property(refuse))
    )
    if base is object:
        kind = type.__new__(Meta, "Hostile", (), dict(HOSTILE, __dict__=property(refuse), __class__=property(refuse)))
    thing = base.__new__(kind)
    if base is nn.Module:
        object.__setattr__(thing, "__dict__", dict(nn.Module().__dict__, kept=[gpu()]))
    elif base is collections.UserDict:
        object.__setattr__(thing, "__dict__", {"data": {"kept": gpu()}})
    elif base is object:
        thing = [thing, gpu()]
    elif base is int:
        object.__setattr__(thing, "kept", gpu())
    else:
        object.__setattr__(thing, "kept", gpu())
    holder = {"first": thing, thing.__class__ if base is object else "second": itertools.count}
    assert counts_of_where([holder]) == {"cuda:1": 1}
    assert counts_of_picture([holder]) == {"cuda:1": 1}


def test_keys_that_are_hostile_are_not_asked():
    class Key:
        __eq__ = __repr__ = __str__ = refuse

        def __hash__(self):
            return 1

    thing = {Key(): gpu()}
    assert [row.name for row in where(thing).rows] == ["thing[...]"]
    assert repr(picture(thing=thing)).startswith("thing[...]")
