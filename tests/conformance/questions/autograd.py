"""Gradients: hooks, saved tensors, functions of one's own, modes, and graphs that cross devices."""

from torch.autograd import Function, grad


class Moved(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.cpu()

    @staticmethod
    def backward(ctx, y):
        return y


class Kept(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, y):
        return ctx.saved_tensors[0].cpu()


class Short(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, y):
        return torch.ones(3, device=y.device)


class Half(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, y):
        return y.half()


class Both(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * 2, y * 2

    @staticmethod
    def backward(ctx, x, y):
        return y, x


class Once(Function):
    @staticmethod
    @torch.autograd.function.once_differentiable
    def forward(ctx, x):
        return x * 2


class Forward(Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, t):
        return t.cpu()


x = g(2, requires_grad=True); x.sum().backward(); x.grad
x = g(2, requires_grad=True); x.cpu().sum().backward(); x.grad
x = c(2, requires_grad=True); x.cuda().sum().backward(); x.grad
x = c(2, requires_grad=True); (x.cuda() + x.to("cuda:1").to("cuda:0")).sum().backward(); x.grad
x = g(2, requires_grad=True); (x * c()).sum().backward(); x.grad
x = c(requires_grad=True); (g(2) * x).sum().backward(); x.grad
x = c(requires_grad=True); (g(2) + x).sum().backward(); x.grad
x = g(2, requires_grad=True); y = c(requires_grad=True); (x * y).sum().backward(); x.grad, y.grad
x = g(2, requires_grad=True); x.backward()
x = g(2, requires_grad=True); (x * 2).backward(g(2)); x.grad
x = g(2, requires_grad=True); (x * 2).backward(c(2))
x = g(2, requires_grad=True); (x * 2).backward(h(2))
x = c(2, requires_grad=True); (x * 2).backward(g(2))
x = g(2, requires_grad=True); (x * 2).backward(c(3))
x = g(2, requires_grad=True); (x * 2).backward(g(3))
x = g(2, requires_grad=True); (x * 2).backward(c(2).double())
x = g(2, requires_grad=True); (x * 2).backward(g(2).double())
x = g(2, requires_grad=True); (x * 2).backward(c())
x = g(2, requires_grad=True); (x * 2).backward(1.0)
x = g(2, requires_grad=True); (x * 2).backward(g(2, dtype=torch.long))
x = g(2, requires_grad=True); (x * 2).sum().backward(c())
x = g(2, requires_grad=True); (x * 2).sum().backward(g(1))
x = g(2, requires_grad=True); (x.cpu() * 2).backward(g(2))
x = g(2, requires_grad=True); (x.cpu() * 2).backward(c(2)); x.grad
torch.autograd.backward([g(2, requires_grad=True) * 2, c(2, requires_grad=True) * 2], [g(2), c(2)])
torch.autograd.backward([g(2, requires_grad=True) * 2, c(2, requires_grad=True) * 2], [c(2), g(2)])
torch.autograd.backward([g(2, requires_grad=True).sum(), h(2, requires_grad=True).sum()])
torch.autograd.backward(g(2, requires_grad=True).sum(), inputs=[c(2)])
x = g(2, requires_grad=True); grad(x.sum(), x)
x = g(2, requires_grad=True); grad(x.cpu().sum(), x)
x = g(2, requires_grad=True); grad((x * 2), x, grad_outputs=g(2))
x = g(2, requires_grad=True); grad((x * 2), x, grad_outputs=c(2))
x = g(2, requires_grad=True); grad((x * 2), x, c(3))
x = g(2, requires_grad=True); y = c(2, requires_grad=True); grad(x.sum(), y)
x = g(2, requires_grad=True); y = c(2, requires_grad=True); grad(x.sum(), [x, y], allow_unused=True)
x = g(2, requires_grad=True); y = c(2, requires_grad=True); grad(x.sum(), [x, y], materialize_grads=True)
x = g(2, requires_grad=True); grad((x ** 2).sum(), x, create_graph=True)[0].requires_grad
x = g(2, requires_grad=True); grad((x * 2), x, torch.ones(3, 2).cuda(), is_grads_batched=True)
x = g(2, requires_grad=True); grad((x * 2), x, torch.ones(3, 2), is_grads_batched=True)
x = g(2, requires_grad=True); y = (x * 2).sum(); y.backward(); y.backward()
x = g(2, requires_grad=True); x.add_(1)
x = g(2, requires_grad=True); x.data.add_(1); x.data = c(2)
x = g(2, requires_grad=True); x.data = h(2); x.device
x = g(2); x.data = c(2); x.device
x = g(2); x.data = c(3); x
x = g(2, requires_grad=True); x.data = c(2).double()
x = g(2); x.data = c(2).double(); x
x = g(2); x.requires_grad_(); x.is_leaf, x.requires_grad, (x * 2).is_leaf
g(2, dtype=torch.long, requires_grad=True)
g(2, dtype=torch.long).requires_grad_()
x = c(2, requires_grad=True).cuda(); x.is_leaf, x.requires_grad
x = c(2, requires_grad=True).cuda(); x.sum().backward(); x.grad
x = c(2, requires_grad=True); y = x.cuda(); y.retain_grad(); y.sum().backward(); x.grad, y.grad
x = c(2).cuda().requires_grad_(); x.is_leaf
# grad
x = g(2, requires_grad=True); x.grad = g(2); x.grad
x = g(2, requires_grad=True); x.grad = c(2)
x = g(2, requires_grad=True); x.grad = h(2)
x = g(2, requires_grad=True); x.grad = c(3)
x = g(2, requires_grad=True); x.grad = g(3)
x = g(2, requires_grad=True); x.grad = g(2).double()
x = g(2, requires_grad=True); x.grad = c(2).double()
x = g(2, requires_grad=True); x.grad = c(3).double()
x = g(2, requires_grad=True); x.grad = 1.0
x = c(2, requires_grad=True); x.grad = g(2)
x = g(2, requires_grad=True); x.grad = x
p = nn.Parameter(g(2)); p.grad = c(2)
p = nn.Parameter(c(2)); p.grad = c(2); p.data = g(2); p.grad
p = nn.Parameter(c(2)); p.grad = c(2); p.data = g(2); p.grad.data = g(2); p.grad
m = nn.Linear(2, 2); m(c(1, 2)).sum().backward(); m.cuda(); m.weight.grad, m.weight.is_leaf
m = nn.Linear(2, 2).cuda(); m(g(1, 2)).sum().backward(); m.cpu(); m.weight.grad
m = nn.Linear(2, 2).cuda(); m(g(1, 2)).sum().backward(); m.zero_grad(); m.weight.grad
m = nn.Linear(2, 2).cuda(); w = m.weight; m.cpu(); w is m.weight, w.device
m = nn.Linear(2, 2).cuda(); y = m(g(1, 2)).sum(); m.cpu(); y.backward()
x = g(2, requires_grad=True); y = (x ** 2).sum(); x.data = c(2); y.backward()
# hooks
x = g(2, requires_grad=True); x.register_hook(lambda y: y.cpu()); (x * 2).sum().backward()
x = g(2, requires_grad=True); x.register_hook(lambda y: y * c()); (x * 2).sum().backward(); x.grad
x = g(2, requires_grad=True); x.register_hook(lambda y: y[:1]); (x * 2).sum().backward()
x = g(2, requires_grad=True); x.register_hook(lambda y: y.double()); (x * 2).sum().backward(); x.grad
x = g(2, requires_grad=True); x.register_hook(lambda y: 5); (x * 2).sum().backward()
x = g(2, requires_grad=True); x.register_hook(lambda y: y + c(2)); (x * 2).sum().backward()
x = g(2, requires_grad=True); x.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None)); x.sum().backward(); x.grad
x = g(2, requires_grad=True); x.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", c(2))); x.sum().backward()
x = g(2, requires_grad=True); y = x * 2; y.register_hook(lambda y: y.cpu()); y.sum().backward()
x = g(2, requires_grad=True); y = x.cpu(); y.register_hook(lambda y: y.cuda()); y.sum().backward(); x.grad
g(2).register_hook(print)
seen = []; x = g(2, requires_grad=True); x.register_hook(lambda y: seen.append(str(y.device))); x.cpu().sum().backward(); seen
seen = []; m = nn.Linear(2, 2).cuda(); m.register_full_backward_hook(lambda m, i, o: seen.append([str(o[0].device), i[0] is None])); m(g(1, 2)).sum().backward(); seen
m = nn.Linear(2, 2).cuda(); m.register_full_backward_hook(lambda m, i, o: (c(1, 2),)); m(g(1, 2, requires_grad=True)).sum().backward()
m = nn.Linear(2, 2).cuda(); m.register_full_backward_pre_hook(lambda m, o: (c(1, 2),)); m(g(1, 2, requires_grad=True)).sum().backward()
m = nn.Linear(2, 2).cuda(); m.register_forward_pre_hook(lambda m, i: (i[0].cuda(),)); m(c(1, 2))
m = nn.Linear(2, 2).cuda(); m.register_forward_hook(lambda m, i, o: o.cpu()); m(g(1, 2)).sum().backward(); m.weight.grad
seen = []; x = g(2, requires_grad=True); torch.autograd.graph.register_multi_grad_hook([x], lambda y: seen.append(str(y[0].device))); x.cpu().sum().backward(); seen
# saved tensors
with torch.autograd.graph.save_on_cpu():
    x = g(2, requires_grad=True); y = (x ** 2).sum(); y.backward(); x.grad
