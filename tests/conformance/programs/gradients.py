"""Gradients: where they go, what may be assigned, and which hooks see which device."""

import torch
from torch import nn


def _leaf(device="cuda"):
    return torch.zeros(3, device=device, requires_grad=True)


def a_gradient_goes_back_to_where_its_leaf_is():
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    (leaf.to("cuda:0").to("cuda:1") * 2).sum().backward()
    return [str(leaf.grad.device), leaf.is_leaf]


def a_cpu_number_gets_its_gradient_on_the_cpu():
    scale = torch.tensor(2.0, requires_grad=True)
    x = _leaf()
    (x * scale).sum().backward()
    return [str(scale.grad.device), str(x.grad.device)]


def gradients_over_two_gpus():
    first, second = nn.Linear(2, 2).to("cuda:0"), nn.Linear(2, 1).to("cuda:1")
    out = second(first(torch.zeros(3, 2, device="cuda:0")).to("cuda:1"))
    out.sum().backward()
    return [str(first.weight.grad.device), str(second.weight.grad.device), str(out.device)]


def backward_with_a_gradient_on_the_other_gpu():
    (_leaf("cuda:0") * 2).backward(torch.zeros(3, device="cuda:1"))


def autograd_grad_with_outputs_on_the_cpu():
    x = _leaf()
    torch.autograd.grad(x * 2, x, grad_outputs=torch.zeros(3))


def autograd_grad_is_on_the_leafs_device():
    x = torch.zeros(3, requires_grad=True)
    (grad,) = torch.autograd.grad((x.cuda(1) * 2).sum(), x)
    return str(grad.device)


def assigning_a_gradient_of_the_other_gpu():
    x = _leaf("cuda:0")
    x.grad = torch.zeros(3, device="cuda:1")


def assigning_a_gpu_gradient_to_a_cpu_leaf():
    x = _leaf("cpu")
    x.grad = torch.zeros(3, device="cuda")


def assigning_a_gradient_of_the_wrong_shape():
    x = _leaf()
    x.grad = torch.zeros(2, device="cuda")


def assigning_a_gradient_of_the_wrong_dtype():
    x = _leaf()
    x.grad = torch.zeros(3, device="cuda", dtype=torch.float64)


def assigning_no_gradient():
    x = _leaf()
    x.grad = torch.zeros(3, device="cuda")
    first = str(x.grad.device)
    x.grad = None
    return [first, x.grad is None]


def a_tensor_hook_that_moves_its_gradient():
    x = _leaf()
    y = x * 2
    y.register_hook(lambda gradient: gradient.cpu())
    y.sum().backward()


def a_tensor_hook_sees_the_gpu():
    seen = []
    x = _leaf("cuda:1")
    x.register_hook(lambda gradient: seen.append(str(gradient.device)))
    (x * 2).sum().backward()
    return seen


def a_hook_after_accumulation():
    seen = []
    x = _leaf("cuda:1")
    x.register_post_accumulate_grad_hook(lambda leaf: seen.extend([str(leaf.device), str(leaf.grad.device)]))
    (x * 2).sum().backward()
    return seen


def module_hooks_see_the_gpu():
    seen = []
    layer = nn.Linear(2, 2).cuda()
    layer.register_forward_pre_hook(lambda module, args: seen.append(str(args[0].device)))
    layer.register_forward_hook(lambda module, args, out: seen.append(str(out.device)))
    layer.register_full_backward_hook(lambda module, into, out: seen.append(str(out[0].device)))
    layer(torch.zeros(1, 2, device="cuda", requires_grad=True)).sum().backward()
    return seen


def a_forward_pre_hook_that_moves_the_input():
    layer = nn.Linear(2, 2).cuda(1)
    layer.register_forward_pre_hook(lambda module, args: (args[0].to("cuda:1"),))
    return str(layer(torch.zeros(1, 2)).device)


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient.to(x.device) * 2


def a_custom_function_saves_on_the_gpu():
    x = _leaf("cuda:1")
    _Doubled.apply(x).sum().backward()
    return str(x.grad.device)


