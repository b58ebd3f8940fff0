"""What belongs to a module goes along when it moves, as on CUDA: identity, gradients, hooks, names, versions.

What CUDA answers was asked of PyTorch's CUDA build; the rules are in torch/nn/modules/module.py, Module._apply.
"""

import contextlib
import copy
import gc
import io
import pickle
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune

pytestmark = pytest.mark.usefixtures("two_gpus")

ROUND = ("cuda:0", "cuda:1", "cpu", "cuda")


def places(*tensors: torch.Tensor | None) -> list[str]:
    return ["none" if tensor is None else str(tensor.device) for tensor in tensors]


def where(model: nn.Module) -> set[str]:
    return {str(tensor.device) for tensor in (*model.parameters(), *model.buffers())}


def train(model: nn.Module, device: str) -> list[str]:
    model.zero_grad()
    output = model(torch.ones(2, 3, device=device))
    output.sum().backward()
    return sorted({str(output.device), *places(*(parameter.grad for parameter in model.parameters()))})


@contextlib.contextmanager
def conversion(flag: str) -> Iterator[None]:
    """One of torch.__future__'s ways to convert modules."""
    switch = getattr(torch.__future__, f"set_{flag}_module_params_on_conversion")
    switch(True)
    try:
        yield
    finally:
        switch(False)


def test_parameters_stay_the_same_objects_and_buffers_are_replaced() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    weight, mean = model[0].weight, model[1].running_mean
    for device in ROUND:
        model.to(device)
        assert model[0].weight is weight
        assert model[1].running_mean is not mean
        assert where(model) == set(places(torch.empty(0, device=device)))
        mean = model[1].running_mean


def test_gradients_stay_the_same_objects_and_change_dtype_with_their_parameters() -> None:
    model = nn.Linear(3, 3)
    train(model, "cpu")
    gradient = model.weight.grad
    for device in ROUND:
        assert model.to(device).weight.grad is gradient
        assert places(gradient) == places(model.weight)
    model.half().to("cpu", torch.float64)
    assert model.weight.grad is gradient
    assert (gradient.dtype, places(gradient)) == (torch.float64, ["cpu"])


def test_attributes_hash_version_and_weak_references_survive_moves() -> None:
    model = nn.Linear(3, 3)
    weight, reference, ended = model.weight, weakref.ref(model.weight), []
    weakref.finalize(weight, ended.append, 1)
    weight.decay = False
    before = hash(weight), weight._version
    for device in ROUND:
        model.to(device)
        assert (hash(weight), weight._version, weight.decay) == (*before, False)
        assert reference() is weight
    assert not ended
    del model, weight
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("source", ["cpu", "cuda:0", "cuda:1"])
@pytest.mark.parametrize("target", ["cpu", "cuda:0", "cuda:1"])
def test_data_takes_memory_and_device_and_keeps_the_rest(source: str, target: str) -> None:
    parameter, new = nn.Parameter(torch.ones(2, device=source)), torch.zeros(3, device=target)
    parameter.data = new
    assert places(parameter, parameter.data, parameter + 1) == [target] * 3
    assert (parameter.shape, parameter.data_ptr()) == ((3,), new.data_ptr())
    assert type(parameter) == nn.Parameter  # noqa: E721 - the twin of a class equals it
    assert (parameter.requires_grad, parameter.is_leaf) == (True, True)


def test_data_refuses_what_pytorch_refuses() -> None:
    parameter = nn.Parameter(torch.ones(2, device="cuda"))
    incompatible = (
        "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."
    )
    for new, text in (
        (3, "Variable data has to be a tensor, but got int"),
        (torch.ones(2).int(), "data set to a tensor that requires gradients must be floating point or complex dtype"),
        (torch.ones(2, device="meta"), incompatible),
        (torch.ones(2).to_sparse(), incompatible),
    ):  # fmt: skip
        with pytest.raises((RuntimeError, TypeError)) as refusal:
            parameter.data = new
        assert str(refusal.value) == text
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed"):
        del parameter.data
    with pytest.raises(NotImplementedError, match=r"history.*x = x\.to\(device\)"):
        (torch.ones(2, requires_grad=True) * 2).data = torch.ones(2, device="cuda")
    assert places(parameter) == ["cuda:0"]