with torch.autograd.graph.save_on_cpu():
    (g(2, requires_grad=True) ** 2).grad_fn._saved_self
with torch.autograd.graph.save_on_cpu(pin_memory=True):
    x = h(2, requires_grad=True); y = (x ** 2).sum(); y.backward(); x.grad
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.cpu(), lambda x: x):
    x = g(2, requires_grad=True); y = (x ** 2).sum(); y.backward(); x.grad
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.cpu(), lambda x: x.cuda()):
    x = g(2, requires_grad=True); y = (x ** 2).sum(); y.backward(); x.grad
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.cpu(), lambda x: x):
    x = g(2, 2, requires_grad=True); y = (x @ x).sum(); y.backward()
with torch.autograd.graph.saved_tensors_hooks(lambda x: 5, lambda x: x):
    x = g(2, requires_grad=True); y = (x ** 2).sum(); y.backward()
with torch.autograd.graph.disable_saved_tensors_hooks("no hooks"):
    with torch.autograd.graph.save_on_cpu():
        g(2)
(g(2, requires_grad=True) ** 2).grad_fn._saved_self
(g(2, requires_grad=True) * c()).grad_fn._saved_other
g(2, requires_grad=True).sin().grad_fn.name(), g(2, requires_grad=True).cpu().grad_fn.name(), c(2, requires_grad=True).cuda().grad_fn.name()
x = g(2, requires_grad=True); x.expand(3, 2).grad_fn.next_functions[0][0].variable
# functions
x = g(2, requires_grad=True); Moved.apply(x).sum().backward(); x.grad
x = g(2, requires_grad=True); Moved.apply(x)
x = g(2, requires_grad=True); Kept.apply(x).sum().backward(); x.grad
x = h(2, requires_grad=True); Kept.apply(x * 2).sum().backward()
x = g(2, requires_grad=True); Short.apply(x).sum().backward()
x = g(2, requires_grad=True); Half.apply(x).sum().backward(); x.grad
x = g(2, requires_grad=True); y = c(2, requires_grad=True); a, b = Both.apply(x, y); (a.cpu() + b).sum().backward(); x.grad, y.grad
x = g(2, requires_grad=True); Moved.apply(x).grad_fn.name()
Once.apply(g(2))
with torch.autograd.forward_ad.dual_level():
    torch.autograd.forward_ad.make_dual(g(2), c(2))