def a_custom_function_returns_the_other_gpus_gradient():
    class Astray(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient.to("cuda:1")

    Astray.apply(_leaf("cuda:0") * 1).sum().backward()


def a_custom_function_over_two_devices():
    class Crossing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.to("cuda:1")

        @staticmethod
        def backward(ctx, gradient):
            return gradient.to("cuda:0")

    x = _leaf("cuda:0")
    y = Crossing.apply(x)
    y.sum().backward()
    return [str(y.device), str(x.grad.device)]


def a_numbered_output_of_backward():
    torch.zeros(3, device="cuda", requires_grad=True).backward()


def backward_of_what_needs_none():
    torch.zeros((), device="cuda").backward()


def backward_twice():
    loss = (_leaf() * _leaf()).sum()
    loss.backward()
    loss.backward()


def a_leaf_changed_in_place():
    _leaf().add_(1)


def a_leaf_moved_is_not_a_leaf():
    x = torch.zeros(2, requires_grad=True)
    y = x.to("cuda")
    return [y.is_leaf, y.requires_grad, str(y.grad_fn.name()), x.to("cpu") is x]


def no_grad_and_inference_mode():
    x = _leaf()
    with torch.no_grad():
        y = x.cpu()
    with torch.inference_mode():
        z = x.to("cuda:1")
    return [y.requires_grad, z.requires_grad, z.is_inference(), str(z.device)]


def detach_keeps_the_device_and_the_memory():
    x = _leaf("cuda:1")
    return [str(x.detach().device), x.detach().data_ptr() == x.data_ptr(), str(x.data.device), x.data.requires_grad]


def data_assigned_from_the_gpu():
    x = torch.zeros(3, requires_grad=True)
    x.data = torch.tensor([1.0, 2.0, 3.0]).cuda()
    return [str(x.device), x.is_cuda, x.is_leaf, x.tolist(), type(x).__name__]


def data_assigned_back_to_the_cpu():
    layer = nn.Linear(2, 2).cuda()
    for parameter in layer.parameters():
        parameter.data = parameter.data.to("cpu")
    return [str(layer.weight.device), str(layer(torch.zeros(1, 2)).device)]


def data_assigned_between_gpus():
    x = torch.zeros(2, device="cuda:0")
    x.data = torch.zeros(2, device="cuda:1")
    return str(x.device)


def data_of_another_dtype():
    x = torch.zeros(2, device="cuda", requires_grad=True)
    x.data = torch.zeros(2, device="cuda", dtype=torch.int64)


def clipping_over_two_gpus():
    leaves = [_leaf("cuda:0"), _leaf("cuda:1")]
    for leaf in leaves:
        leaf.grad = torch.zeros_like(leaf)
    return str(nn.utils.clip_grad_norm_(leaves, 1.0).device)


def clipping_values():
    leaves = [_leaf("cuda:0"), _leaf("cuda:1")]
    for leaf in leaves:
        leaf.grad = torch.zeros_like(leaf)
    nn.utils.clip_grad_value_(leaves, 1.0)
    return [str(leaf.grad.device) for leaf in leaves]


def a_checkpointed_block():
    from torch.utils.checkpoint import checkpoint

    layer = nn.Linear(2, 2).cuda(1)
    x = torch.zeros(1, 2, device="cuda:1", requires_grad=True)
    checkpoint(layer, x, use_reentrant=False).sum().backward()
    return [str(x.grad.device), str(layer.weight.grad.device)]


def saved_tensors_on_the_cpu():
    x = _leaf("cuda:1")
    with torch.autograd.graph.save_on_cpu():
        y = (x * x).sum()
    y.backward()
    return str(x.grad.device)


def second_derivatives():
    x = _leaf("cuda:1")
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return [str(first.device), str(second.device)]


def parameters_as_one_vector():
    layer = nn.Linear(2, 2).cuda()
    vector = nn.utils.parameters_to_vector(layer.parameters())
    nn.utils.vector_to_parameters(torch.zeros(6), layer.parameters())
    return [str(vector.device), str(layer.weight.device)]


def retained_gradients():
    x = _leaf("cuda:1")
    y = x * 2
    y.retain_grad()
    y.sum().backward()
    return [str(y.grad.device), str(x.grad.device)]
