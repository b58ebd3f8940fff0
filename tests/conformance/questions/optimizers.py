"""Optimizers: what they refuse, and where they keep their state."""

from torch import optim


def stepped(make, device="cuda", grad=None, steps=1, **options):
    """One step of an optimizer, with a gradient on the parameter's device."""
    p = nn.Parameter(torch.ones(2, 2, device=device))
    optimizer = make([p], **options)
    for _ in range(steps):
        p.grad = torch.ones(2, 2, device=device)
        optimizer.step()
    return optimizer


def state(make, device="cuda", **options):
    return next(iter(stepped(make, device, **options).state.values()), {})


def two(make, first="cuda:0", second="cuda:1", **options):
    ps = [nn.Parameter(torch.ones(2, device=device)) for device in (first, second)]
    for p in ps:
        p.grad = torch.ones_like(p)
    optimizer = make(ps, **options)
    optimizer.step()
    return [optimizer.state[p] for p in ps]


def moved(make, to="cuda", **options):
    """A step on the CPU, then the parameter moves."""
    p = nn.Parameter(torch.ones(2))
    optimizer = make([p], **options)
    p.grad = torch.ones(2)
    optimizer.step()
    p.grad = None
    p.data = p.data.to(to)
    p.grad = torch.ones(2, device=to)
    optimizer.step()
    return optimizer.state[p]