def test_a_gradient_is_left_behind_by_hand_and_then_nothing_can_be_added_to_it() -> None:
    for source, target, found in (("cpu", "cuda:0", "cuda:0 and cpu"), ("cuda:0", "cuda:1", "cuda:0 and cuda:1")):
        weight = torch.ones(3, device=source, requires_grad=True)
        weight.sum().backward()
        weight.data = torch.ones(3, device=target)
        assert places(weight, weight.grad) == [target, source]
        with pytest.raises(RuntimeError) as refusal:
            weight.sum().backward()
        assert str(refusal.value) == (
            f"Expected all tensors to be on the same device, but found at least two devices, {found}!"
        )
        weight.grad = None
        weight.sum().backward()
        assert places(weight.grad) == [target]


@pytest.mark.parametrize("source", ["cpu", "cuda:0"])
@pytest.mark.parametrize("target", ["cpu", "cuda:0", "cuda:1"])
def test_a_graph_from_before_brings_its_gradient_to_data_of_another_dtype_and_shape(source: str, target: str) -> None:
    for new in (torch.zeros(3, dtype=torch.double), torch.zeros(4)):
        weight = torch.ones(3, device=source, requires_grad=True)
        loss, again = (weight * 2).sum(), (weight * 2).sum()
        weight.data = new.to(target)
        loss.backward()
        assert (places(weight, weight.grad), weight.grad.dtype) == ([target, source], torch.float)
        assert weight.grad.tolist() == [2, 2, 2]
        again.backward()
        assert weight.grad.tolist() == [4, 4, 4]
        assert (weight.dtype, weight.shape) == (new.dtype, new.shape)


def test_a_graph_from_before_a_move_brings_its_gradient_to_the_same_parameter() -> None:
    for source, target in (("cpu", "cuda:0"), ("cuda:0", "cpu"), ("cuda:0", "cuda:1")):
        model, called = nn.Linear(2, 2).to(source), []
        model.weight.register_post_accumulate_grad_hook(called.append)
        output = model(torch.ones(1, 2, device=source)).sum()
        model.to(target)
        output.backward()
        assert places(model.weight, model.weight.grad) == [target, source]
        assert model.weight.grad.tolist() == [[1, 1], [1, 1]]
        assert called == [model.weight]


def test_a_graph_from_before_meets_the_cpu_where_a_derivative_reads_what_moved() -> None:
    two = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    weight, values = torch.ones(3, device="cuda", requires_grad=True), torch.ones(3, device="cuda")
    for loss, moved in (((weight**2).sum(), weight), ((weight * values).sum(), values)):
        weight.data = torch.ones(3, device="cuda")
        moved.data = torch.ones(3)
        with pytest.raises(RuntimeError) as refusal:
            loss.backward()
        assert str(refusal.value) == two
    norm = nn.LayerNorm(2).cuda()
    loss = norm(torch.ones(1, 2, device="cuda", requires_grad=True)).sum()
    norm.cpu()
    with pytest.raises(RuntimeError, match=r"got weight is on cpu, .* wrapper_CUDA__native_layer_norm_backward"):
        loss.backward()


def test_meta_modules_get_new_parameters_and_memory_anywhere() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).cuda()
    weight = model[0].weight
    assert model.to("meta")[0].weight is not weight
    with pytest.raises(NotImplementedError) as refusal:
        model.to("cuda")
    assert str(refusal.value) == (
        "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
        "torch.nn.Module.to() when moving module from meta to a different device."
    )
    for device in ("cuda:1", "cpu", "meta"):
        assert where(model.to_empty(device=device)) == {device}
        assert isinstance(model[0].weight, nn.Parameter)


