"""Gradients in training programs: functions of one's own, offloading, checkpoints, hooks on modules, forward mode."""

import torch.autograd.forward_ad as fwAD
from torch.autograd import Function, grad
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Round(Function):
    """A straight-through estimator."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, y):
        return y


class Multiply(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, z):
        x, y = ctx.saved_tensors
        return z * y, z * x


class Offloaded(Function):
    """What it saves it keeps on the CPU, and forgets to bring back."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.cpu())
        return x * x

    @staticmethod
    def backward(ctx, y):
        (x,) = ctx.saved_tensors
        return 2 * x * y


class Constant(Function):
    @staticmethod
    def forward(ctx, x, value):
        ctx.value = value
        return x * 2

    @staticmethod
    def backward(ctx, y):
        return torch.full(ctx.value, 2.0), None


class Nothing(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, z):
        return z, None


class TooMany(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, y):
        return y, y


class Dirty(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, y):
        return y * 2


class Unused(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x.cpu()

    @staticmethod
    def backward(ctx, y, z):
        return y + z.to(y.device)


class Zeros(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, y, z):
        return (y if z is None else z).cpu()


class Split(Function):
    """In two static methods, as torch.func wants it."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, z):
        x, y = ctx.saved_tensors
        return z * y, z * x


def wrong_device(x):
    return torch.ones(x.shape)


# functions
x = g(3, requires_grad=True); Round.apply(x).sum().backward(); x.grad
x = c(3, requires_grad=True); Round.apply(x.cuda()).sum().backward(); x.grad
x = g(3, requires_grad=True); Multiply.apply(x, c(3))
x = g(3, requires_grad=True); Multiply.apply(x, c()).sum().backward(); x.grad
x, y = g(3, requires_grad=True), c(requires_grad=True); Multiply.apply(x, y).sum().backward(); y.grad
x, y = g(3, requires_grad=True), g(1, requires_grad=True); Multiply.apply(x, y).sum().backward(); y.grad
x, y = g(3, requires_grad=True), g(3, requires_grad=True); Multiply.apply(x, y).backward(c(3))
x, y = g(3, requires_grad=True), h(3, requires_grad=True); Multiply.apply(x, y)
x = g(3, requires_grad=True); Offloaded.apply(x).sum().backward()
x = g(requires_grad=True); Offloaded.apply(x).backward(); x.grad
x = g(3, requires_grad=True); Offloaded.apply(x)
x = g(3, requires_grad=True); Constant.apply(x, (3,)).sum().backward()
x = g(3, requires_grad=True); Constant.apply(x, ()).sum().backward(); x.grad
x = g(3, requires_grad=True); Constant.apply(x, (4,)).sum().backward()
x = g(3, requires_grad=True); Constant.apply(x, (1,)).sum().backward()
x = g(3, requires_grad=True); Constant.apply(x, (2, 3)).sum().backward()
x = g(3, requires_grad=True); Constant.apply(x * 2, (3,)).sum().backward()
x, y = g(3, requires_grad=True), g(3, requires_grad=True); Nothing.apply(x, y).sum().backward(); x.grad, y.grad
Nothing.apply(g(3, requires_grad=True), c(3))
x = g(3, requires_grad=True); TooMany.apply(x).sum().backward()
x = g(3, requires_grad=True); Dirty.apply(x)
x = g(3, requires_grad=True); Dirty.apply(x.clone()).sum().backward(); x.grad
x = g(3, requires_grad=True); Unused.apply(x)[0].sum().backward(); x.grad
x = g(3, requires_grad=True); Unused.apply(x)[1].sum().backward(); x.grad
x = g(3, requires_grad=True); Zeros.apply(x)[0].sum().backward()
x = g(3, requires_grad=True); Zeros.apply(x)[1].sum().backward()
x = g(3, requires_grad=True); Split.apply(x, g(3)).sum().backward(); x.grad
torch.func.grad(lambda x: Split.apply(x, g(3)).sum())(g(3))
torch.func.grad(lambda x: Split.apply(x, c(3)).sum())(g(3))
torch.func.grad(lambda x: Round.apply(x).sum())(g(3))
torch.func.vmap(Split.apply)(g(2, 3), c(2, 3))
torch.func.vmap(Split.apply)(g(2, 3), g(2, 3))
Round.apply(g(3)).requires_grad, Round.apply(g(3, requires_grad=True)).requires_grad
Round(g(3))
Round().forward(g(3))
Round.apply()
with torch.no_grad():
    Multiply.apply(g(3, requires_grad=True), g(3)).grad_fn
# gradients given, asked for, assigned
y = g(3, requires_grad=True) * 2; y.backward(gradient=c(1))
y = g(3, requires_grad=True) * 2; y.backward(gradient=c(3, 1))
y = g(3, requires_grad=True) * 2; y.backward(gradient=g(1))
y = g(3, requires_grad=True) * 2; y.backward(gradient=h())
y = g(3, requires_grad=True) * 2; y.backward(gradient=[1.0, 1.0, 1.0])
y = g(3, requires_grad=True) * 2; y.backward(gradient=c(3).bool())
y = g(3, requires_grad=True).sum(); y.backward(gradient=c(1))
y = g(3, requires_grad=True).sum(); y.backward(gradient=h())
y = g(3, requires_grad=True).sum(); y.backward(torch.tensor(2.0))
y = g(3, requires_grad=True).sum(); y.backward(torch.tensor(2))
y = (c(3, requires_grad=True) * 2).cuda(); y.backward(c(3))
y = (c(3, requires_grad=True) * 2).cuda(); y.backward(torch.ones_like(y))
x = c(3, requires_grad=True); y = (x * 2).cuda(); y.backward(g(3)); x.grad
x = g(3, requires_grad=True); y = x * 2; y.sum().backward(inputs=[y])
x = g(3, requires_grad=True); y = x * 2; y.sum().backward(inputs=x); x.grad
x = g(3, requires_grad=True); (x * 2).sum().backward(inputs=[c(3)])
x = g(3, requires_grad=True); (x * 2).sum().backward(inputs=[])
x = g(3, requires_grad=True); (x * 2).sum().backward(create_graph=True); x.grad.requires_grad
x, y = g(3, requires_grad=True), c(3, requires_grad=True); grad(x.sum() + y.sum().cuda(), [x, y])
x, y = g(3, requires_grad=True), c(3, requires_grad=True); grad([x.sum(), y.sum()], [x, y])
x, y = g(3, requires_grad=True), c(3, requires_grad=True); grad([x * 2, y * 2], [x, y], [g(3), g(3)])
x, y = g(3, requires_grad=True), c(3, requires_grad=True); grad([x * 2, y * 2], [x, y], [c(3), c(3)])
x, y = g(3, requires_grad=True), c(3, requires_grad=True); grad([x * 2, y * 2], [x, y], [g(3), None])
x = g(3, requires_grad=True); grad(x.cpu() * 2, x, grad_outputs=c(3))
x = g(3, requires_grad=True); grad(x.cpu() * 2, x, grad_outputs=g(3))
x = g(3, requires_grad=True); grad(x * 2, x, grad_outputs=(g(3), g(3)))
x = g(3, requires_grad=True); grad(x * 2, x)
x = g(3); grad(x.sum(), x)
x = g(3, requires_grad=True); grad(x.sum(), c(3))
x = g(3, requires_grad=True); grad(x.cpu(), x, torch.eye(3), is_grads_batched=True)
x = g(3, requires_grad=True); grad(x.cpu(), x, torch.eye(3).cuda(), is_grads_batched=True)
x = g(3, requires_grad=True); y = grad((x ** 3).sum(), x, create_graph=True)[0]; grad(y, x, c(3))
x = g(3, requires_grad=True); y = grad((x ** 3).sum(), x, create_graph=True)[0]; (y + c(3)).sum()
x = g(3, requires_grad=True); y = grad((x.cpu() ** 3).sum(), x, create_graph=True)[0]; y.sum().backward(); x.grad
x = c(3, requires_grad=True); y = grad((x.cuda() ** 2).sum(), x, create_graph=True)[0]; (y ** 2).sum().backward(); x.grad
x = g(3, requires_grad=True); x.grad = c()
x = g(3, requires_grad=True); x.grad = torch.zeros_like(x, device="cpu")
x = g(3, requires_grad=True); x.grad = g(3).half()
x = g(3, requires_grad=True); x.grad = h(3).double()
x = g(3); x.grad = g(3); x.grad.device
x = g(3, requires_grad=True); x.sum().backward(); x.grad = x.grad.cpu()
x = g(3, requires_grad=True); x.sum().backward(); x.grad.copy_(c(3)); x.grad
x = g(3, requires_grad=True); x.sum().backward(); x.grad += c(3)
x = g(3, requires_grad=True); x.sum().backward(); x.grad += c()
x = g(3, requires_grad=True); x.sum().backward(); x.grad.add_(g(3)); x.grad
x = g(3, requires_grad=True); x.sum().backward(); x.grad.data = c(3); x.grad
x = g(3, requires_grad=True); x.sum().backward(); del x.grad; x.grad
x = h(3, requires_grad=True); x.sum().backward(); x.grad.zero_(); x.grad, x.grad.is_leaf
p = nn.Parameter(g(3)); p.grad = p.detach().cpu()
m = nn.Linear(3, 2).cuda(); m(g(4, 3)).sum().backward(); {n: p.grad for n, p in m.named_parameters()}
m = nn.Linear(3, 2).cuda(); m(g(4, 3)).sum().backward(); torch.cat([p.grad.flatten() for p in m.parameters()])
m = nn.Linear(3, 2).cuda(); m(g(4, 3)).sum().backward(); [setattr(p, "grad", p.grad.cpu()) for p in m.parameters()]
m, n = nn.Linear(3, 2).cuda(), nn.Linear(3, 2); [setattr(q, "grad", p) for p, q in zip(m.parameters(), n.parameters())]
m, n = nn.Linear(3, 2).cuda(), nn.Linear(3, 2); m(g(4, 3)).sum().backward(); [q.grad.copy_(p.grad) for p, q in zip(m.parameters(), n.parameters())]
m = nn.Sequential(nn.Linear(3, 2).cuda(), nn.Linear(2, 1).to("cuda:1")); m[1](m[0](g(4, 3)).to("cuda:1")).sum().backward(); m[0].weight.grad, m[1].weight.grad
m = nn.Linear(3, 2).cuda(); m(g(4, 3)).sum().backward(); m.to("cuda:1"); m.weight.grad
F.mse_loss(nn.Linear(3, 2).cuda()(g(4, 3)).cpu(), g(4, 2)).backward()
F.mse_loss(nn.Linear(3, 2).cuda()(g(4, 3)).cpu(), c(4, 2)).backward()
x = g(3, requires_grad=True); (x.detach().cpu() + c(3)).requires_grad
x = g(3, requires_grad=True); x.numpy()
x = g(3, requires_grad=True); x.cpu().numpy()
x = g(3, requires_grad=True); x.tolist() is None, float(x.sum()) is None
x = g(3, requires_grad=True); x.copy_(c(3))
x = g(3, requires_grad=True); x[0] = 1.0
x = g(3, requires_grad=True); y = x * 1; y[0] = c(); y.sum().backward(); x.grad
x = c(requires_grad=True); y = g(3) * 1; y[0] = x; y.sum().backward(); x.grad
x = c(2, requires_grad=True); y = g(3) * 1; y[:2] = x; y.sum().backward(); x.grad
x = c(2, requires_grad=True); y = g(2) * 1; y.copy_(x); y.sum().backward(); x.grad
x = g(2, requires_grad=True); y = x.sin(); y.add_(1); y.sum().backward(); x.grad
x = g(2, requires_grad=True); y = x.exp(); y.add_(1); y.sum().backward()
x = g(2, requires_grad=True); y = x.exp(); y.copy_(c(2)); y.sum().backward()
x = g(2, 2, requires_grad=True); y = x.unbind(); y[0].add_(1)
x = c(requires_grad=True); torch.where(g(3) > 0, x, g(3)).sum().backward(); x.grad
x = c(requires_grad=True); g(3).masked_fill(g(3).bool(), x).sum().backward(); x.grad
x = c(requires_grad=True); torch.lerp(g(3), g(3), x).sum().backward(); x.grad
x = c(requires_grad=True); (g(3) - x).sum().backward(); x.grad
x = c(requires_grad=True); (x / g(3)).sum().backward(); x.grad
x = c(requires_grad=True); torch.maximum(g(3), x).sum().backward(); x.grad
x = c(requires_grad=True); torch.stack([x, x]).cuda().sum().backward(); x.grad
x = c(requires_grad=True); grad((g(3) * x).sum(), x)
x = c(3, requires_grad=True); x.to("cuda", torch.half).sum().backward(); x.grad
x = g(3, requires_grad=True); x.to("cpu", torch.double).sum().backward(); x.grad
x = g(3, requires_grad=True); x.to("cuda:1", non_blocking=True).sum().backward(); x.grad
x = g(3, requires_grad=True); torch.tensor(x).requires_grad
x = g(3, requires_grad=True); x.type(torch.FloatTensor).sum().backward(); x.grad
# hooks
x = g(3, requires_grad=True); x.register_hook(wrong_device); (x * 2).sum().backward()
x = g(3, requires_grad=True); x.register_hook(lambda y: y.to("cuda:1")); (x * 2).sum().backward()
x = g(3, requires_grad=True); x.register_hook(lambda y: y.clamp(max=c())); (x * 2).sum().backward(); x.grad
x = g(3, requires_grad=True); x.register_hook(lambda y: None); (x * 2).sum().backward(); x.grad
x = g(3, requires_grad=True); x.register_hook(lambda y: y.half()); (x * 2).sum().backward()
x = g(3, requires_grad=True); x.register_hook(lambda y: y.sum()); (x * 2).sum().backward()
x = g(3, requires_grad=True); x.register_hook("hook")
x = g(3, requires_grad=True); k = x.register_hook(wrong_device); k.remove(); x.sum().backward(); x.grad
x = c(3, requires_grad=True); y = x.cuda(); y.register_hook(lambda z: z.cpu()); y.sum().backward()
x = c(3, requires_grad=True); y = x.cuda(); y.register_hook(lambda z: z * 2); y.sum().backward(); x.grad
x = g(3, requires_grad=True); y = x * 2; y.grad_fn.register_hook(lambda i, o: (i[0].cpu(), None)); y.sum().backward()
x = g(3, requires_grad=True); y = x * 2; y.grad_fn.register_prehook(lambda o: (o[0].cpu(),)); y.sum().backward()
x = g(3, requires_grad=True); y = x * 2; y.grad_fn.register_hook(lambda i, o: None); y.sum().backward(); x.grad
x = g(3, requires_grad=True); x.register_post_accumulate_grad_hook(lambda p: p.grad.cpu()); x.sum().backward(); x.grad
x = g(3, requires_grad=True); x.register_post_accumulate_grad_hook(lambda p: p.grad.add_(c(3))); x.sum().backward()
x = g(3, requires_grad=True); (x * 2).register_post_accumulate_grad_hook(print)
w = nn.Linear(3, 2).cuda().weight; w.register_hook(lambda y: y + torch.randn(2, 3)); (w * 2).sum().backward()
m = nn.Linear(3, 2).cuda(); m.register_forward_hook(lambda m, i, o: o + c(2)); m(g(4, 3))
m = nn.Linear(3, 2).cuda(); m.register_forward_hook(lambda m, i, o: o.to("cuda:1")); m(g(4, 3))
m = nn.Linear(3, 2).cuda(); m.register_forward_pre_hook(lambda m, i: i[0].cpu()); m(g(4, 3))
m = nn.Linear(3, 2).cuda(); m.register_forward_pre_hook(lambda m, a, k: (a, {"input": k["input"].cuda()}), with_kwargs=True); m(input=c(4, 3))
m = nn.Linear(3, 2).cuda(); m.register_full_backward_hook(lambda m, i, o: (i[0].half(),)); m(g(4, 3, requires_grad=True)).sum().backward()
m = nn.Linear(3, 2).cuda(); m.register_full_backward_hook(lambda m, i, o: (i[0] * c(),)); m(g(4, 3, requires_grad=True)).sum().backward()
m = nn.Linear(3, 2).cuda(); m.register_full_backward_hook(lambda m, i, o: (i[0] + c(4, 3),)); m(g(4, 3, requires_grad=True)).sum().backward()
m = nn.Linear(3, 2).cuda(); m.register_full_backward_pre_hook(lambda m, o: (o[0].to("cuda:1"),)); m(g(4, 3, requires_grad=True)).sum().backward()
m = nn.Linear(3, 2).cuda(); m.register_full_backward_hook(lambda m, i, o: None); m(c(4, 3))
seen = []; m = nn.Linear(3, 2).cuda(); m.register_full_backward_hook(lambda m, i, o: seen.append(str(i[0].device))); m(c(4, 3, requires_grad=True).cuda()).sum().backward(); seen
seen = []; x, y = g(3, requires_grad=True), c(3, requires_grad=True); torch.autograd.graph.register_multi_grad_hook([x, y], lambda z: seen.extend(str(i.device) for i in z)); (x.cpu() + y).sum().backward(); seen
seen = []; x = g(3, requires_grad=True); y = x.sin(); y.register_hook(lambda z: seen.append([str(z.device), z.is_cuda])); y.cpu().sum().backward(); seen
# saved tensors
with torch.autograd.graph.save_on_cpu():
    x = c(3, requires_grad=True); (x.cuda() ** 2).sum().backward(); x.grad
with torch.autograd.graph.save_on_cpu():
    x, y = g(3, requires_grad=True), g(3, requires_grad=True); (x * y).grad_fn._saved_other
with torch.autograd.graph.save_on_cpu():
    m = nn.Linear(3, 2).cuda(); m(g(4, 3)).relu().sum().backward(); m.weight.grad
with torch.autograd.graph.save_on_cpu():
    nn.Linear(3, 2).cuda()(c(4, 3))
with torch.autograd.graph.save_on_cpu(pin_memory=True, device_type="cuda"):
    x = g(3, requires_grad=True); x.exp().sum().backward(); x.grad
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.to("cuda:1"), lambda x: x.to("cuda:0")):
    x = g(3, requires_grad=True); x.exp().sum().backward(); x.grad
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.to("cuda:1"), lambda x: x):
    x = g(3, requires_grad=True); (x * g(3)).sum().backward()
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.cpu(), lambda x: x):
    x = g(3, requires_grad=True); x.exp().sum().backward()
with torch.autograd.graph.saved_tensors_hooks(lambda x: (x.device, x.cpu()), lambda x: x[1].to(x[0])):
    m = nn.Linear(3, 2).cuda(); m(g(4, 3)).sum().backward(); m.weight.grad
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(), lambda x: torch.from_numpy(x)):
    x = g(3, requires_grad=True); x.exp()
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.half(), lambda x: x.float()):
    x = g(3, requires_grad=True); (x * x).sum().backward(); x.grad
with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: None):
    x = g(3, requires_grad=True); x.exp().sum().backward()
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.mul_(2), lambda x: x):
    x = g(3, requires_grad=True); (x * 1).exp()
with torch.autograd.graph.saved_tensors_hooks(lambda x: print(x.device) or x, lambda x: x):
    g(3, requires_grad=True) * g(3)
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    x = g(3, requires_grad=True); y = x * 1; z = y.sin(); y.add_(1); z.sum().backward(); x.grad
x = g(3, requires_grad=True); (x * x).grad_fn._raw_saved_self.register_hooks(lambda y: y.cpu(), lambda y: y.cuda())
x = g(3, requires_grad=True); y = x * x; y.sum().backward(); y.grad_fn._saved_self
# checkpoints
m = nn.Linear(3, 2).cuda(); checkpoint(m, c(4, 3), use_reentrant=False)
m = nn.Linear(3, 2).cuda(); checkpoint(m, g(4, 3), use_reentrant=False).sum().backward(); m.weight.grad
m = nn.Linear(3, 2).cuda(); checkpoint(m, g(4, 3, requires_grad=True), use_reentrant=True).sum().backward(); m.weight.grad
m = nn.Linear(3, 2).cuda(); checkpoint(m, c(4, 3, requires_grad=True), use_reentrant=True)
m = nn.Linear(3, 2); checkpoint(lambda x: m(x.cpu()), g(4, 3, requires_grad=True), use_reentrant=False).sum().backward(); m.weight.grad
checkpoint(torch.add, g(3, requires_grad=True), c(3), use_reentrant=False)
checkpoint(torch.add, g(3, requires_grad=True), h(3), use_reentrant=True)
checkpoint(F.dropout, g(3, requires_grad=True), use_reentrant=False).sum().backward()
checkpoint(F.dropout, g(3, requires_grad=True), use_reentrant=True, preserve_rng_state=False).sum().backward()
checkpoint(lambda x: x.sin(), c(3, requires_grad=True).cuda(), use_reentrant=True).backward(c(3))
checkpoint(lambda x: x.sin(), g(3, requires_grad=True), use_reentrant=False).backward(c(3))
checkpoint(lambda x: (x.sin(), x.cpu()), g(3, requires_grad=True), use_reentrant=True)
x = g(3, requires_grad=True); y = checkpoint(lambda x: x.sin().sin(), x, use_reentrant=False); x.data = c(3); y.sum().backward()
checkpoint_sequential([nn.Linear(3, 3), nn.Linear(3, 3)], 1, g(4, 3, requires_grad=True), use_reentrant=False)
checkpoint_sequential(nn.Sequential(nn.Linear(3, 3), nn.ReLU()).cuda(), 2, g(4, 3, requires_grad=True), use_reentrant=False).sum().backward()
torch.utils.checkpoint.set_device_states([0], [torch.cuda.get_rng_state()])
torch.utils.checkpoint.get_device_states(g(3), c(3), h(3))[0]
with torch.utils.checkpoint.set_checkpoint_early_stop(False):
    x = g(3, requires_grad=True); checkpoint(lambda x: x.sin().cpu().cos(), x, use_reentrant=False).sum().backward(); x.grad
# forward mode
with fwAD.dual_level():
    fwAD.unpack_dual(fwAD.make_dual(g(3), g(3)).sin())
with fwAD.dual_level():
    fwAD.make_dual(g(3), c(3)).sin()
with fwAD.dual_level():
    fwAD.make_dual(g(3), c())
with fwAD.dual_level():
    fwAD.make_dual(c(3), g(3).half())
with fwAD.dual_level():
    fwAD.make_dual(g(3), g(3)) + c(3)
with fwAD.dual_level():
    fwAD.make_dual(g(3), g(3)) * fwAD.make_dual(c(3), c(3))
with fwAD.dual_level():
    fwAD.unpack_dual(fwAD.make_dual(g(3), g(3)).to("cuda:1")).tangent
with fwAD.dual_level():
    fwAD.unpack_dual(nn.Linear(3, 2).cuda()(fwAD.make_dual(g(4, 3), g(4, 3)))).tangent
with fwAD.dual_level():
    nn.Linear(3, 2)(fwAD.make_dual(g(4, 3), g(4, 3)))
with fwAD.dual_level():
    fwAD.unpack_dual(g(3)).tangent
with fwAD.dual_level():
    fwAD.unpack_dual(torch.cat([fwAD.make_dual(g(3), g(3)), g(2)])).tangent
with fwAD.dual_level():
    fwAD.unpack_dual(fwAD.make_dual(g(3), g(3)) * fwAD.make_dual(c(), c())).tangent
with fwAD.dual_level():
    x = g(3); x.copy_(fwAD.make_dual(c(3), c(3))); fwAD.unpack_dual(x).tangent
with fwAD.dual_level():
    fwAD.unpack_dual(Round.apply(fwAD.make_dual(g(3), g(3))))
fwAD.make_dual(g(3), g(3))
# modes
with torch.inference_mode():
    x = g(3) * 2
    with torch.inference_mode(False):
        x.cpu().is_inference(), x.clone().is_inference()
with torch.inference_mode():
    x = g(3); x[0] = c(); x.add_(c()); x.is_inference()
with torch.inference_mode():
    g(3, requires_grad=True).sum().backward()
with torch.inference_mode():
    nn.Conv1d(3, 2, 1).cuda()(c(1, 3, 4))
with torch.inference_mode():
    torch.stack([g(3), c(3)])
with torch.no_grad():
    w = nn.Linear(3, 2).cuda().weight; w.copy_(c(2, 3)); w.requires_grad, w.is_leaf
with torch.no_grad():
    w = nn.Linear(3, 2).cuda().weight; w -= 0.1 * c(2, 3)
with torch.no_grad():
    nn.init.ones_(nn.Linear(3, 2).cuda().weight).mul_(c()).requires_grad
with torch.set_grad_enabled(False):
    (g(3, requires_grad=True) + c()).requires_grad
with torch.autograd.detect_anomaly():
    x = g(3, requires_grad=True); (x * 2).backward(c(3))
with torch.autograd.detect_anomaly(check_nan=False):
    x = g(3, requires_grad=True); Offloaded.apply(x).sum().backward()
with torch.autograd.set_multithreading_enabled(False):
    x, y = g(3, requires_grad=True), h(3, requires_grad=True); (x.to("cuda:1") * y).sum().backward(); x.grad, y.grad
with torch.autograd.profiler.profile():
    (g(3, requires_grad=True) + c()).sum().backward()
torch.autograd.gradcheck(lambda x, y: x * y, (g(2, dtype=torch.double, requires_grad=True), c(2, dtype=torch.double)))
torch.autograd.gradcheck(torch.sin, (g(2),))
torch.autograd.gradgradcheck(lambda x, y: x * y, (g(2, dtype=torch.double, requires_grad=True), c(2, dtype=torch.double)))
torch.autograd.backward([g(requires_grad=True) * 2, c(requires_grad=True) * 2])
torch.autograd.backward((g(3, requires_grad=True) * 2).sum(), c())
torch.autograd.backward(g(3, requires_grad=True) * 2, h(3))
torch.autograd.backward([g(3, requires_grad=True) * 2], [g(3), g(3)])
torch.autograd.backward(g(3))
torch.autograd.graph.increment_version(g(3)), g(3)._version
torch.autograd.graph.get_gradient_edge(g(3, requires_grad=True) * 2).node.name()
x = g(3, requires_grad=True); e = torch.autograd.graph.get_gradient_edge(x); grad(x.sin().sum(), e)
x = c(3, requires_grad=True); e = torch.autograd.graph.get_gradient_edge(x); grad(x.cuda().sum(), e)
x = g(3, requires_grad=True); y = x * 2; y.grad_fn.register_hook(lambda i, o: (i[0] * 2, None)); y.sum().backward(); x.grad
x = g(3, requires_grad=True); y = x.cpu(); y.grad_fn.register_prehook(lambda o: (o[0].cuda(),)); y.sum().backward()
x = g(3, requires_grad=True); y = x.cpu(); y.grad_fn.register_hook(lambda i, o: (i[0].cpu(),)); y.sum().backward()
x = g(3, requires_grad=True); y = x * 2; y.grad_fn.register_hook(lambda i, o: (c(2), None)); y.sum().backward()
x = g(3, requires_grad=True); y = x * 2; y.grad_fn.register_hook(lambda i, o: c(3)); y.sum().backward()
x = g(3, requires_grad=True); y = x * 2; y.grad_fn.register_hook(lambda i, o: (i[0].to("cuda:1"), None)); y.sum().backward()
x = g(3, requires_grad=True); y = x * 2; y.grad_fn.register_prehook(lambda o: (o[0].to("cuda:1"),)); y.sum().backward()
x = g(3, requires_grad=True); y = x * 2; y.grad_fn.register_prehook(lambda o: o[0]); y.sum().backward()
x = g(3, requires_grad=True); x.register_post_accumulate_grad_hook(lambda p: p); x.sum().backward()
x = g(3, requires_grad=True); x.register_post_accumulate_grad_hook(lambda p: p.data.copy_(c(3))); x.sum().backward()
x = g(3, requires_grad=True); x.expand_as(x).grad_fn.next_functions[0][0].register_hook(lambda i, o: None); x.sum().backward(); x.grad
m = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True)).cuda(); m[0].register_full_backward_hook(lambda *a: None); m(g(2, 3)).sum().backward()
with fwAD.dual_level():
    fwAD.unpack_dual(fwAD.make_dual(g(3), c(3))).tangent
with fwAD.dual_level():
    fwAD.unpack_dual(fwAD.make_dual(g(3), c(3)) + g(3)).tangent
with fwAD.dual_level():
    fwAD.unpack_dual(fwAD.make_dual(g(3), c(3)) * 2).tangent
with fwAD.dual_level():
    fwAD.unpack_dual(fwAD.make_dual(g(3), h(3)).exp()).tangent
with fwAD.dual_level():
    fwAD.unpack_dual(fwAD.make_dual(g(3), c(3)).sum()).tangent
with fwAD.dual_level():
    fwAD.unpack_dual(fwAD.make_dual(g(3), c(3)).cpu()).tangent
with fwAD.dual_level():
    fwAD.unpack_dual(F.linear(fwAD.make_dual(g(2, 3), c(2, 3)), g(4, 3))).tangent