state(optim.Adam)
state(optim.Adam, capturable=True)
state(optim.Adam, fused=True)
state(optim.Adam, fused=True, device="cpu")
state(optim.Adam, foreach=True)
state(optim.Adam, foreach=False)
state(optim.Adam, amsgrad=True)
state(optim.AdamW)
state(optim.AdamW, fused=True)
state(optim.SGD, lr=0.1, momentum=0.9)
state(optim.SGD, lr=0.1, momentum=0.9, fused=True)
state(optim.SGD, lr=0.1)
state(optim.Adagrad)
state(optim.Adagrad, fused=True)
state(optim.Adadelta)
state(optim.Adamax)
state(optim.NAdam)
state(optim.RAdam)
state(optim.ASGD)
state(optim.ASGD, capturable=True)
state(optim.Rprop)
state(optim.Rprop, capturable=True)
state(optim.RMSprop, momentum=0.9)
state(optim.Adafactor)
state(optim.Muon)
state(optim.Adam, device="cpu", capturable=True)
state(optim.AdamW, device="cpu", capturable=True)
state(optim.RAdam, device="cpu", capturable=True, foreach=True)
# lr
state(optim.Adam, lr=torch.tensor(0.1))
state(optim.Adam, lr=torch.tensor(0.1), foreach=True)
state(optim.Adam, lr=torch.tensor(0.1).cuda(), foreach=True)
state(optim.Adam, lr=torch.tensor(0.1), foreach=True, capturable=True)
state(optim.Adam, lr=torch.tensor(0.1), foreach=False, capturable=True)
state(optim.Adam, lr=torch.tensor(0.1), fused=True)
state(optim.Adam, lr=torch.tensor([0.1, 0.2]))
state(optim.Adam, lr=torch.tensor([0.1]), foreach=False)
state(optim.AdamW, lr=torch.tensor(0.1), fused=True)
state(optim.Adagrad, lr=torch.tensor(0.1), fused=True)
state(optim.SGD, lr=torch.tensor(0.1), momentum=0.9)
state(optim.SGD, lr=torch.tensor(0.1).cuda(), momentum=0.9)
state(optim.SGD, lr=torch.tensor(0.1).cuda(), momentum=0.9, foreach=False)
state(optim.SGD, lr=torch.tensor(0.1).cuda(), momentum=0.9, foreach=True)
state(optim.SGD, lr=torch.tensor(0.1), momentum=0.9, foreach=False)
state(optim.SGD, lr=torch.tensor(0.1), momentum=0.9, fused=True)
state(optim.SGD, lr=torch.tensor(0.1).cuda(), momentum=0.9, fused=True)
state(optim.SGD, lr=torch.tensor(0.1).to("cuda:1"), momentum=0.9, fused=True)
state(optim.SGD, lr=torch.tensor(0.1).to("cuda:1"), momentum=0.9)
state(optim.RMSprop, lr=torch.tensor(0.1), foreach=True)
state(optim.NAdam, lr=torch.tensor(0.1))
state(optim.Adafactor, lr=torch.tensor(0.1))
state(optim.Adam, betas=(torch.tensor(0.9), torch.tensor(0.99)), lr=torch.tensor(0.1), foreach=False)
state(optim.Adam, betas=(torch.tensor(0.9), torch.tensor(0.99)), capturable=True, foreach=False)
state(optim.Adam, eps=torch.tensor(1e-8), foreach=False)
state(optim.Adam, weight_decay=torch.tensor(0.1))
state(optim.Adam, fused=True, foreach=True)
state(optim.Adam, fused=True, differentiable=True)
state(optim.SGD, lr=0.1, fused=True, differentiable=True)
# several devices
two(optim.Adam)
two(optim.Adam, fused=True)
two(optim.Adam, foreach=True)
two(optim.Adam, foreach=False)
two(optim.Adam, "cuda:0", "cpu")
two(optim.Adam, "cuda:0", "cpu", fused=True)
two(optim.Adam, "cuda:0", "cpu", foreach=True)
two(optim.Adam, "cuda:0", "cpu", capturable=True)
two(optim.SGD, "cuda:0", "cpu", lr=0.1, momentum=0.9)
two(optim.SGD, "cuda:0", "cpu", lr=0.1, momentum=0.9, foreach=True)
two(optim.SGD, lr=torch.tensor(0.1).cuda(), momentum=0.9)
two(optim.LBFGS)
two(optim.Adafactor)
two(optim.RMSprop, foreach=True)
two(optim.Adagrad, "cuda:0", "cpu")
optim.LBFGS([nn.Parameter(g(2)), nn.Parameter(c(2))]).step(lambda: g().requires_grad_())
p = nn.Parameter(g(2)); o = optim.LBFGS([p]); o.step(lambda: [o.zero_grad(), (p ** 2).sum().backward(), (p ** 2).sum()][2])
optim.Adam([nn.Parameter(g(2))]).step(lambda: g())
# moved after a step
moved(optim.Adam)
moved(optim.Adam, foreach=True)
moved(optim.Adam, foreach=False)
moved(optim.AdamW, fused=False, foreach=False)
moved(optim.SGD, lr=0.1, momentum=0.9)
moved(optim.SGD, lr=0.1, momentum=0.9, foreach=True)
moved(optim.SGD, lr=0.1)
moved(optim.Adagrad)
moved(optim.RMSprop)
moved(optim.Adadelta, foreach=True)
moved(optim.Adamax, foreach=False)
moved(optim.NAdam)
moved(optim.RAdam, foreach=True)
moved(optim.Rprop)
moved(optim.ASGD)
moved(optim.Adam, fused=True)
moved(optim.SGD, lr=0.1, momentum=0.9, fused=True)
o = stepped(optim.Adam, "cpu"); p = o.param_groups[0]["params"][0]; p.data = p.data.cuda(); o.load_state_dict(o.state_dict()); o.state[p]
# state loaded
o = optim.Adam([nn.Parameter(g(2, 2))]); o.load_state_dict(stepped(optim.Adam, "cpu").state_dict()); list(o.state.values())
o = optim.Adam([nn.Parameter(c(2, 2))]); o.load_state_dict(stepped(optim.Adam).state_dict()); list(o.state.values())
o = optim.Adam([nn.Parameter(h(2, 2))], capturable=True); o.load_state_dict(stepped(optim.Adam, "cpu").state_dict()); list(o.state.values()), o.param_groups[0]["capturable"]
o = optim.Adam([nn.Parameter(g(2, 2))]); o.load_state_dict(stepped(optim.Adam, capturable=True).state_dict()); list(o.state.values())
o = optim.Adam([nn.Parameter(c(2, 2))]); o.load_state_dict(stepped(optim.Adam, capturable=True).state_dict()); list(o.state.values())[0]["step"]
o = optim.Adam([nn.Parameter(g(2, 2))], fused=True); o.load_state_dict(stepped(optim.Adam, "cpu").state_dict()); list(o.state.values())
o = optim.Adam([nn.Parameter(g(2, 2))]); o.load_state_dict(stepped(optim.Adam, fused=True).state_dict()); list(o.state.values()), o.param_groups[0]["fused"]
o = optim.Adam([nn.Parameter(c(2, 2))]); o.load_state_dict(stepped(optim.Adam, fused=True).state_dict()); list(o.state.values())[0]["step"]
o = optim.Adam([nn.Parameter(g(2, 2).half())]); o.load_state_dict(stepped(optim.Adam, "cpu").state_dict()); list(o.state.values())
o = optim.SGD([nn.Parameter(g(2, 2))], 0.1, momentum=0.9); o.load_state_dict(stepped(optim.SGD, "cpu", lr=0.1, momentum=0.9).state_dict()); list(o.state.values())
o = optim.SGD([nn.Parameter(g(2, 2))], 0.1); o.load_state_dict(stepped(optim.Adam).state_dict()); list(o.state.values())
o = optim.SGD([nn.Parameter(g(2, 2)), nn.Parameter(g(2))], 0.1); o.load_state_dict(stepped(optim.Adam).state_dict())
o = optim.Rprop([nn.Parameter(g(2, 2))]); o.load_state_dict(stepped(optim.Rprop, "cpu").state_dict()); list(o.state.values())
o = optim.ASGD([nn.Parameter(g(2, 2))]); o.load_state_dict(stepped(optim.ASGD, "cpu").state_dict()); list(o.state.values())
# parameters and gradients
optim.SGD([g(2)], 0.1)
optim.SGD([g(2, requires_grad=True)], 0.1).param_groups[0]["params"]
optim.SGD([c(2, requires_grad=True).cuda()], 0.1)
optim.SGD(g(2), 0.1)
optim.SGD([], 0.1)
optim.SGD(nn.Linear(2, 2).cuda(), 0.1)
optim.Adam([nn.Parameter(c(2))], fused=True).param_groups[0]["fused"]
optim.Adam([nn.Parameter(g(2, dtype=torch.long), requires_grad=False)], fused=True)
optim.Adam([nn.Parameter(c(2, dtype=torch.complex64))], fused=True)
p = nn.Parameter(g(2)); o = optim.Adam([p], fused=True); p.grad = g(2); o.step(); p.data = c(2)
m = nn.Linear(2, 2); o = optim.SGD(m.parameters(), 0.1); m.cuda(); m(g(1, 2)).sum().backward(); o.step(); m.weight, o.param_groups[0]["params"]
m = nn.Linear(2, 2); o = optim.SGD(m.parameters(), 0.1); m.to("cuda:1"); o.param_groups[0]["params"][0] is m.weight
s = optim.lr_scheduler.StepLR(optim.SGD([nn.Parameter(g(2))], lr=torch.tensor(0.1).cuda()), 1); s.step(); s.get_last_lr()
s = optim.lr_scheduler.LambdaLR(optim.SGD([nn.Parameter(g(2))], lr=torch.tensor(0.1)), lambda e: 0.5); s.step(); s.get_last_lr()
s = optim.lr_scheduler.ReduceLROnPlateau(optim.SGD([nn.Parameter(g(2))], 0.1)); s.step(g()); s.get_last_lr()
w = optim.swa_utils.AveragedModel(nn.Linear(2, 2).cuda()); w.update_parameters(nn.Linear(2, 2)); w.module.weight
w = optim.swa_utils.AveragedModel(nn.Linear(2, 2), device="cuda"); w.update_parameters(nn.Linear(2, 2)); w.update_parameters(nn.Linear(2, 2)); w.module.weight, w.n_averaged
w = optim.swa_utils.AveragedModel(nn.Linear(2, 2), device="cuda", multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn()); w.update_parameters(nn.Linear(2, 2)); w.update_parameters(nn.Linear(2, 2)); w.module.weight
w = optim.swa_utils.AveragedModel(nn.Linear(2, 2).cuda()); w(c(1, 2))
torch._foreach_add([g(2), g(2)], [g(2), c(2)])
torch._foreach_add([g(2), c(2)], [g(2), c(2)])
torch._foreach_add([g(2), c(2)], 1.0)
torch._foreach_mul_([g(2)], c())
torch._foreach_mul_([g(2)], g())
torch._foreach_mul_([g(2)], h())
torch._foreach_add_([g(2)], c())
torch._foreach_add([c(2)], g())
torch._foreach_mul([c(2)], g())
torch._foreach_norm([g(2), h(2)])
torch._foreach_lerp_([g(2)], [c(2)], 0.5)
torch._foreach_addcdiv_([g(2)], [g(2)], [c(2)], 1.0)
torch._foreach_addcmul_([g(2)], [g(2)], [g(2)], c(1))
torch._foreach_addcmul_([g(2)], [g(2)], [g(2)], g(1))
torch._foreach_copy_([g(2)], [c(2)])
torch._foreach_copy_([c(2)], [g(2)])
torch._foreach_add([g(2)], [g(2), g(2)])
torch._foreach_add([g(2)], [c(2), c(2)])
torch._foreach_add([], [])
torch._foreach_zero_([g(2), c(2)])
torch._fused_sgd_([g(2)], [c(2)], [], weight_decay=0.0, momentum=0.0, lr=0.1, dampening=0.0, nesterov=False, maximize=False, is_first_step=True)
torch._fused_adam_([g(2)], [g(2)], [g(2)], [g(2)], [], [c()], lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False)
torch._fused_adam_([g(2)], [c(2)], [g(2)], [g(2)], [], [g()], lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False)
torch._fused_adamw_([g(2)], [g(2)], [g(2)], [g(2)], [], [g()], lr=g(), beta1=0.9, beta2=0.99, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False, grad_scale=c(), found_inf=c())
torch._fused_adam_([c(2)], [g(2)], [c(2)], [c(2)], [], [c()], lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False)
