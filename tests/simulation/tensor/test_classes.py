"""A tensor's class does not tell where it is: torch.Tensor, nn.Parameter and a user's own are one on every device."""

import abc
import collections.abc
import copy
import copyreg
import functools
import gc
import pickle
import typing
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

from samedevice.simulation.tensor.classes import twin_of

pytestmark = pytest.mark.usefixtures("two_gpus")


def test_classes_equal_print_and_hash_as_torchs_own() -> None:
    tensor, parameter = torch.ones(2, device="cuda"), nn.Parameter(torch.ones(2, device="cuda"))
    assert (repr(type(tensor)), repr(type(parameter))) == (
        "<class 'torch.Tensor'>", "<class 'torch.nn.parameter.Parameter'>",
    )  # fmt: skip
    assert type(parameter) in [torch.Tensor, nn.Parameter]
    assert type(parameter) in {nn.Parameter}
    assert {torch.Tensor: 1}[type(tensor)] == 1
    assert type(tensor) == type(tensor.cpu())  # noqa: E721
    assert type(tensor) != nn.Parameter  # noqa: E721
    assert issubclass(type(parameter), nn.Parameter)
    assert not isinstance(parameter.detach(), nn.Parameter)
    assert isinstance(type(parameter)(tensor), nn.Parameter)
    assert type(tensor)([1.0]).tolist() == [1.0]


def test_buffers_and_parameters_are_made_of_gpu_tensors() -> None:
    memory = torch.ones(2, device="cuda:1")
    parameter, buffer = nn.Parameter(memory, requires_grad=False), nn.Buffer(memory, persistent=False)
    assert parameter.data_ptr() == buffer.data_ptr() == memory.data_ptr()
    assert (isinstance(buffer, nn.Buffer), buffer.persistent, parameter.requires_grad) == (True, False, False)
    with pytest.raises(RuntimeError) as refusal:
        nn.Parameter(memory.long())
    assert str(refusal.value) == "Only Tensors of floating point and complex dtype can require gradients"
    assert [type(p).__name__ for p in nn.ParameterList([parameter, memory])] == ["Parameter", "Parameter"]


def test_optimizers_take_their_foreach_form_for_parameters_on_a_gpu() -> None:
    from torch.optim.optimizer import _default_to_fused_or_foreach

    parameters = [nn.Parameter(torch.ones(2, device="cuda"))]
    assert _default_to_fused_or_foreach(parameters, differentiable=False, use_fused=False) == (False, True)


class Named(torch.Tensor):
    """A user's class that does no more than bear a name."""


class Counting(torch.Tensor):
    """A user's class that sees the functions called on it."""

    seen: list[str]

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class Special(nn.Parameter):
    """A user's class of parameters."""


def test_a_users_class_moves_computes_and_comes_back() -> None:
    tensor = torch.ones(3).as_subclass(Named)
    on_gpu = tensor.cuda(1)
    assert [type(x) for x in (on_gpu, on_gpu + 1, on_gpu * torch.ones(3, device="cuda:1"))] == [Named] * 3
    assert type(on_gpu.cpu()) is Named
    assert str((on_gpu + 1).device) == "cuda:1"
    assert repr(on_gpu) == "Named([1., 1., 1.], device='cuda:1')"
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:1 and cpu!"):
        on_gpu + torch.ones(3)
    made = torch.Tensor._make_subclass(Named, torch.ones(3, device="cuda"), True)
    assert (type(made) == Named, made.requires_grad, made.is_leaf) == (True, True, True)  # noqa: E721
    assert type(pickle.loads(pickle.dumps(on_gpu))) == Named  # noqa: E721


def test_a_users_torch_function_sees_moves_too() -> None:
    Counting.seen = []
    tensor = torch.ones(3).as_subclass(Counting)
    moved = tensor.to("cuda") + 1
    assert Counting.seen == ["to", "add"]
    assert (isinstance(moved, Counting), str(moved.device)) == (True, "cuda:0")