def test_overwriting_makes_new_parameters() -> None:
    with conversion("overwrite"):
        model = nn.Linear(2, 2)
        model.weight.grad = torch.ones(2, 2)
        for device in ROUND:
            weight = model.weight
            assert model.to(device).weight is not weight
            assert places(model.weight, model.weight.grad) == [str(torch.empty(0, device=device).device)] * 2


def test_swapping_keeps_parameters_and_refuses_weak_references() -> None:
    with conversion("swap"):
        model = nn.Linear(2, 2)
        weight = model.weight
        weight.grad = torch.ones(2, 2)
        assert places(weight.grad) == ["cpu"]
        for device in ROUND:
            assert model.to(device).weight is weight
            assert places(weight, weight.grad) == [str(torch.empty(0, device=device).device)] * 2
        model.load_state_dict(nn.Linear(2, 2).cuda(1).state_dict(), assign=True)
        assert model.weight is weight
        assert places(weight) == ["cuda:1"]
        reference = weakref.ref(weight)
        with pytest.raises(RuntimeError) as refusal:
            model.cpu()
        assert str(refusal.value) == "_apply(): Couldn't swap Linear.weight"
        assert str(refusal.value.__cause__) == "Cannot swap t1 because it has weakref associated with it"
        assert reference() is weight


def test_copies_of_parameters_lose_gradient_and_attributes_and_copies_of_tensors_keep_them() -> None:
    tensor = torch.ones(2, device="cuda:1", requires_grad=True)
    parameter = nn.Parameter(tensor.detach())
    for original in (tensor, parameter):
        original.grad, original.tag = torch.ones(2, device="cuda:1"), ["tag"]
    copied, deep = copy.copy(tensor), copy.deepcopy(tensor)
    assert (copied.data_ptr(), copied.tag) == (tensor.data_ptr(), ["tag"])
    assert places(copied, deep, deep.grad) == ["cuda:1"] * 3
    assert deep.tag == ["tag"]
    assert deep.tag is not tensor.tag
    assert copy.copy(parameter).tag == ["tag"]
    deep = copy.deepcopy(parameter)
    assert (places(deep, deep.grad), hasattr(deep, "tag")) == (["cuda:1", "none"], False)
    (deep * parameter).sum().backward()


def test_copies_of_modules_keep_ties_and_views_keep_memory() -> None:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    model[1].weight = model[0].weight
    clone = copy.deepcopy(model.cuda())
    assert clone[0].weight is clone[1].weight
    tensor = torch.ones(2, 3, device="cuda:1")
    first, second = copy.deepcopy([tensor, tensor.t()])
    assert first.data_ptr() == second.data_ptr()


@pytest.mark.parametrize("protocol", [0, 2, pickle.HIGHEST_PROTOCOL])
def test_pickles_hold_torchs_own_classes_and_a_parameters_attributes(protocol: int) -> None:
    things = {
        "tensor": torch.ones(2, 3, device="cuda:1").t(),
        "parameter": nn.Parameter(torch.ones(2, device="cuda:1")),
        "module": nn.Sequential(nn.LazyLinear(2), nn.Linear(2, 2)).cuda(1),
        "class": type(nn.Parameter(torch.ones(1, device="cuda"))),
    }
    things["tensor"].tag = things["parameter"].tag = 1
    things["class"] = torch.Tensor  # a class is pickled by name: a twin cannot be, and need not
    pickled = pickle.dumps(things, protocol)
    assert b"samedevice" not in pickled
    loaded = pickle.loads(pickled)
    assert (loaded["tensor"].tag, loaded["tensor"].stride()) == (1, (1, 3))
    assert (loaded["parameter"].tag, isinstance(loaded["parameter"], nn.Parameter)) == (1, True)
    assert places(loaded["tensor"], loaded["parameter"], loaded["module"][1].weight) == ["cuda:1"] * 3


