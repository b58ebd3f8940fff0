"""Modules: what a move takes along, what it replaces and what it leaves behind."""

import copy

import torch
from torch import nn


def _where(*tensors):
    return [str(tensor.device) for tensor in tensors]


def a_move_keeps_parameters_and_replaces_buffers():
    norm = nn.BatchNorm2d(4)
    weight, mean = norm.weight, norm.running_mean
    norm.cuda()
    return [norm.weight is weight, norm.running_mean is mean, *_where(weight, mean, norm.num_batches_tracked)]


def there_and_back_again():
    layer = nn.Linear(3, 2)
    weight, values = layer.weight, layer.weight.tolist()
    layer.to("cuda:1").to("cuda:0").cpu()
    return [layer.weight is weight, layer.weight.tolist() == values, *_where(layer.weight, layer.bias)]


def a_move_returns_the_module_itself():
    layer = nn.Linear(3, 2)
    return [layer.to("cuda") is layer, layer.cuda(1) is layer, layer.cpu() is layer]


def what_is_no_parameter_and_no_buffer_stays():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(2))
            self.scale = torch.zeros(2)
            self.parts = [nn.Linear(1, 1)]
            self.register_buffer("offset", torch.zeros(2), persistent=False)

    module = Scaled().cuda()
    return _where(module.weight, module.scale, module.parts[0].weight, module.offset)


def a_plain_attribute_meets_the_input():
    class Shifted(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)
            self.shift = torch.zeros(3)

        def forward(self, x):
            return self.layer(x) + self.shift

    return Shifted().cuda()(torch.zeros(2, 3, device="cuda"))


def a_layer_made_in_forward_stays_on_the_cpu():
    class Late(nn.Module):
        def forward(self, x):
            return nn.Linear(3, 3)(x)

    return Late().cuda()(torch.zeros(2, 3, device="cuda"))


def parameters_in_lists_and_dicts():
    module = nn.Module()
    module.one = nn.ParameterList([nn.Parameter(torch.zeros(2)), torch.zeros(2)])
    module.two = nn.ParameterDict({"a": torch.zeros(2)})
    module.three = nn.ModuleDict({"b": nn.Linear(1, 1)})
    module.cuda(1)
    return _where(*module.parameters())


def dtype_and_device_in_one_move():
    module = nn.Sequential(nn.Linear(2, 2), nn.Embedding(3, 2)).to("cuda:1", torch.float16)
    module.register_buffer("steps", torch.tensor(3))
    module.to(torch.device("cuda", 0), torch.float64)
    return [*_where(module[0].weight, module.steps), str(module[1].weight.dtype), str(module.steps.dtype)]


def a_move_takes_the_gradients_along():
    layer = nn.Linear(2, 1)
    layer(torch.tensor([[1.0, 2.0]])).sum().backward()
    gradient = layer.weight.grad
    layer.cuda()
    return [*_where(layer.weight.grad, gradient), layer.weight.grad is gradient, layer.weight.grad.tolist()]


def to_empty_and_meta():
    layer = nn.Linear(3, 2, device="meta")
    layer.to_empty(device="cuda:1")
    return [*_where(layer.weight, layer.bias), layer.weight.requires_grad]


def a_meta_module_cannot_be_moved():
    nn.Linear(3, 2, device="meta").to("cuda")


def modules_made_on_a_device():
    norm = nn.BatchNorm1d(2, device="cuda:1")
    return _where(norm.weight, norm.running_mean, norm.num_batches_tracked, nn.Embedding(2, 2, device="cuda").weight)


def a_copy_is_on_the_same_device_and_its_own():
    layer = nn.Linear(2, 2).to("cuda:1")
    twin = copy.deepcopy(layer)
    twin.cpu()
    return _where(layer.weight, twin.weight)


def tied_weights_stay_tied():
    embedding, head = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
    head.weight = embedding.weight
    model = nn.ModuleList([embedding, head]).cuda()
    return [model[0].weight is model[1].weight, len(list(model.parameters())), *_where(model[1].weight)]


def state_dicts_stay_where_they_are():
    source, target = nn.Linear(2, 2).cuda(), nn.Linear(2, 2)
    result = target.load_state_dict(source.state_dict())
    same = target.weight.tolist() == source.weight.tolist()
    return [str(result), same, *_where(target.weight, source.state_dict()["bias"])]


def a_state_dict_that_is_assigned():
    target = nn.Linear(2, 2)
    target.load_state_dict({"weight": torch.zeros(2, 2, device="cuda:1"), "bias": torch.zeros(2)}, assign=True)
    return [type(target.weight).__name__, *_where(target.weight, target.bias)]


def a_moved_parameter_is_still_a_parameter():
    layer = nn.Linear(2, 2).cuda()
    weight = layer.weight
    return [
        type(weight).__name__,
        isinstance(weight, nn.Parameter),
        weight.is_leaf,
        weight.requires_grad,
        weight.is_cuda,
    ]


def a_parameter_made_of_a_moved_parameter():
    moved = nn.Parameter(torch.zeros(2)).cuda()
    again = nn.Parameter(moved.detach())
    return [type(moved).__name__, moved.is_leaf, type(again).__name__, again.is_leaf, *_where(moved, again)]


def a_buffer_registered_later_stays():
    layer = nn.Linear(2, 2).cuda()
    layer.register_buffer("mask", torch.zeros(2))
    return _where(layer.mask, layer.weight)


def spectral_norm_is_moved_whole():
    layer = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3)).cuda()
    return sorted({str(x.device) for x in [*layer.parameters(), *layer.buffers()]})


def weight_norm_is_moved_whole():
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)).cuda()
    return [*sorted(name for name, _ in layer.named_parameters()), *_where(layer.weight, layer.bias)]


def a_frozen_module_stays_frozen():
    layer = nn.Linear(2, 2).requires_grad_(False).cuda()
    return [layer.weight.requires_grad, *_where(layer.weight)]


def apply_sees_the_device():
    seen = []
    model = nn.Sequential(nn.Linear(1, 1), nn.ReLU()).cuda(1)
    model.apply(lambda module: seen.extend(str(x.device) for x in module.parameters(recurse=False)))
    return seen


def share_memory_of_a_gpu_module():
    return _where(nn.Linear(1, 1).cuda().share_memory().weight)


def modules_have_no_device():
    return str(nn.Linear(1, 1).cuda().device)


def a_gpu_that_is_not_there():
    layer = nn.Linear(1, 1)
    layer.to("cuda:2")


def a_device_that_is_no_device():
    nn.Linear(1, 1).to("gpu")


def integers_for_devices():
    layer = nn.Linear(1, 1).to(1)
    return _where(layer.weight, layer.cuda(0).weight)


def only_floating_dtypes():
    nn.Linear(1, 1).cuda().to(torch.int32)


def half_layer_and_float_input():
    return nn.Linear(3, 3).cuda().half()(torch.zeros(2, 3, device="cuda"))
