"""Modules, containers, hooks, parametrizations, pruning, parallel modules, and what an optimizer's loop does with them."""

from torch import optim
from torch.nn.utils import clip_grad_norm_, clip_grad_value_, parameters_to_vector, parametrizations, parametrize, prune, vector_to_parameters


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2


class Offset(nn.Module):
    """A parametrization with a buffer of its own."""

    def __init__(self):
        super().__init__()
        self.register_buffer("by", torch.ones(2, 2))

    def forward(self, x):
        return x + self.by


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = [nn.Linear(2, 2), nn.Linear(2, 2)]
        self.last = nn.Linear(2, 2)

    def forward(self, x):
        return self.last(sum(branch(x) for branch in self.branches))


def with_gradients(device="cuda", other=None):
    """Parameters with gradients."""
    ps = [nn.Parameter(torch.ones(2, device=d)) for d in (device, other or device)]
    for p in ps:
        p.grad = torch.ones_like(p)
    return ps


def one_step(optimizer):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad = torch.ones_like(p)
    optimizer.step()
    return optimizer


# containers
Branches().cuda()(g(1, 2))
Branches()(g(1, 2))
[p.device for p in Branches().cuda().parameters()]
nn.ModuleDict({"a": nn.Linear(2, 2)}).cuda()["a"](g(1, 2))
nn.ModuleDict({"a": nn.Linear(2, 2)}).cuda()["b"]
nn.ModuleList([nn.Linear(2, 2).cuda(), nn.Linear(2, 2)])[1](g(1, 2))
nn.ModuleList([nn.Linear(2, 2)]).cuda()(g(1, 2))
nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).cuda())(g(1, 2))
nn.Sequential(nn.Linear(2, 2).cuda(), nn.Linear(2, 2).cuda(1))(g(1, 2))
nn.Sequential(nn.Flatten(), nn.Linear(4, 2)).cuda()(g(1, 2, 2)), nn.Sequential()(h(1))
nn.Sequential(nn.Linear(2, 2)).cuda().append(nn.Linear(2, 2))(g(1, 2))
nn.ParameterDict({"w": c(2)}).cuda()["w"], nn.ParameterList([c(2)]).to("cuda:1")[0]
nn.Linear(2, 2).cuda().weight + nn.Linear(2, 2).weight
nn.Linear(2, 2).requires_grad_(False).cuda().weight.requires_grad, nn.Linear(2, 2).cuda().eval().training
nn.Linear(2, 2).cuda().double()(g(1, 2).double()), nn.Linear(2, 2).half().cuda(1)(h(1, 2).half())
nn.Linear(2, 2).bfloat16().cuda()(g(1, 2))
nn.Linear(2, 2).to("cuda", non_blocking=True).bias, nn.Linear(2, 2).to(device="cuda:1", dtype=torch.half).bias
nn.Linear(2, 2).to("cuda", "cpu")
nn.Linear(2, 2).to(cuda=True)
nn.Linear(2, 2).to(torch.device("cuda"), torch.int32)
nn.Linear(2, 2).cuda(device="cuda:3")
nn.Linear(2, 2).cuda(0, 1)
nn.Linear(2, 2).cpu().cuda(None).weight, nn.Linear(2, 2).to("cuda:0").cpu().weight
nn.Linear(2, 2).device
nn.Linear(2, 2).cuda().to_empty(device="cpu").weight, nn.Linear(2, 2).to_empty(device="cuda:1").weight
nn.Linear(2, 2).to_empty("cuda")
nn.Linear(2, 2, device="meta").to("cuda:1")
nn.Linear(2, 2, device=g(2).device, dtype=torch.half).weight, nn.Conv2d(1, 1, 1, device="cuda:1").bias, nn.GRUCell(1, 1, device="cuda").weight_ih
nn.Linear(2, 2, "cuda").weight
nn.BatchNorm1d(2, device="cuda:1").running_mean, nn.MultiheadAttention(4, 2, device="cuda").in_proj_weight, nn.Embedding(2, 2, device="cuda").weight
nn.CrossEntropyLoss(weight=torch.ones(3)).cuda().weight, nn.CrossEntropyLoss().cuda()(g(1, 3), torch.tensor([1]).cuda())
nn.LazyLinear(2).cuda()(g(1, 3)), nn.LazyLinear(2, device="cuda:1")(h(1, 3))
nn.LazyLinear(2).cuda()(c(1, 3))
nn.LazyLinear(2)(g(1, 3))
nn.LazyBatchNorm1d().cuda()(g(2, 3))
m = nn.Linear(2, 2).cuda(); m.weight = nn.Parameter(c(2, 2)); m(g(1, 2))
m = nn.Linear(2, 2).cuda(); m.weight = c(2, 2)
m = nn.Linear(2, 2).cuda(); m.weight.data = c(2, 2); m(c(1, 2))
m = nn.Linear(2, 2).cuda(); m.weight.data.copy_(c(2, 2)), m.bias.data.fill_(1.0)
m = nn.Linear(2, 2).cuda(); m.bias = None; m(g(1, 2)), m(c(1, 2))
m = nn.Module(); m.register_buffer("b", c(2)); m.register_parameter("p", nn.Parameter(c(2))); m.cuda(); m.b, m.p
m = nn.Module(); m.register_buffer("b", c(2)); m.b = g(2); m.cuda(1); m.b
m = nn.Module(); m.register_buffer("b", [1.0])
m = nn.Module(); m.register_parameter("p", g(2))
m = nn.Module(); m.x = c(2); m.cuda(); m.x
m = nn.Module(); m.p = nn.Parameter(c(2)).cuda(); len(list(m.parameters()))
m = nn.Linear(2, 2).cuda(); m(g(1, 2)).sum().backward(); m.cpu(); m.weight.grad, m.zero_grad()
m = nn.Linear(2, 2); m(c(1, 2)).sum().backward(); m.cuda(1); m.weight.grad
m = nn.Linear(2, 2).cuda(); m.weight.grad = c(2, 2)
m = nn.Linear(2, 2).cuda(); m.weight.grad = h(2, 2)
m = nn.Linear(2, 2).cuda(); m.share_memory(); m.float().half().weight
m = nn.Linear(2, 2).cuda(); m.apply(lambda x: x.cpu() if isinstance(x, nn.Linear) else x).weight
m = nn.Linear(2, 2).cuda(); m._apply(lambda t: t.to("cuda:1")).weight
nn.utils.skip_init(nn.Linear, 2, 2, device="cuda").weight
nn.utils.fuse_conv_bn_eval(nn.Conv2d(1, 1, 1).cuda().eval(), nn.BatchNorm2d(1).cuda().eval()).weight
nn.utils.fuse_conv_bn_eval(nn.Conv2d(1, 1, 1).cuda().eval(), nn.BatchNorm2d(1).eval()).weight
nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(2)).cuda())[0].weight
nn.SyncBatchNorm(2)(c(3, 2))
nn.SyncBatchNorm(2).eval().cuda()(g(3, 2))
# hooks
m = nn.Linear(2, 2).cuda(); m.register_forward_hook(lambda m, a, out: out.cpu()); m(g(1, 2))
m = nn.Linear(2, 2).cuda(); m.register_forward_pre_hook(lambda m, a: (a[0].cuda(),)); m(c(1, 2))
m = nn.Linear(2, 2).cuda(); m.register_forward_pre_hook(lambda m, a: a[0].cpu()); m(g(1, 2))
m = nn.Linear(2, 2).cuda(); m.register_forward_hook(lambda m, a, out: out + c(2)); m(g(1, 2))
m = nn.Linear(2, 2).cuda(); seen = []; m.register_full_backward_hook(lambda m, i, o: seen.append(o[0].device)); m(g(1, 2)).sum().backward(); seen
m = nn.Linear(2, 2).cuda(); m.register_full_backward_hook(lambda m, i, o: (c(1, 2),)); m(g(1, 2, requires_grad=True)).sum().backward()
m = nn.Linear(2, 2).cuda(); m.register_full_backward_pre_hook(lambda m, o: (o[0].cpu(),)); m(g(1, 2)).sum().backward()
x = g(2, requires_grad=True); x.register_hook(lambda d: d.cpu()); (x * 2).sum().backward()
x = g(2, requires_grad=True); x.register_hook(lambda d: d * c(2)); (x * 2).sum().backward()
x = g(2, requires_grad=True); y = x * 2; y.register_hook(lambda d: h(2)); y.sum().backward()
x = g(2, requires_grad=True); seen = []; x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.device)); (x * 2).sum().backward(); seen
with nn.modules.module.register_module_forward_hook(lambda m, a, out: out.cuda(1)):
    nn.Linear(2, 2).cuda()(g(1, 2))
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.cpu(), lambda t: t):
    x = g(2, requires_grad=True); y = (x ** 2).sum(); y.backward()
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.cpu(), lambda t: t.cuda()):
    x = g(2, requires_grad=True); y = (x ** 2).sum(); y.backward(); x.grad