def test_saved_parameters_are_loaded_as_parameters() -> None:
    file = io.BytesIO()
    parameter = nn.Parameter(torch.ones(2, device="cuda:1"))
    parameter.tag = 1
    torch.save({"parameter": parameter, "buffer": nn.Buffer(torch.ones(1, device="cuda"))}, file)
    file.seek(0)
    loaded = torch.load(file, map_location={"cuda:1": "cuda:0"})
    assert isinstance(loaded["parameter"], nn.Parameter)
    assert isinstance(loaded["buffer"], nn.Buffer)
    assert (loaded["parameter"].tag, places(*loaded.values())) == (1, ["cuda:0", "cuda:0"])


def test_state_dicts_share_memory_are_copied_and_assigned() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).cuda()
    state, weight = model.state_dict(), model[0].weight
    assert state["0.weight"].data_ptr() == weight.data_ptr()
    assert not isinstance(state["0.weight"], nn.Parameter)
    assert model.state_dict(keep_vars=True)["0.weight"] is weight
    on_cpu = {name: tensor.cpu() for name, tensor in state.items()}
    model.load_state_dict(on_cpu)
    assert where(model) == {"cuda:0"}
    for device in ("cpu", "cuda:1"):
        model.load_state_dict({name: tensor.to(device) for name, tensor in state.items()}, assign=True)
        assert where(model) == {device}
        assert (model[0].weight is weight, isinstance(model[0].weight, nn.Parameter)) == (False, True)
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "0.weight"'):
        model.load_state_dict({name: tensor for name, tensor in state.items() if name != "0.weight"})


def test_a_state_dict_fills_a_meta_module_only_by_assignment() -> None:
    with torch.device("meta"):
        model = nn.Linear(2, 2)
    state = nn.Linear(2, 2).cuda().state_dict()
    with pytest.warns(
        UserWarning, match="for (weight|bias): copying from a non-meta parameter in the checkpoint to a meta"
    ):
        model.load_state_dict(state)
    assert where(model) == {"meta"}
    model.load_state_dict(state, assign=True)
    assert (where(model), model.weight.requires_grad) == ({"cuda:0"}, True)


@pytest.mark.filterwarnings("ignore:.*weight_norm.*is deprecated")
def test_weight_norm_moves_what_it_trains_and_remakes_the_weight() -> None:
    model = nn.utils.weight_norm(nn.Linear(3, 3))
    norm = model.weight_g
    model.cuda()
    assert model.weight_g is norm
    assert places(model.weight) == ["cpu"]  # a plain attribute, until forward makes it anew
    assert train(model, "cuda") == ["cuda:0"]
    assert places(model.weight) == ["cuda:0"]
    nn.utils.remove_weight_norm(model.to("cuda:1"))
    assert isinstance(model.weight, nn.Parameter)
    assert where(model) == {"cuda:1"}


@pytest.mark.parametrize("make", [parametrizations.weight_norm, parametrizations.spectral_norm])
def test_parametrizations_move_copy_and_come_off(make: object) -> None:
    for model in (make(nn.Linear(3, 3)).cuda(), make(nn.Linear(3, 3).cuda())):
        assert (train(model, "cuda"), where(model)) == (["cuda:0"], {"cuda:0"})
        clone = copy.deepcopy(model).to("cuda:1")
        assert train(clone, "cuda:1") == ["cuda:1"]
        model.load_state_dict(clone.state_dict())
        parametrize.remove_parametrizations(model, "weight")
        assert isinstance(model.weight, nn.Parameter)
        assert (type(model), where(model)) == (nn.Linear, {"cuda:0"})