def test_a_users_torch_function_is_told_of_the_first_gpu_by_its_number() -> None:
    class Telling(torch.Tensor):
        told: typing.ClassVar[list[Any]] = []

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.zeros_like:
                cls.told.append(kwargs)
            return super().__torch_function__(func, types, args, kwargs or {})

    like: Any = torch.zeros_like(torch.ones(2, device="cuda:1").as_subclass(Telling), device=0)
    assert (str(like.device), Telling.told) == ("cuda:0", [{"device": 0}])


def test_a_users_parameter_keeps_its_class_in_a_module() -> None:
    model = nn.Linear(1, 1)
    model.special = special = Special(torch.ones(3))
    for device in ("cuda", "cpu", "cuda:1"):
        model.to(device)
        assert model.special is special
        assert isinstance(special, Special)
        assert type(special).__name__ == "Special"
    assert isinstance(copy.deepcopy(special), Special)


def test_the_types_of_the_cpu_do_not_know_tensors_on_a_gpu() -> None:
    tensor = torch.ones(2, device="cuda")
    assert (isinstance(tensor, torch.FloatTensor), isinstance(tensor.cpu(), torch.FloatTensor)) == (False, True)
    assert (torch.FloatTensor([1.0]).dtype, torch.FloatTensor.dtype) == (torch.float32, torch.float32)
    with pytest.raises(TypeError, match=r"expected TensorOptions\(dtype=float, device=cpu, .*got .*device=cuda:0"):
        torch.FloatTensor(tensor)
    for call in (lambda: tensor.apply_(abs), lambda: tensor.map_(tensor, max)):
        with pytest.raises(TypeError, match="is only implemented on CPU tensors"):
            call()


def test_tensors_can_be_swapped_between_devices() -> None:
    here, there = torch.ones(2, device="cuda"), torch.zeros(3)
    here.tag = 1
    torch.utils.swap_tensors(here, there)
    assert (str(here.device), here.shape, str(there.device), there.shape) == ("cpu", (3,), "cuda:0", (2,))
    assert (hasattr(here, "tag"), there.tag, str((there + 1).device)) == (False, 1, "cuda:0")


@pytest.fixture
def sharded_on_meta() -> Iterator[torch.Tensor]:
    """A DTensor on meta, in a group of one process."""
    from torch import distributed
    from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    with torch.device("meta"):
        whole = torch.empty(8, 3)
    yield distribute_tensor(whole, init_device_mesh("cpu", (1,)), [Shard(0)])
    distributed.destroy_process_group()


def test_a_tensor_like_a_dtensor_is_a_dtensor_which_module_to_empty_needs(sharded_on_meta: torch.Tensor) -> None:
    made = torch.empty_like(sharded_on_meta, device="cpu")
    assert (type(made), str(made.device), made.shape) == (type(sharded_on_meta), "cpu", (8, 3))
    assert type(torch.zeros_like(made)) is type(made)
    made = torch.empty_like(sharded_on_meta, device="cuda:1")
    assert (type(made), str(made.device), str(made.to_local().device)) == (type(sharded_on_meta), "cuda:1", "cuda:1")


def test_a_class_of_a_program_can_be_freed_after_its_tensors(two_gpus: None) -> None:
    class Mine(torch.Tensor):
        pass

    made = weakref.ref(Mine)
    x = torch.ones(2).as_subclass(Mine).to("cuda")
    assert isinstance(x, Mine)
    del Mine, x
    gc.collect()  # the twin, which holds the class
    gc.collect()
    assert made() is None


def one_of_each() -> dict[str, Any]:
    cpu, gpu = torch.ones(3), torch.ones(3, device="cuda")
    return {
        "cpu": cpu, "gpu": gpu, "cpu parameter": nn.Parameter(cpu), "gpu parameter": nn.Parameter(gpu),
        "cpu named": cpu.as_subclass(Named), "gpu named": gpu.as_subclass(Named),
    }  # fmt: skip


ON_CPU = {"gpu": "cpu", "gpu parameter": "cpu parameter", "gpu named": "cpu named"}