with torch.autograd.graph.save_on_cpu(pin_memory=True):
    x = g(2, requires_grad=True); y = (x * x.exp()).sum(); y.backward(); x.grad
# parametrizations and pruning
m = nn.Linear(2, 2).cuda(); parametrize.register_parametrization(m, "weight", Doubled()); m(g(1, 2)), m.parametrizations.weight.original
m = nn.Linear(2, 2).cuda(); parametrize.register_parametrization(m, "weight", Offset())
m = nn.Linear(2, 2).cuda(); parametrize.register_parametrization(m, "weight", Offset().cuda()); m.cpu(); m(c(1, 2)), m.parametrizations.weight[0].by
m = nn.Linear(2, 2); parametrize.register_parametrization(m, "weight", Offset()); m.cuda(); m.weight
m = nn.Linear(2, 2).cuda(); parametrize.register_parametrization(m, "weight", Offset(), unsafe=True); m(g(1, 2))
m = nn.Linear(2, 2); parametrize.register_parametrization(m, "weight", Doubled()); m.cuda(); parametrize.remove_parametrizations(m, "weight"); m.weight
m = parametrizations.spectral_norm(nn.Linear(2, 2).cuda()); m(c(1, 2))
m = parametrizations.orthogonal(nn.Linear(2, 2)).cuda(); m.parametrizations.weight.original
m = nn.utils.weight_norm(nn.Linear(2, 2)).cuda(); m.weight_g, m.weight_v, m.weight
m = nn.utils.weight_norm(nn.Linear(2, 2)).cuda(); m(g(1, 2)), m.weight
m = nn.utils.spectral_norm(nn.Linear(2, 2)).cuda(); m.weight_u, m.weight_orig
m = prune.random_unstructured(nn.Linear(2, 2).cuda(), "weight", 0.5); m.weight_mask, m(g(1, 2))
m = prune.l1_unstructured(nn.Linear(2, 2), "weight", 1).cuda(); m.weight_mask, m.weight_orig, m.weight
m = prune.l1_unstructured(nn.Linear(2, 2), "weight", 1).cuda(); m(g(1, 2))
m = prune.identity(nn.Linear(2, 2).cuda(), "bias"); prune.remove(m, "bias"); m.bias
m = prune.custom_from_mask(nn.Linear(2, 2).cuda(), "weight", c(2, 2))
m = prune.ln_structured(nn.Linear(2, 2).cuda(), "weight", 1, 2, 0); m.weight
m = nn.Linear(2, 2).cuda(); prune.global_unstructured([(m, "weight"), (nn.Linear(2, 2), "weight")], prune.L1Unstructured, amount=1)
prune.is_pruned(nn.Linear(2, 2).cuda())
# optimizers and their loop
clip_grad_norm_(with_gradients(), 1.0)
clip_grad_norm_(with_gradients("cuda", "cpu"), 1.0)
clip_grad_norm_(with_gradients("cuda:0", "cuda:1"), 1.0)
clip_grad_norm_(with_gradients("cuda", "cpu"), 1.0, foreach=True)
clip_grad_norm_(with_gradients("cuda", "cpu"), 1.0, foreach=False)
clip_grad_norm_(with_gradients(), c())
clip_grad_norm_(with_gradients(), 1.0, norm_type="inf", error_if_nonfinite=True)
clip_grad_norm_([], 1.0), clip_grad_norm_(nn.Parameter(g(2)), 1.0)
clip_grad_norm_(g(2), 1.0), clip_grad_value_(with_gradients("cuda", "cpu"), 0.5)
nn.utils.get_total_norm([g(2), h(2)]), nn.utils.get_total_norm([c(2), g(2)])
nn.utils.clip_grads_with_norm_(with_gradients(), 1.0, c())
nn.utils.clip_grads_with_norm_(with_gradients("cuda:1"), 1.0, g())
parameters_to_vector(nn.Linear(2, 2).cuda().parameters())
parameters_to_vector([nn.Parameter(g(2)), nn.Parameter(c(2))])
vector_to_parameters(c(4), [nn.Parameter(g(2)), nn.Parameter(c(2))])
p = [nn.Parameter(g(2)), nn.Parameter(g(2))]; vector_to_parameters(c(4), p); p[0]
one_step(optim.Adam([nn.Parameter(g(2))], lr=c())).state_dict()["param_groups"][0]["lr"]
one_step(optim.Adam([{"params": [nn.Parameter(g(2))]}, {"params": [nn.Parameter(c(2))], "lr": 0.1}])).param_groups[1]["params"]
one_step(optim.SGD([nn.Parameter(g(2)), nn.Parameter(h(2))], 0.1, momentum=0.9, weight_decay=0.1, nesterov=True)).param_groups[0]["params"]
one_step(optim.AdamW([nn.Parameter(c(2)), nn.Parameter(h(2))], fused=True)).param_groups[0]["fused"]
one_step(optim.SparseAdam([nn.Parameter(g(2))]))
one_step(optim.Muon([nn.Parameter(g(2))]))
o = optim.SGD([nn.Parameter(g(2))], 0.1); o.add_param_group({"params": [nn.Parameter(c(2))]}); one_step(o).param_groups[1]["params"]
o = optim.SGD([nn.Parameter(g(2))], 0.1); o.add_param_group({"params": o.param_groups[0]["params"]})
o = optim.Adam([nn.Parameter(g(2))]); one_step(o); o.zero_grad(set_to_none=False); o.param_groups[0]["params"][0].grad
o = optim.Adam([nn.Parameter(g(2))]); one_step(o); o.load_state_dict({"state": {0: {"step": c(), "exp_avg": h(2), "exp_avg_sq": c(2)}}, "param_groups": o.state_dict()["param_groups"]}); list(o.state.values())
o = optim.Adam([nn.Parameter(g(2))]); list(one_step(o).state.values())[0]["exp_avg"].add_(c(2))
o = one_step(optim.Adam([nn.Parameter(g(2))], foreach=True)); o.param_groups[0]["params"][0].data = h(2); one_step(o)
o = one_step(optim.SGD([nn.Parameter(g(2))], 0.1, momentum=0.9)); o.state[o.param_groups[0]["params"][0]]["momentum_buffer"] = c(2); one_step(o)
o = one_step(optim.RMSprop([nn.Parameter(g(2))])); o.state[o.param_groups[0]["params"][0]]["square_avg"] = c(2); one_step(o)
o = optim.Adam(nn.Linear(2, 2).cuda().named_parameters()); one_step(o).state_dict()["param_groups"][0]["param_names"]
o = optim.Adam([nn.Parameter(g(2))]); o.register_step_post_hook(lambda o, a, k: 1 / 0); one_step(o)
s = optim.lr_scheduler.OneCycleLR(optim.Adam([nn.Parameter(g(2))]), 0.1, total_steps=5); s.step(); s.last_epoch
s = optim.lr_scheduler.CosineAnnealingLR(optim.Adam([nn.Parameter(g(2))], lr=torch.tensor(0.1).cuda()), 5); one_step(s.optimizer); s.step(); s.get_last_lr()
s = optim.lr_scheduler.ReduceLROnPlateau(optim.SGD([nn.Parameter(g(2))], 0.1)); s.step(g(2))
s = optim.lr_scheduler.SequentialLR(o := optim.SGD([nn.Parameter(g(2))], 0.1), [optim.lr_scheduler.ConstantLR(o), optim.lr_scheduler.ExponentialLR(o, 0.9)], [1]); s.last_epoch
optim.lr_scheduler.StepLR(nn.Linear(2, 2).cuda(), 1)
w = optim.swa_utils.AveragedModel(nn.Linear(2, 2).cuda(), device="cpu"); w.update_parameters(nn.Linear(2, 2).cuda()); w.module.weight, w.n_averaged
w = optim.swa_utils.AveragedModel(nn.Linear(2, 2).cuda(), multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.9), use_buffers=True); w.update_parameters(nn.Linear(2, 2).cuda()); w.update_parameters(nn.Linear(2, 2).cuda()); w.module.weight
w = optim.swa_utils.AveragedModel(nn.Linear(2, 2), avg_fn=optim.swa_utils.get_ema_avg_fn(0.9)); w.update_parameters(nn.Linear(2, 2).cuda()); w.update_parameters(nn.Linear(2, 2).cuda()); w.module.weight
w = optim.swa_utils.AveragedModel(nn.Linear(2, 2)).cuda(); w.n_averaged, w(g(1, 2))
optim.swa_utils.update_bn([c(3, 2)], nn.Linear(2, 2).cuda(), device="cuda")
s = optim.swa_utils.SWALR(optim.SGD([nn.Parameter(g(2))], 0.1), swa_lr=0.05); s.step(); s.last_epoch
# parallel modules
nn.DataParallel(nn.Linear(2, 2).cuda(1))(g(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda(), device_ids=["cuda:0", "cuda:1"])(g(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda(), device_ids=[0])(c(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda(), device_ids=["cpu"])
nn.DataParallel(nn.Linear(2, 2), device_ids=[])(c(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda(), dim=1)(g(2, 4))
nn.DataParallel(nn.Linear(2, 2).cuda())(g(1, 2)), nn.DataParallel(nn.Linear(2, 2).cuda()).device_ids, nn.DataParallel(nn.Linear(2, 2).cuda()).src_device_obj
nn.DataParallel(nn.Linear(2, 2)).cuda()(g(4, 2)), nn.DataParallel(nn.Linear(2, 2)).module.weight
nn.DataParallel(nn.Linear(2, 2).cuda())(g(4, 3))
nn.DataParallel(nn.Linear(2, 2).cuda())()
nn.DataParallel(Branches().cuda())(g(4, 2))
nn.DataParallel(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).cuda()))(g(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda(), output_device="cpu")(g(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda(), output_device=5)(g(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda())(g(4, 2)) + h(4, 2)
F.mse_loss(nn.DataParallel(nn.Linear(2, 2).cuda())(g(4, 2)), c(4, 2))
nn.parallel.data_parallel(nn.Linear(2, 2).cuda(), g(4, 2), [0, 1], output_device=1)
nn.parallel.data_parallel(nn.Linear(2, 2).cuda(1), g(4, 2), [0, 1])
nn.parallel.scatter(g(4), [0, 1]), nn.parallel.scatter({"a": g(2), "b": 3}, [0, 1]), nn.parallel.scatter([c(2)], [1])
nn.parallel.scatter(g(4), ["cuda:1", "cpu"])
nn.parallel.gather([g(2), h(2)], 1), nn.parallel.gather([{"a": g(1)}, {"a": h(1)}], 0)
nn.parallel.gather([g(2), c(2)], 0)
nn.parallel.gather([3, 4], 0)
nn.parallel.replicate(nn.Linear(2, 2).cuda(), [0, 1])[1].weight
nn.parallel.replicate(nn.Linear(2, 2), [0, 1])
nn.parallel.replicate(nn.Linear(2, 2).cuda(), ["cuda:1", "cuda:0"])
nn.parallel.parallel_apply([nn.Linear(2, 2).cuda(), nn.Linear(2, 2).cuda(1)], [g(1, 2), h(1, 2)])
nn.parallel.parallel_apply([nn.Linear(2, 2).cuda(), nn.Linear(2, 2).cuda(1)], [g(1, 2), g(1, 2)])
nn.parallel.parallel_apply([nn.Linear(2, 2).cuda()], [g(1, 2), g(1, 2)])
nn.parallel.comm.broadcast_coalesced([g(2)], [0, 1])
nn.parallel.DistributedDataParallel(nn.Linear(2, 2).cuda())
nn.init.xavier_uniform_(g(2, 2)), nn.init.constant_(h(2), 3), nn.init.orthogonal_(g(2, 2)), nn.init.eye_(g(2, 2)), nn.init.dirac_(h(1, 1, 1))
nn.init.xavier_normal_(g(2))
nn.init.sparse_(g(2, 2), 0.5), nn.init.ones_(g(2)), nn.init.kaiming_normal_(c(2, 2).cuda(1))