def test_pruning_masks_move_and_a_mask_of_the_cpu_is_refused() -> None:
    model = prune.l1_unstructured(nn.Linear(3, 3).cuda(), "weight", 0.5)
    assert (train(model, "cuda"), where(model.to("cuda:1"))) == (["cuda:0"], {"cuda:1"})
    assert train(model, "cuda:1") == ["cuda:1"]
    prune.remove(model, "weight")
    assert isinstance(model.weight, nn.Parameter)
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu"):
        prune.custom_from_mask(model.cuda(), "weight", torch.ones(3, 3))


def test_lazy_modules_keep_their_place_through_copies_and_moves() -> None:
    model = nn.LazyLinear(2).cuda(1)
    weight = model.weight
    assert (where(model), type(weight).__name__) == ({"cuda:1"}, "UninitializedParameter")
    for lazy in (copy.deepcopy(model), nn.LazyBatchNorm1d().cuda(1), model):
        output = lazy(torch.ones(2, 3, device="cuda:1"))
        assert {*places(output), *where(lazy)} == {"cuda:1"}
    assert (type(model), model.weight is weight) == (nn.Linear, True)
    assert type(weight) == nn.Parameter  # noqa: E721
    assert places(nn.LazyLinear(2, device="cuda").weight) == ["cuda:0"]
    assert nn.LazyLinear(2).to("cuda:1", torch.float64).weight.dtype == torch.float64


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_state_of_a_lazy_module_loads_before_its_first_use(device: str) -> None:
    empty, used = nn.LazyLinear(3, device=device), nn.LazyLinear(3, device=device)
    empty.load_state_dict(used.state_dict())
    assert nn.parameter.is_lazy(empty.weight)
    used(torch.ones(2, 4, device=device))
    empty.load_state_dict(used.state_dict())
    assert torch.equal(empty.weight, used.weight)


def test_a_lazy_parameter_refuses_to_compute_with_pytorchs_text() -> None:
    lazy = nn.UninitializedParameter(device="cuda")
    assert (places(lazy, lazy.to("cuda:1")), lazy.is_cuda, repr(lazy)) == (
        ["cuda:0", "cuda:1"], True, "<UninitializedParameter>",
    )  # fmt: skip
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in <method 'add'"):
        lazy + 1
    lazy.materialize((2,), device="cuda:1")
    assert (places(lazy), lazy.shape) == (["cuda:1"], (2,))


def test_only_a_gpu_is_taken_by_cuda_and_only_numbers_with_a_fraction_by_to() -> None:
    for thing in (torch.ones(2), nn.Linear(2, 2)):
        with pytest.raises(RuntimeError, match="Invalid device, must be cuda device"):
            thing.cuda("cpu")
    with pytest.raises(TypeError, match=r"nn\.Module\.to only accepts floating point or complex dtypes"):
        nn.Linear(2, 2).to("cuda", torch.int32)
    model = nn.Linear(2, 2).cuda()
    for kind, place in (("torch.FloatTensor", "cpu"), (torch.cuda.HalfTensor, "cuda:0")):
        assert places(model.type(kind).weight) == [place]
    assert places(torch.ones(1, device="cuda:1").type("torch.cuda.DoubleTensor")) == ["cuda:1"]


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN:UserWarning")
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}, {"proj_size": 2}], ids=str)
def test_an_lstm_without_biases_has_the_cpus_values_and_gradients(options: dict[str, Any]) -> None:
    layer, x = nn.LSTM(3, 4, bias=False, **options), torch.randn(5, 2, 3)
    expected = layer(x)[0]
    expected.sum().backward()
    on_gpu = copy.deepcopy(layer).cuda()
    on_gpu.zero_grad()
    result = on_gpu(x.cuda())[0]
    result.sum().backward()
    torch.testing.assert_close(result.cpu(), expected)
    for ours, theirs in zip(on_gpu.parameters(), layer.parameters(), strict=True):
        assert ours.grad is not None
        torch.testing.assert_close(ours.grad.cpu(), theirs.grad)
    assert torch._C._get_mkldnn_enabled()
