"""Optimizers: where their state is, and what becomes of it when the module or the state moves."""

import torch
from torch import nn


def _step(model, optimizer):
    device = next(model.parameters()).device
    model(torch.zeros(1, 2, device=device)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


def _state(optimizer):
    return sorted(
        f"{name} {value.device}"
        for state in optimizer.state.values()
        for name, value in state.items()
        if hasattr(value, "device")
    )


def adam_after_the_move():
    model = nn.Linear(2, 1).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    _step(model, optimizer)
    return _state(optimizer)


def adam_moved_after_a_step():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    _step(model, optimizer)
    model.cuda()
    _step(model, optimizer)


def adamw_fused():
    model = nn.Linear(2, 1).cuda(1)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    _step(model, optimizer)
    return _state(optimizer)


def adam_capturable():
    model = nn.Linear(2, 1).cuda()
    optimizer = torch.optim.Adam(model.parameters(), capturable=True)
    _step(model, optimizer)
    return _state(optimizer)


def adam_one_tensor_at_a_time():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    _step(model, optimizer)
    model.cuda()
    _step(model, optimizer)


def momentum_one_tensor_at_a_time():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, foreach=False)
    _step(model, optimizer)
    model.cuda()
    _step(model, optimizer)


def a_fused_optimizer_with_capturable_of_the_cpu():
    torch.optim.Adam(nn.Linear(2, 1).parameters(), capturable=True)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters(), capturable=True)
    _step(model, optimizer)


def adagrad_makes_its_state_at_once():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adagrad(model.parameters())
    model.cuda()
    _step(model, optimizer)


def adagrad_moved_by_its_state_dict():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adagrad(model.parameters())
    model.cuda()
    optimizer.load_state_dict(optimizer.state_dict())
    return _state(optimizer)


def rmsprop_and_its_state():
    model = nn.Linear(2, 1).cuda()
    optimizer = torch.optim.RMSprop(model.parameters(), momentum=0.5)
    _step(model, optimizer)
    return _state(optimizer)


def one_optimizer_over_two_gpus():
    one, two = nn.Linear(2, 1).to("cuda:0"), nn.Linear(2, 1).to("cuda:1")
    optimizer = torch.optim.Adam([*one.parameters(), *two.parameters()])
    one(torch.zeros(1, 2, device="cuda:0")).sum().backward()
    two(torch.zeros(1, 2, device="cuda:1")).sum().backward()
    optimizer.step()
    return _state(optimizer)


def state_of_the_cpu_loaded_for_the_gpu():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    _step(model, optimizer)
    other = nn.Linear(2, 1).cuda(1)
    loaded = torch.optim.Adam(other.parameters())
    loaded.load_state_dict(optimizer.state_dict())
    return _state(loaded)


def a_parameter_that_is_no_leaf():
    torch.optim.SGD([torch.zeros(2, requires_grad=True).cuda()], 0.1)


def parameters_replaced_after_the_optimizer_was_made():
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    layer.weight = nn.Parameter(layer.weight.detach().cuda())
    return [str(p.device) for p in optimizer.param_groups[0]["params"]]


def parameters_moved_are_still_the_optimizers():
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    layer.cuda()
    return [p is q for p, q in zip(layer.parameters(), optimizer.param_groups[0]["params"], strict=True)]


def lbfgs_on_the_gpu():
    x = torch.zeros(2, device="cuda", requires_grad=True)
    optimizer = torch.optim.LBFGS([x], max_iter=1)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    return str(optimizer.step(closure).device)


def averaging_on_the_cpu_of_a_model_on_the_gpu():
    model = nn.Linear(2, 1).cuda()
    averaged = torch.optim.swa_utils.AveragedModel(model, device="cpu")
    averaged.update_parameters(model)
    averaged.update_parameters(model)
    return [str(averaged.module.weight.device), str(averaged.n_averaged.device)]


def a_moving_average_kept_on_the_cpu():
    model, shadow = nn.Linear(2, 1).cuda(), nn.Linear(2, 1)
    for kept, new in zip(shadow.parameters(), model.parameters(), strict=True):
        kept.data.mul_(0.9).add_(new.data, alpha=0.1)


def lerp_of_a_shadow_on_the_cpu():
    torch.zeros(3).lerp_(torch.zeros(3, device="cuda"), 0.1)


def foreach_lists_over_two_gpus():
    here = [torch.zeros(2, device="cuda:0"), torch.zeros(2, device="cuda:1")]
    return [str(x.device) for x in torch._foreach_add(here, here)]


def foreach_lists_that_clash():
    torch._foreach_add([torch.zeros(2, device="cuda:0")], [torch.zeros(2)])


def foreach_copy_crosses():
    targets = [torch.zeros(2, device="cuda:0"), torch.zeros(2)]
    torch._foreach_copy_(targets, [torch.zeros(2), torch.zeros(2, device="cuda:1")])
    return [str(x.device) for x in targets]


def a_scaler_and_its_scale():
    model = nn.Linear(2, 1).cuda(1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cuda")
    loss = scaler.scale(model(torch.zeros(1, 2, device="cuda:1")).sum())
    loss.backward()
    scaler.step(optimizer)
    scaler.update()
    return [str(loss.device), str(scaler._scale.device), sorted(scaler.state_dict())]


def a_scaler_and_a_loss_on_the_cpu():
    torch.amp.GradScaler("cuda").scale(torch.zeros(()))


def a_scheduler_has_no_device():
    model = nn.Linear(2, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    _step(model, optimizer)
    scheduler.step()
    return scheduler.get_last_lr()[0] < 0.1