with torch.autograd.forward_ad.dual_level():
    torch.autograd.forward_ad.make_dual(g(2), h(2))
with torch.autograd.forward_ad.dual_level():
    torch.autograd.forward_ad.make_dual(g(2), g(3))
with torch.autograd.forward_ad.dual_level():
    torch.autograd.forward_ad.make_dual(g(2), c(3))
with torch.autograd.forward_ad.dual_level():
    torch.autograd.forward_ad.make_dual(g(2), g(2).double())
with torch.autograd.forward_ad.dual_level():
    torch.autograd.forward_ad.unpack_dual(torch.autograd.forward_ad.make_dual(g(2), g(2)) * c())
with torch.autograd.forward_ad.dual_level():
    torch.autograd.forward_ad.unpack_dual(torch.autograd.forward_ad.make_dual(g(2), g(2)).cpu())
with torch.autograd.forward_ad.dual_level():
    Forward.apply(torch.autograd.forward_ad.make_dual(g(2), g(2)))
# modes
with torch.no_grad():
    (g(2, requires_grad=True) * 2).requires_grad
with torch.inference_mode():
    g(2).is_inference(), g(2).cpu().is_inference(), c(2).cuda().is_inference()
with torch.inference_mode():
    x = g(2)
    x + c(2)
with torch.inference_mode():
    nn.Linear(2, 2).cuda()(c(1, 2))