@pytest.mark.parametrize("kind", ON_CPU)
def test_the_class_of_a_tensor_on_a_gpu_knows_what_the_same_class_on_the_cpu_knows(kind: str) -> None:
    each = one_of_each()
    ours, expected = type(each[kind]), type(each[ON_CPU[kind]])
    assert each[kind].__class__ is expected
    for name, tensor in each.items():
        assert isinstance(tensor, ours) is isinstance(tensor, expected), name
        assert issubclass(type(tensor), ours) is issubclass(type(tensor), expected), name
        assert isinstance(tensor, ours | int) is isinstance(tensor, expected), name
        assert issubclass(ours, type(tensor)) is issubclass(expected, type(tensor)), name
    for other in (torch.Tensor, nn.Parameter, Named, Special, int, object):
        assert issubclass(other, ours) is issubclass(other, expected), other
    assert (ours.__bases__, ours.__base__, ours.__mro__) == (expected.__bases__, expected.__base__, expected.__mro__)


def registered(*classes: Any) -> Callable[[Any], str]:
    @functools.singledispatch
    def function(argument: Any) -> str:
        return "object"

    for each in classes:
        function.register(each, lambda argument, each=each: each.__name__)
    return function


class Learning(abc.ABC):  # noqa: B024 - what is registered makes it so
    ...


Learning.register(nn.Parameter)

REGISTERED: dict[str, Callable[[], tuple[Any, ...]]] = {
    "nothing": lambda: (),
    "a tensor": lambda: (torch.Tensor,),
    "a parameter": lambda: (nn.Parameter,),
    "both": lambda: (torch.Tensor, nn.Parameter),
    "all": lambda: (torch.Tensor, nn.Parameter, Named),
    "an abstract class": lambda: (Learning, torch.Tensor),
    "something iterable": lambda: (collections.abc.Iterable,),
    "classes of a GPU's": lambda: tuple({type(x): 0 for x in one_of_each().values()}),
}


@pytest.mark.parametrize("name", REGISTERED)
def test_singledispatch_chooses_for_a_gpus_tensor_what_it_chooses_for_the_cpus(name: str) -> None:
    function, each = registered(*REGISTERED[name]()), one_of_each()
    for gpu, cpu in ON_CPU.items():
        assert function(each[gpu]) == function(each[cpu])


class Shown:
    @functools.singledispatchmethod
    def show(self, argument: Any) -> str:
        return "object"

    @show.register
    def _(self, argument: torch.Tensor) -> str:
        return "tensor"

    @show.register
    def _(self, argument: nn.Parameter) -> str:
        return "parameter"


def matched(argument: Any) -> str:
    match argument:
        case nn.Parameter():
            return "parameter"
        case Named():
            return "named"
        case torch.Tensor(shape=(3,)):
            return "tensor"
        case _:
            return "object"


def test_methods_patterns_and_abstract_classes_tell_a_gpus_tensors_by_their_class() -> None:
    each = one_of_each()
    assert [Shown().show(each[name]) for name in ON_CPU] == ["tensor", "parameter", "tensor"]
    assert [matched(each[name]) for name in ON_CPU] == ["tensor", "parameter", "named"]
    assert [isinstance(each[name], Learning) for name in ON_CPU] == [False, True, False]
    assert [issubclass(type(each[name]), Learning) for name in ON_CPU] == [False, True, False]
    tables = {torch.Tensor: 1, nn.Parameter: 2, Named: 3}
    assert [tables[type(each[name])] for name in ON_CPU] == [1, 2, 3]

    def function(argument: type(each["gpu"])) -> type(each["gpu parameter"]): ...  # type: ignore[valid-type]

    assert typing.get_type_hints(function) == {"argument": torch.Tensor, "return": nn.Parameter}
    assert typing.Optional[type(each["gpu"])] == typing.Optional[torch.Tensor]  # noqa: UP045


def test_a_reduction_that_a_program_registers_is_found_for_a_gpus_tensor() -> None:
    copyreg.pickle(Named, lambda tensor: (str, (f"{tensor.device}",)))  # type: ignore[arg-type, return-value]
    try:
        assert copy.copy(torch.ones(1, device="cuda").as_subclass(Named)) == "cuda:0"
    finally:
        del copyreg.dispatch_table[Named]


