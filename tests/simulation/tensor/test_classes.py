"""A tensor's class does not tell where it is: torch.Tensor, nn.Parameter and a user's own are one on every device."""

import copy
import gc
import pickle
import weakref
from collections.abc import Iterator

import pytest
import torch
from torch import nn

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


def test_a_users_parameter_keeps_its_class_in_a_module() -> None:
    model = nn.Linear(1, 1)
    model.special = special = Special(torch.ones(3))
    for device in ("cuda", "cpu", "cuda:1"):
        model.to(device)
        assert model.special is special
        assert isinstance(special, Special)
        assert type(special).__name__ == "Special"
    assert isinstance(copy.deepcopy(special), Special)


class Wrapping(torch.Tensor):
    """A class that dispatches operators itself."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, device=inner.device)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return func(*(x.inner if isinstance(x, cls) else x for x in args), **(kwargs or {}))


def test_a_class_that_dispatches_itself_stays_on_the_cpu() -> None:
    assert (Wrapping(torch.ones(2)) + 1).tolist() == [2, 2]
    for use in (lambda: Wrapping(torch.ones(2)).cuda(), lambda: Wrapping(torch.ones(2, device="cuda"))):
        with pytest.raises(
            NotImplementedError, match="__torch_dispatch__ of its own on a GPU: keep Wrapping on the CPU"
        ):
            use()


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
    with pytest.raises(NotImplementedError, match="keep DTensor on the CPU"):
        torch.empty_like(sharded_on_meta, device="cuda")


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