with torch.no_grad():
    x = g(2, requires_grad=True); x.add_(c(2))
with torch.no_grad():
    x = g(2, requires_grad=True); x.copy_(c(2)); x
with torch.inference_mode():
    x = g(2)
    with torch.inference_mode(False):
        x.add_(1)
with torch.inference_mode():
    x = g(2)
    with torch.inference_mode(False):
        x.requires_grad_()
with torch.inference_mode():
    x = g(2)
    with torch.inference_mode(False):
        (x * g(2, requires_grad=True)).sum()
with torch.enable_grad(), torch.autograd.set_detect_anomaly(True):
    x = g(2, requires_grad=True); (x * 2).sum().backward(); x.grad
with torch.autograd.set_multithreading_enabled(False):
    x = g(2, requires_grad=True); x.cpu().sum().backward(); x.grad
x = g(2, requires_grad=True); torch.utils.checkpoint.checkpoint(lambda x: x.sin().cpu(), x, use_reentrant=False).sum().backward(); x.grad
x = g(2, requires_grad=True); torch.utils.checkpoint.checkpoint(lambda x: x.sin() + c(2), x, use_reentrant=False)
x = c(2, requires_grad=True); torch.utils.checkpoint.checkpoint(lambda x: x.cuda().sin(), x, use_reentrant=True).sum().backward(); x.grad
x = g(2, requires_grad=True); torch.utils.checkpoint.checkpoint_sequential([nn.Linear(2, 2).cuda(), nn.Linear(2, 2)], 2, x, use_reentrant=False)
torch.nn.utils.clip_grad_norm_(nn.Linear(2, 2).cuda().parameters(), 1.0)
a, b = nn.Parameter(g(2)), nn.Parameter(h(2)); a.grad, b.grad = g(2), h(2); torch.nn.utils.clip_grad_norm_([a, b], 1.0)
a, b = nn.Parameter(g(2)), nn.Parameter(c(2)); a.grad, b.grad = g(2), c(2); torch.nn.utils.clip_grad_norm_([a, b], 1.0)
a, b = nn.Parameter(g(2)), nn.Parameter(c(2)); a.grad, b.grad = g(2), c(2); torch.nn.utils.clip_grad_norm_([b, a], 1.0, foreach=True)
a, b = nn.Parameter(g(2)), nn.Parameter(c(2)); a.grad, b.grad = g(2), c(2); torch.nn.utils.clip_grad_value_([a, b], 1.0); a.grad, b.grad
torch.nn.utils.parameters_to_vector([nn.Parameter(g(2)), nn.Parameter(c(2))])
torch.nn.utils.parameters_to_vector([nn.Parameter(g(2)), nn.Parameter(h(2))])
p = nn.Parameter(c(2)); torch.nn.utils.vector_to_parameters(g(2), [p]); p
torch.nn.utils.vector_to_parameters(g(4), [nn.Parameter(g(2)), nn.Parameter(h(2))])
torch.nn.utils.get_total_norm([g(2), c(2)])
torch.autograd.gradcheck(lambda x: x * 2, (c(2).double().requires_grad_(),))