def test_a_program_that_assigns_a_class_gets_it_on_the_gpu() -> None:
    tensor = torch.ones(3, device="cuda:1")
    tensor.__class__ = Named
    assert (tensor.__class__ is Named, isinstance(tensor, Named), repr(tensor)) == (
        True, True, "Named([1., 1., 1.], device='cuda:1')",
    )  # fmt: skip
    assert str((tensor + 1).device) == "cuda:1"
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:1 and cpu!"):
        tensor + torch.ones(3)


def test_a_class_is_kept_by_indexing_and_by_operators() -> None:
    tensor = torch.ones(3, 3, device="cuda").as_subclass(Named)
    for made in (tensor[0], tensor[0, 0], tensor[:2], tensor + 1, tensor.clone(), tensor.T, *tensor.unbind()):
        assert type(made) == Named and made.__class__ is Named and type(made) is type(tensor)  # noqa: E721


def test_classes_that_are_made_in_a_loop_are_let_go() -> None:
    from samedevice.simulation.tensor import classes

    def use() -> "weakref.ref[type]":
        class Mine(torch.Tensor): ...

        tensor = torch.ones(2, device="cuda").as_subclass(Mine).requires_grad_()
        (tensor * 2).sum().backward()
        assert isinstance(tensor, type(tensor)) and not isinstance(1, type(tensor))
        return weakref.ref(Mine)

    before = len(classes._twins)
    made = [use() for _ in range(50)]
    gc.collect()
    gc.collect()  # the twins first, which hold the classes
    assert [each() for each in made] == [None] * 50
    assert len(classes._twins) <= before + 1


class Described(torch.Tensor):
    """A user's class with a constructor of its own, as people write it."""

    description: str

    def __new__(cls, x: torch.Tensor, description: str = "") -> "Described":
        return super().__new__(cls, x)

    def __init__(self, x: torch.Tensor, description: str = "") -> None:
        self.description = description


def test_a_class_that_is_called_with_a_tensor_shares_its_memory_where_it_is() -> None:
    memory = torch.zeros(2, device="cuda:1")
    made, plain = Described(memory, "mine"), torch.Tensor(memory)
    made[0] = 7
    assert (type(made), made.description, str(made.device)) == (twin_of(Described), "mine", "cuda:1")
    assert (memory.tolist(), plain.tolist(), plain is memory) == ([7.0, 0.0], [7.0, 0.0], False)
    learning = Described(torch.ones(2, device="cuda", requires_grad=True) * 2)
    assert learning.grad_fn is not None
    assert learning.grad_fn.name() == "AliasBackward0"
    assert str(torch.Tensor(3).device) == "cpu"
    with pytest.raises(RuntimeError) as refusal:
        torch.Tensor(memory.untyped_storage())
    assert str(refusal.value) == (
        'Attempted to set the storage of a tensor on device "cpu" to a storage on different device "cuda:1".  This is '
        "no longer allowed; the devices must match."
    )


class Plain(torch.Tensor):
    pass


class Passing(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return super().__torch_dispatch__(func, types, args, kwargs or {})


@pytest.mark.parametrize("kind", [nn.Parameter, Plain, Passing])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_writing_to_a_tensor_made_of_another_counts_the_versions_of_both(kind: type, device: str) -> None:
    tensor = torch.ones(3, device=device)
    made = torch.Tensor._make_subclass(kind, tensor, False)
    made.add_(1)
    assert tensor._version == made._version == 1


class Seeing(torch.Tensor):
    seen: typing.ClassVar[list[Any]] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__ == "to":
            cls.seen.append((types, args[1:], kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_tensor_that_goes_where_another_is_is_of_its_class(device: str) -> None:
    for like in (torch.ones(3).as_subclass(Seeing), torch.ones(3, device="cuda").as_subclass(Seeing)):
        Seeing.seen.clear()
        made = torch.ones(3, device=device, dtype=torch.float64).to(like, copy=True)
        assert isinstance(made, Seeing)
        assert (made.device, made.dtype) == (like.device, like.dtype)
        ((types, (given,), kwargs),) = Seeing.seen
        assert (types, given is like, kwargs) == ((Seeing,), True, {"copy": True})
