"""What autograd says about gradients on the wrong device, and where right ones arrive, as on CUDA.

Autograd sees only CPU tensors here, so each of its checks is one of ours; the texts are torch/csrc/autograd's.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils._per_sample_grad import call_for_per_sample_grads
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.checkpoint import checkpoint

pytestmark = pytest.mark.usefixtures("two_gpus")

DEVICES = ("cpu", "cuda:0", "cuda:1")


def leaf(device: str = "cuda:0") -> torch.Tensor:
    return torch.ones(3, device=device, requires_grad=True)


def places(*tensors: Any) -> list[str]:
    return ["none" if tensor is None else str(tensor.device) for tensor in tensors]


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(RuntimeError) as raised:
        call()
    return str(raised.value)


class ReturnsOn(torch.autograd.Function):
    """Twice its input; its gradient is returned on a device that the caller chooses."""

    @staticmethod
    def forward(ctx, x, device):
        ctx.device = device
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient.to(ctx.device), None


class WrongShape(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return torch.ones(2)


class Summed(torch.autograd.Function):
    """The product with a 0-dim tensor, whose gradient is summed, and so may come from anywhere."""

    @staticmethod
    def forward(ctx, x, scale):
        return x * scale.to(x.device)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, gradient


@pytest.mark.parametrize("here", DEVICES)
@pytest.mark.parametrize("there", DEVICES)
def test_a_function_must_return_gradients_where_its_inputs_are(here: str, there: str) -> None:
    weight = leaf(here)
    output = ReturnsOn.apply(weight, there).sum()
    if here == there:
        output.backward()
        assert weight.grad.tolist() == [1, 1, 1]
        return
    assert refusal(output.backward) == (
        f"Function ReturnsOnBackward returned an invalid gradient at index 0 - expected device {here} but got {there}"
    )


def test_a_gradient_of_a_wrong_shape_is_refused_for_its_shape_and_a_summed_one_moves() -> None:
    assert refusal(WrongShape.apply(leaf()).sum().backward) == (
        "Function WrongShapeBackward returned an invalid gradient at index 0 - got [2] but expected shape compatible "
        "with [3]"
    )
    x, scale = leaf("cpu"), torch.tensor(2.0, device="cuda:1", requires_grad=True)
    Summed.apply(x, scale).sum().backward()
    assert places(x.grad, scale.grad) == ["cpu", "cuda:1"]


def test_gradients_given_to_backward_must_be_where_their_outputs_are() -> None:
    weight = leaf()
    text = "invalid gradient at index {} - expected device {} but got {}"
    assert refusal(lambda: (weight * 2).backward(torch.ones(3, device="cuda:1"))) == text.format(0, "cuda:0", "cuda:1")
    assert refusal(lambda: (weight.cpu() * 2).backward(torch.ones(3, device="cuda"))) == text.format(0, "cpu", "cuda:0")
    roots = [(weight * 2).sum(), weight * 3]
    assert refusal(lambda: torch.autograd.backward(roots, [None, torch.ones(3)])) == text.format(1, "cuda:0", "cpu")
    assert refusal(lambda: torch.autograd.grad(weight * 2, weight, torch.ones(3))) == text.format(0, "cuda:0", "cpu")
    (weight * 2).sum().backward(torch.tensor(1.0))  # a 0-dim one comes from anywhere
    assert places(weight.grad) == ["cuda:0"]


def test_assigned_gradients_are_checked_for_their_dtype_before_their_device() -> None:
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        leaf().grad = torch.ones(3, dtype=torch.half)
    weight, gradient = leaf(), torch.ones(3, device="cuda")
    weight.grad = gradient
    assert weight.grad is gradient
    del weight.grad
    assert weight.grad is None


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_gradient_that_a_result_retained_can_be_cleared_and_replaced(device: str) -> None:
    result = torch.ones(3, device=device, requires_grad=True) * 2
    result.retain_grad()
    result.sum().backward()
    result.grad = None
    assert result.grad is None
    result.grad = torch.ones(3, device=device)
    assert result.grad.device == result.device


def test_the_other_name_of_grad_is_checked_as_well() -> None:
    weight = torch.ones(3, device="cuda", requires_grad=True)
    with pytest.raises(RuntimeError, match="a gradient with device type 'cpu' to a tensor with device type 'cuda'"):
        weight._grad = torch.ones(3)
    weight._grad = torch.ones(3, device="cuda")
    assert places(weight.grad) == ["cuda:0"]


def test_a_module_with_gradients_moves_under_a_default_device() -> None:
    module = torch.nn.Linear(3, 2)
    module(torch.ones(1, 3)).sum().backward()
    with torch.device("cpu"):
        module.to("cuda")
    assert places(module.weight, module.weight.grad) == ["cuda:0", "cuda:0"]


HOOKS: dict[str, tuple[Callable[[torch.Tensor], Any], str]] = {
    "another kind of device": (
        lambda gradient: gradient.cpu(),
        "hook '<lambda>' has changed the type of value (was torch.cuda.FloatTensor got torch.FloatTensor)",
    ),
    "another dtype": (
        lambda gradient: gradient.double(),
        "hook '<lambda>' has changed the type of value (was torch.cuda.FloatTensor got torch.cuda.DoubleTensor)",
    ),
    "another shape": (lambda gradient: gradient[:1], "hook '<lambda>' has changed the size of value"),
}


@pytest.mark.parametrize("case", HOOKS)
def test_a_hook_may_not_change_what_a_gradient_is(case: str) -> None:
    hook, text = HOOKS[case]
    weight = leaf()
    weight.register_hook(hook)
    assert refusal((weight * 2).sum().backward) == text


def test_a_hook_is_named_as_pytorch_names_it() -> None:
    class Unnamed:
        def __call__(self, gradient: torch.Tensor) -> torch.Tensor:
            return gradient.cpu()

    weight = leaf()
    weight.register_hook(Unnamed())
    assert refusal(weight.sum().backward).startswith("hook '<unknown>' has changed the type of value")


def test_a_hook_may_send_a_leafs_gradient_to_another_gpu_and_no_others() -> None:
    weight = leaf()
    weight.register_hook(lambda gradient: gradient.to("cuda:1"))
    weight.sum().backward()
    assert places(weight.grad) == ["cuda:1"]
    weight = leaf()
    doubled = weight * 2
    doubled.register_hook(lambda gradient: gradient.to("cuda:1"))
    assert refusal(doubled.sum().backward) == (
        "Function MulBackward0 returned an invalid gradient at index 0 - expected device cuda:0 but got cuda:1"
    )
    moved = leaf().to("cuda:1")
    moved.register_hook(lambda gradient: gradient.to("cuda:0"))
    moved.sum().backward()  # the copy's gradient goes home from anywhere


def test_the_full_hooks_of_a_module_are_held_to_it_too() -> None:
    text = "hook 'hook' has changed the type of value (was torch.cuda.FloatTensor got torch.FloatTensor)"
    for register, hook in (
        ("register_full_backward_hook", lambda module, inputs, outputs: (inputs[0].cpu(),)),
        ("register_full_backward_pre_hook", lambda module, outputs: (outputs[0].cpu(),)),
    ):
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1)).cuda()
        getattr(model[1], register)(hook)
        assert refusal(model(leaf()[None]).sum().backward) == text


# What registers a hook that returns a gradient on the CPU: on a leaf, or on the node of what is made of it.
ON_NODES: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "after a node": lambda x, y: y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0].cpu(), None)),
    "before a node": lambda x, y: y.grad_fn.register_prehook(lambda outputs: (outputs[0].cpu(),)),
    "after a leaf": lambda x, y: x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad.cpu()),
}


@pytest.mark.parametrize("case", ON_NODES)
def test_the_hooks_of_nodes_are_held_to_it_too(case: str) -> None:
    for make in (lambda x: x * 2, lambda x: ReturnsOn.apply(x, "cuda")):
        x = leaf()
        y = make(x)
        ON_NODES[case](x, y)
        assert refusal(y.sum().backward) == (
            "hook '<lambda>' has changed the type of value (was torch.cuda.FloatTensor got torch.FloatTensor)"
        )


def test_a_hook_of_a_node_may_change_the_gradient_and_can_be_taken_off() -> None:
    x = leaf()
    y = x * 2
    handle = y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 3, None))
    y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [8, 8, 8]


def test_hooks_of_modules_see_gradients_on_their_gpu() -> None:
    model, seen = nn.Linear(3, 1).cuda(1), []
    model.register_full_backward_hook(lambda module, inputs, outputs: seen.extend(places(*inputs, *outputs)))
    model.register_forward_pre_hook(lambda module, inputs: tuple(x.to("cuda:1") for x in inputs))
    model(leaf()[None]).sum().backward()
    assert seen == ["cuda:1", "cuda:1"]


def test_a_graph_across_devices_brings_each_gradient_home() -> None:
    first = leaf("cpu")
    second = first.cuda() * 2
    third = second.to("cuda:1", torch.float64)
    for tensor in (second, third):
        tensor.retain_grad()
    third.cpu().sum().backward()
    assert places(first.grad, second.grad, third.grad) == list(DEVICES)
    assert (first.grad.dtype, third.grad.dtype) == (torch.float32, torch.float64)
    assert third.grad_fn.name() == type(third.grad_fn).__name__ == "ToCopyBackward0"
    assert repr(third).endswith("device='cuda:1', dtype=torch.float64,\n       grad_fn=<ToCopyBackward0>)")


@pytest.mark.parametrize("source", DEVICES)
@pytest.mark.parametrize("target", DEVICES)
def test_gradients_of_what_was_copied_into_a_tensor_go_home(source: str, target: str) -> None:
    weight = leaf(source)
    for copy in (lambda x: x.copy_(weight), lambda x: x.__setitem__(slice(None), weight)):
        weight.grad = None
        x = torch.zeros(3, device=target)
        copy(x)
        (x.sum() + (weight * 2).sum().to(target)).backward()
        assert (places(weight.grad), weight.grad.tolist()) == ([source], [3, 3, 3])


def test_a_scalar_of_the_cpu_gets_its_gradient_there() -> None:
    weight, scale = leaf(), torch.tensor(2.0, requires_grad=True)
    assert places(*torch.autograd.grad((weight * scale).sum(), [weight, scale])) == ["cuda:0", "cpu"]
    (gradient,) = torch.autograd.grad((weight * scale).sum(), scale, create_graph=True)
    assert places(*torch.autograd.grad(gradient, weight)) == ["cuda:0"]


def test_gradient_penalties_cross_devices() -> None:
    model = nn.ModuleList([nn.Linear(3, 4).cuda(), nn.Linear(4, 1).cuda(1)])
    x = torch.ones(2, 3, requires_grad=True)
    output = model[1](torch.tanh(model[0](x.cuda())).to("cuda:1"))
    (gradient,) = torch.autograd.grad(output.sum(), x, create_graph=True)
    ((gradient.norm(2, dim=1) - 1) ** 2).mean().backward()
    assert places(gradient, model[0].weight.grad, model[1].weight.grad, model[1].bias.grad) == [*DEVICES, "none"]


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoints_recompute_on_their_devices(use_reentrant: bool) -> None:
    first, second = nn.Linear(3, 3).cuda(), nn.Linear(3, 3).cuda(1)
    x = torch.ones(2, 3, requires_grad=True)
    output = checkpoint(lambda x: second(first(x.cuda(0)).to("cuda:1")), x, use_reentrant=use_reentrant)
    output.sum().backward()
    assert places(x.grad, first.weight.grad, second.weight.grad) == list(DEVICES)
    # The recomputation runs where the last tensor is, and so "cuda" is another GPU than it was before.
    output = checkpoint(lambda x: second(first(x.cuda()).to("cuda:1")), x, use_reentrant=use_reentrant)
    assert refusal(output.sum().backward) == (
        "Expected all tensors to be on the same device, but got mat1 is on cuda:1, different from other tensors on "
        "cuda:0 (when checking argument in method wrapper_CUDA_addmm)"
    )


def test_gradcheck_and_functional_derivatives_work_on_a_gpu() -> None:
    x = torch.rand(2, device="cuda", dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: (x.to("cuda:1") ** 3).sum(), (x,))
    functional = torch.autograd.functional
    assert places(functional.jacobian(torch.sin, x), functional.hessian(lambda x: (x**3).sum(), x)) == ["cuda:0"] * 2
    with pytest.raises(RuntimeError, match="expected device cuda:0 but got cpu"):
        functional.vjp(torch.sin, x, torch.ones(2, dtype=torch.float64))


def test_a_gradient_stays_one_object_and_follows_its_tensors_layout() -> None:
    weight = torch.ones(2, 3, device="cuda").t().requires_grad_()
    (weight * 2).sum().backward()
    gradient = weight.grad
    (weight * 2).sum().backward()
    assert weight.grad is gradient
    assert (gradient.stride(), gradient._version, gradient.requires_grad) == (weight.stride(), 2, False)
    gradient.tag = 1
    del gradient
    assert weight.grad.tag == 1


def test_in_place_errors_name_the_gpus_type() -> None:
    weight = leaf()
    doubled = weight * 2
    squared = doubled * doubled
    doubled.add_(1)
    said = refusal(squared.sum().backward).replace("AddBackward0", "Add")  # torch 2.11 has the longer name
    assert said == (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.cuda.FloatTensor [3]], which is output 0 of Add, is at version 1; expected version 0 instead. "
        "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    assert refusal(lambda: weight.add_(1)) == (
        "a leaf Variable that requires grad is being used in an in-place operation."
    )


def test_versions_count_what_optimizers_write() -> None:
    for kind in ({"foreach": False}, {"foreach": True}):
        weight = leaf()
        weight.sum().backward()
        torch.optim.SGD([weight], 0.1, **kind).step()
        assert weight._version == 1


def test_inference_tensors_stay_out_of_graphs() -> None:
    with torch.inference_mode():
        made = torch.ones(3, device="cuda")
        assert [x.is_inference() for x in (made, made.cpu(), made.to("cuda:1"), leaf().to("cuda:1"))] == [True] * 4
    assert refusal(lambda: made * leaf()).startswith("Inference tensors cannot be saved for backward.")
    assert refusal(lambda: made.add_(1)).startswith("Inplace update to inference tensor outside InferenceMode")
    made.data = torch.ones(3, device="cuda:1")
    assert places(made) == ["cuda:1"]


@pytest.mark.parametrize("device", DEVICES)
def test_inference_tensors_are_written_to_only_in_inference_mode(device: str) -> None:
    def fill(x: torch.Tensor) -> None:
        x[0] = 3

    def multiply_and_add(x: torch.Tensor) -> None:
        torch._foreach_addcmul_([x], [torch.ones_like(x)], [torch.ones_like(x)])

    writes: tuple[Callable[[torch.Tensor], Any], ...] = (
        fill, multiply_and_add, lambda x: x.add_(1), lambda x: x.view(3).add_(1), lambda x: x[:2].zero_(),
        lambda x: torch.add(x, 1, out=x), lambda x: torch._foreach_add_([x], 1),
        lambda x: torch._foreach_copy_([x], [torch.ones_like(x)]), lambda x: nn.functional.dropout(x, inplace=True),
    )  # fmt: skip
    for write in writes:
        with torch.inference_mode():
            made = torch.ones(3, device=device)
            write(made)
        assert refusal(lambda write=write, made=made: write(made)) == (
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
            "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )
        write(made.clone())
    torch.add(made, 1, out=torch.empty(3, device=device))
    made.detach().add_(1)  # it counts versions of its own, whatever it came from


def test_saved_tensors_can_wait_elsewhere() -> None:
    weight, seen = leaf(), []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        seen.extend(places(tensor))
        return tensor.cpu()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor.cuda()):
        output = (weight * weight).sum()
    output.backward()
    assert (seen, places(weight.grad)) == (["cuda:0", "cuda:0"], ["cuda:0"])


@pytest.mark.parametrize("device", DEVICES)
def test_a_number_with_a_gradient_is_copied_into_a_slice(device: str) -> None:
    number = leaf("cuda:0")
    whole = torch.zeros(3, dtype=torch.long, device=device)
    whole[1:] = number.sum()
    assert whole.tolist() == [0, 3, 3]
    assert not whole.requires_grad  # integers have no gradients
    parts = torch.zeros(3, device=device)
    parts[1:] = number.sum()
    parts.sum().backward()
    assert str(number.grad.device) == "cuda:0"
    assert number.grad.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("device", ("cpu", "cuda:1"))
@pytest.mark.parametrize(
    "use",
    [
        lambda x, mask, number: x.fill_(number),
        lambda x, mask, number: x[0].fill_(number),
        lambda x, mask, number: x.masked_fill(mask, number),
        lambda x, mask, number: x.index_put_((torch.tensor([0, 1]),), number),
        lambda x, mask, number: x.index_put_((torch.tensor([0, 1]),), number, accumulate=True),
        lambda x, mask, number: torch.where(mask, x, number),
        lambda x, mask, number: torch.where(mask, number, x),
    ],
)
def test_a_number_from_elsewhere_gets_its_gradient_back(use: Callable[..., torch.Tensor], device: str) -> None:
    number = torch.ones((), device=device, requires_grad=True)
    use(leaf() * 1, torch.tensor([True, False, True], device="cuda:0"), number).sum().backward()
    assert places(number.grad) == [device]


def test_values_assigned_by_indices_on_the_cpu_get_their_gradient_and_so_does_the_whole() -> None:
    values, whole = torch.ones(2, device="cuda:0", requires_grad=True), leaf()
    x = whole * 1
    x[torch.tensor([0, 1])] = values
    (x * 3).sum().backward()
    assert places(values.grad, whole.grad) == ["cuda:0", "cuda:0"]
    assert (values.grad.tolist(), whole.grad.tolist()) == ([3.0, 3.0], [0.0, 0.0, 3.0])


@pytest.mark.parametrize("device", ("cpu", "cuda:0"))
def test_values_assigned_by_indices_from_elsewhere_get_no_gradient(device: str) -> None:
    values = torch.ones(2, device=device, requires_grad=True)
    x = torch.zeros(3, device=device)
    x[torch.tensor([0, 1], device="cuda:1")] = values
    # The assignment moves the indices, its derivative does not.
    expected = f"indices should be either on cpu or on the same device as the indexed tensor ({device})"
    assert refusal(x.sum().backward) == expected


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: x * x, "found at least two devices, cuda:0 and cpu!"),
        (lambda x: x.pow(2), "found at least two devices, cuda:0 and cpu!"),
        (
            torch.relu,
            "got self is on cpu, different from other tensors on cuda:0 (when checking argument in method "
            "wrapper_CUDA_threshold_backward)",
        ),
        (
            lambda x: x.softmax(0),
            "got output is on cpu, different from other tensors on cuda:0 (when checking argument in method "
            "wrapper_CUDA__softmax_backward_data)",
        ),
    ],
)
def test_what_a_hook_unpacks_on_the_cpu_does_not_meet_a_gradient_of_the_gpu(
    function: Any, text: str, two_gpus: None
) -> None:
    x = torch.ones(2, device="cuda", requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.cpu(), lambda tensor: tensor):
        y = function(x)
    with pytest.raises(RuntimeError) as refusal:
        y.sum().backward()
    assert str(refusal.value) == f"Expected all tensors to be on the same device, but {text}"
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.cpu(), lambda tensor: tensor.cuda()):
        function(x).sum().backward()
    assert x.grad is not None and x.grad.device == x.device


def test_gradients_of_each_sample_are_on_the_gpu() -> None:
    layer = nn.Linear(2, 2).cuda()
    call = call_for_per_sample_grads(layer)
    call(torch.ones(3, 2, device="cuda")).sum().backward()
    gradients: Any = layer.weight.grad_sample
    assert gradients.device == torch.device("cuda:0")
    assert gradients.shape == (3, 2, 2)


def packed(x: torch.Tensor) -> Any:
    return pack_padded_sequence(x, torch.tensor([3, 2]), batch_first=True)


# The gradient of each is zeros that C++ makes on what it takes for the device of what came in.
MAKE_ZEROS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sgn": torch.sgn,
    "copysign": lambda x: torch.copysign(torch.ones_like(x), x),
    "nextafter": lambda x: torch.nextafter(torch.ones_like(x), x),
    "normal": lambda x: torch.normal(x, 1.0),
    "pack_padded_sequence": lambda x: packed(x).data,
    "GRU": lambda x: pad_packed_sequence(nn.GRU(4, 4, batch_first=True).cuda(1)(packed(x))[0], batch_first=True)[0],
}


@pytest.mark.parametrize("name", MAKE_ZEROS)
def test_an_embedding_takes_a_gradient_that_cpp_has_made_for_itself(name: str) -> None:
    embedding = nn.Embedding(5, 4).cuda(1)
    embedded = embedding(torch.tensor([[1, 2, 3], [1, 2, 0]]).cuda(1))
    MAKE_ZEROS[name](embedded).sum().backward()
    assert places(embedding.weight.grad) == ["cuda:1"]


def test_the_gradient_of_a_packed_sequence_is_on_its_gpu_whoever_asks() -> None:
    data, batch_sizes = torch.ops.aten._pack_padded_sequence(torch.ones(2, 3, 4).cuda(1), torch.tensor([3, 2]), True)
    gradient = torch.ops.aten._pack_padded_sequence_backward(data, [2, 3, 4], batch_sizes, True)
    assert places(gradient) == ["cuda:1"]
    assert gradient.sum(2).tolist() == [[4, 4, 4], [4, 4, 0]]


def test_a_hook_hears_of_a_gradient_that_is_not_there() -> None:
    weight, seen = leaf(), []
    middle = weight * 2
    middle.register_hook(seen.append)
    middle.norm(0).backward()
    assert seen == [None]
    assert weight.grad is None


class Passing(torch.Tensor):
    """Has memory of its own, and passes each operator on."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return super().__torch_dispatch__(func, types, args, kwargs or {})


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
@pytest.mark.parametrize(
    "made",
    [lambda x: x.as_subclass(Passing), lambda x: x.as_subclass(Passing) * 2, lambda x: x.as_subclass(Passing)[:]],
)
def test_a_gradient_for_what_was_made_of_a_plain_tensor_has_to_be_where_that_is(device, made):
    """As PyTorch says itself of the CPU and meta: the node was made for a plain tensor, or its result is one."""
    x = torch.ones(3, device=device, requires_grad=True)
    elsewhere = "meta" if device == "cpu" else "cpu"
    with pytest.raises(RuntimeError) as refusal:
        made(x).backward(torch.ones(3, device=elsewhere))
    assert str(refusal.value) == f"invalid gradient at index 0 - expected device {device} but got {elsewhere}"


def test_a_gradient_for_a_leaf_of_a_class_of_the_program_is_taken_from_anywhere():
    """torch/csrc/autograd/engine.cpp, validate_outputs: it asks no device of a subclass."""
    leaf = torch.ones(3, device="cuda").as_subclass(Passing).requires_grad_()
    leaf.backward(torch.ones(3))
