"""Which GPU is the current one while backward runs, and what is made there: hooks, functions, checkpoints, engines."""

import threading

from torch.autograd import Function, grad
from torch.utils.checkpoint import checkpoint


class Seen(Function):
    """Notes the current GPU of its forward and of its backward."""

    seen = []

    @staticmethod
    def forward(ctx, x):
        Seen.seen.append(torch.cuda.current_device())
        return x * 2

    @staticmethod
    def backward(ctx, y):
        Seen.seen.append(torch.cuda.current_device())
        return y * 2


class Made(Function):
    """Makes its gradient on "cuda", whichever that is."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, y):
        return torch.full(y.shape, 2.0, device="cuda")


class Added(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, y):
        return y + torch.ones(2, device="cuda")


class To(Function):
    """Moves, as pipelines written by hand do."""

    @staticmethod
    def forward(ctx, x, device):
        ctx.device = x.device
        return x.to(device)

    @staticmethod
    def backward(ctx, y):
        return y.to(ctx.device) + torch.zeros(2, device="cuda"), None


class Two(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x.sum(), y.sum()

    @staticmethod
    def backward(ctx, a, b):
        where = torch.cuda.current_device()
        Seen.seen.append(where)
        return torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")


class Setting(Function):
    """Changes the current GPU in its backward and does not put it back."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, y):
        torch.cuda.set_device(1 - torch.cuda.current_device())
        return y


def a(*shape):
    return torch.ones(shape, device="cuda:0", requires_grad=True)


def b(*shape):
    return torch.ones(shape, device="cuda:1", requires_grad=True)


def seen(make):
    """What Seen notes while `make` runs."""
    Seen.seen.clear()
    make()
    return list(Seen.seen)


def noted(tensor, function=torch.cuda.current_device):
    """A list to which a hook of a tensor adds what the function says."""
    found = []
    tensor.register_hook(lambda gradient: found.append(function()))
    return found


def at(index, function, *arguments):
    with torch.cuda.device(index):
        return function(*arguments)


def failed(function):
    """The name of the error that a function raises."""
    try:
        function()
    except Exception as error:
        return type(error).__name__


def recomputed(x, device, reentrant):
    """The current GPUs while a checkpoint runs forward, and again in backward."""
    found = []

    def block(x):
        found.append(torch.cuda.current_device())
        return x * torch.ones(2, device=device)

    checkpoint(block, x, use_reentrant=reentrant).sum().backward()
    return found


def packed(x):
    """The current GPU while a saved tensor is unpacked."""
    found = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (found.append(torch.cuda.current_device()), t)[1]):
        y = (x * x).sum()
    y.backward()
    return found


def of_module(device, register):
    """The current GPU in a hook of a layer."""
    found = []
    layer = nn.Linear(2, 2).to(device)
    getattr(layer, register)(lambda *_: found.append(torch.cuda.current_device()))
    layer(torch.ones(1, 2, device=device, requires_grad=True)).sum().backward()
    return found


x = b(2); s = noted(x); x.sum().backward(); s
x = a(2); s = noted(x); x.sum().backward(); s
x = b(2); y = x * 2; s = noted(y); y.sum().backward(); s
x = a(2); y = x * 2; s = noted(y); at(1, y.sum().backward); s
x = b(2); y = x * 2; s = noted(y); at(0, y.sum().backward); s
x = a(2); y = (x * 2).to("cuda:1"); s = noted(y); t = noted(x); (y * 3).sum().backward(); s + t
x = b(2); y = (x * 2).to("cuda:0"); s = noted(y); t = noted(x); (y * 3).sum().backward(); s + t
x = b(2); y = (x * 2).cpu(); s = noted(y); t = noted(x); (y * 3).sum().backward(); s + t
torch.cuda.set_device(1); x = c(2, requires_grad=True); s = noted(x); x.sum().backward(); s
torch.cuda.set_device(1); x = a(2); s = noted(x); x.cpu().sum().backward(); s
x = b(2); s = noted(x, lambda: torch.ones(2, device="cuda").device); x.sum().backward(); s
x = b(2); s = noted(x, lambda: str(torch.cuda.current_stream().device)); x.sum().backward(); s
x = b(2); x.register_hook(lambda g: g * torch.ones(2, device="cuda")); x.sum().backward(); x.grad
x = b(2); x.register_hook(lambda g: g * torch.ones(2, device="cuda:0")); x.sum().backward(); x.grad
x = a(2); x.register_hook(lambda g: g * torch.ones(2, device="cuda")); at(1, x.sum().backward); x.grad
x = b(2); y = x * 2; y.register_hook(lambda g: torch.zeros_like(g) + torch.ones(2, device="cuda")); y.sum().backward(); x.grad
x = b(2); x.register_hook(lambda g: torch.ones(2, device="cuda")); x.sum().backward(); x.grad
x = b(2); x.register_hook(lambda g: torch.ones(2).cuda()); x.sum().backward(); x.grad
x = b(2); x.register_hook(lambda g: g.new_ones(2)); x.sum().backward(); x.grad
x = a(2); y = x.to("cuda:1"); y.register_hook(lambda g: g + torch.ones(2).cuda()); y.sum().backward(); x.grad
x = a(2); y = x.to("cuda:1"); x.register_hook(lambda g: g + torch.ones(2).cuda()); y.sum().backward(); x.grad
x = b(2); y = Seen.apply(x); seen(y.sum().backward)
x = a(2); y = Seen.apply(x); seen(lambda: at(1, y.sum().backward))
x = b(2); seen(lambda: Seen.apply(x).sum().backward())
x = b(2); seen(lambda: at(1, Seen.apply, x).sum().backward())
x = b(2); seen(lambda: grad(Seen.apply(x).sum(), x))
x = b(2); seen(lambda: Seen.apply(Seen.apply(x).to("cuda:0")).sum().backward())
x = c(2, requires_grad=True); torch.cuda.set_device(1); seen(lambda: Seen.apply(x).sum().backward())
x = c(2, requires_grad=True); seen(lambda: Seen.apply(x.to("cuda:1")).sum().backward())
x = b(2); Made.apply(x).sum().backward(); x.grad
x = a(2); at(1, Made.apply(x).sum().backward); x.grad
x = a(2); at(1, lambda: Made.apply(x).sum().backward()); x.grad
x = b(2); Added.apply(x).sum().backward(); x.grad
x = a(2); at(1, Added.apply(x).sum().backward); x.grad
x = b(2); grad(Added.apply(x).sum(), x)
x = b(2); grad(Made.apply(x), x, c(2))
x = b(2); grad(Made.apply(x), x, g(2))
x = b(2); y, = grad(Added.apply(x).sum(), x, create_graph=True); y
x = b(2); y, = grad((Seen.apply(x) ** 2).sum(), x, create_graph=True); seen(y.sum().backward)
x = a(2); To.apply(x, "cuda:1").sum().backward(); x.grad
x = b(2); To.apply(x, "cuda:0").sum().backward(); x.grad
x = b(2); To.apply(To.apply(x, "cuda:0"), "cuda:1").sum().backward(); x.grad
x = a(2); To.apply(x, "cpu").sum().backward(); x.grad
x = b(2); To.apply(x, "cpu").sum().backward(); x.grad
x, y = a(2), b(2); p, q = Two.apply(x, y); seen((p + q.to("cuda:0")).backward)
x, y = a(2), b(2); p, q = Two.apply(x, y); seen((p.to("cuda:1") + q).backward)
x, y = b(2), a(2); p, q = Two.apply(x, y); (p.to("cuda:0") + q).backward()
x = b(2); Setting.apply(x).sum().backward(); torch.cuda.current_device()
x = a(2); Setting.apply(x).sum().backward(); torch.cuda.current_device()
x = b(2); x.register_hook(lambda g: torch.cuda.set_device(0)); x.sum().backward(); torch.cuda.current_device()
x = b(2); y = Seen.apply(Setting.apply(x)); seen(y.sum().backward)
x = b(2); y = Setting.apply(Seen.apply(x)); seen(y.sum().backward)
torch.cuda.set_device(1); x = a(2); x.sum().backward(); torch.cuda.current_device()
torch.cuda.set_device(1); x = a(2); s = noted(x); x.sum().backward(); s, torch.cuda.current_device()
x = b(2); found = []; x.register_post_accumulate_grad_hook(lambda p: found.append(torch.cuda.current_device())); x.sum().backward(); found
x = a(2); found = []; x.register_post_accumulate_grad_hook(lambda p: found.append(torch.cuda.current_device())); at(1, x.sum().backward); found
x = b(2); x.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(torch.ones(2, device="cuda"))); x.sum().backward(); x.grad
x = b(2); x.register_post_accumulate_grad_hook(lambda p: p.grad.add_(torch.ones(2, device="cuda:0"))); x.sum().backward()
x = a(2); x.register_post_accumulate_grad_hook(lambda p: p.grad.add_(torch.ones(2).cuda())); at(1, x.sum().backward); x.grad
x = nn.Parameter(h(2)); o = torch.optim.SGD([x], lr=0.1); x.register_post_accumulate_grad_hook(lambda p: o.step()); x.sum().backward(); x
of_module("cuda:1", "register_full_backward_hook")
of_module("cuda:0", "register_full_backward_hook")
of_module("cuda:1", "register_full_backward_pre_hook")
at(1, of_module, "cuda:0", "register_full_backward_hook")
at(1, of_module, "cpu", "register_full_backward_hook")
of_module("cpu", "register_full_backward_pre_hook")
m = nn.Linear(2, 2).to("cuda:1"); m.register_full_backward_hook(lambda m, i, o: (i[0] * torch.ones(2, device="cuda"),)); x = b(1, 2); m(x).sum().backward(); x.grad
m = nn.Linear(2, 2).to("cuda:1"); m.register_full_backward_pre_hook(lambda m, o: (o[0] * torch.ones(2, device="cuda"),)); x = b(1, 2); m(x).sum().backward(); x.grad
m = nn.Linear(2, 2).to("cuda:1"); m.register_full_backward_hook(lambda m, i, o: (i[0] * torch.ones(2, device="cuda:0"),)); x = b(1, 2); m(x).sum().backward()
recomputed(b(2), "cuda:1", False)
recomputed(b(2), "cuda:1", True)
recomputed(b(2), "cuda", False)
recomputed(b(2), "cuda", True)
at(1, recomputed, b(2), "cuda", False)
at(1, recomputed, b(2), "cuda", True)
at(1, recomputed, a(2), "cuda", False)
x = b(2); y = at(1, lambda: checkpoint(lambda x: x * torch.ones(2, device="cuda"), x, use_reentrant=False)); y.sum().backward(); x.grad
x = b(2); y = at(1, lambda: checkpoint(lambda x: x * torch.ones(2, device="cuda"), x, use_reentrant=True)); y.sum().backward(); x.grad
x = a(2); y = checkpoint(lambda x: x * torch.ones(2, device="cuda"), x, use_reentrant=False); at(1, y.sum().backward); x.grad
x = a(2); y = checkpoint(lambda x: x.to("cuda:1") * torch.ones(2, device="cuda:1"), x, use_reentrant=False); y.sum().backward(); x.grad
x = a(2); y = checkpoint(lambda x: (x * 2).to("cuda:1") * 2, x, use_reentrant=True); y.sum().backward(); x.grad
packed(a(2))
packed(b(2))
at(1, packed, a(2))
packed(c(2).requires_grad_())
x = b(2); y = (x * 2).sum(); found = []; y.grad_fn.register_hook(lambda i, o: found.append(torch.cuda.current_device())); y.backward(); found
x = b(2); y = (x * 2).sum(); found = []; y.grad_fn.register_prehook(lambda o: found.append(torch.cuda.current_device())); y.backward(); found
x = a(2); y = x.to("cuda:1").sum(); found = []; y.grad_fn.next_functions[0][0].register_hook(lambda i, o: found.append(torch.cuda.current_device())); y.backward(); found
x = b(2); y = x.to("cuda:0").sum(); found = []; y.grad_fn.next_functions[0][0].register_hook(lambda i, o: found.append(torch.cuda.current_device())); y.backward(); found
x = b(2); y = x.cpu().sum(); found = []; y.grad_fn.next_functions[0][0].register_hook(lambda i, o: found.append(torch.cuda.current_device())); y.backward(); found
x = c(2, requires_grad=True); y = x.to("cuda:1").sum(); found = []; y.grad_fn.next_functions[0][0].register_hook(lambda i, o: found.append(torch.cuda.current_device())); y.backward(); found
x = b(2); s = noted(x, threading.current_thread); x.sum().backward(); s[0] is threading.main_thread()
x = c(2, requires_grad=True); s = noted(x, threading.current_thread); x.sum().backward(); s[0] is threading.main_thread()
x = b(2); s = noted(x, torch.is_grad_enabled); x.sum().backward(); s
x = b(2); s = noted(x, torch.is_inference_mode_enabled); x.sum().backward(); s
with torch.autocast("cuda"): x = b(2); s = noted(x, lambda: torch.is_autocast_enabled("cuda")); x.sum().backward(); s
x = b(2); r = torch.cuda.Stream("cuda:1"); s = noted(x, lambda: torch.cuda.current_stream() == r); torch.cuda.set_stream(r); y = x.sum(); y.backward(); s
x = b(2); x.register_hook(lambda g: 1 / 0); x.sum().backward()
x = b(2); x.register_hook(lambda g: 1 / 0); failed(x.sum().backward), torch.cuda.current_device()
torch.func.grad(lambda x: Added.apply(x).sum())(h(2))
torch.autograd.functional.vjp(lambda x: Seen.apply(x), h(2), h(2))[1]
torch.autograd.functional.jacobian(lambda x: x * torch.ones(2, device="cuda:1"), h(2))
m = nn.Sequential(nn.Linear(2, 2).to("cuda:0"), nn.Linear(2, 2).to("cuda:1")); y = m[1](m[0](g(1, 2)).to("cuda:1")); s = noted(m[0].weight) , noted(m[1].weight); y.sum().backward(); s
x, y = c(()).requires_grad_(), b(2); (x * y).sum().backward(); x.grad
x, y = c(()).requires_grad_(), b(2); s = noted(x); (x * y).sum().backward(); s
x, y = c(()).requires_grad_(), a(2); torch.pow(x, y).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.pow(y, x).sum().backward(); x.grad
x, y = c(()).requires_grad_(), g(2); torch.pow(x, y).sum().backward(); x.grad
x, y = c(()), a(2); torch.pow(x, y).sum().backward(); y.grad
x, y = c(()).requires_grad_(), a(2); (x / y).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); (y / x).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.atan2(x, y).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.hypot(x, y).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.xlogy(x, y).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.maximum(x, y).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.where(y > 0, x, y).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.lerp(y, y * 2, x).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.addcmul(y, y, x).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.addcdiv(y, y, x).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.logaddexp(x, y).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.fmod(y, x).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.remainder(y, x).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.float_power(x, y).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); F.huber_loss(y, x).backward()
x, y = c(()).requires_grad_(), a(2); F.mse_loss(y, x).backward(); x.grad
x, y = c(()).requires_grad_(), a(2); F.prelu(y, x).sum().backward()
x, y = c(()).requires_grad_(), a(2); torch.copysign(y, x).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.sub(y, x, alpha=2).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); y.clone().mul_(x).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); y.clone().fill_(x).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); y.clone().masked_fill(y > 0, x).sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); z = y.clone(); z[0] = x; z.sum().backward(); x.grad
x, y = c(()).requires_grad_(), a(2); torch.clamp(y, min=x).sum().backward(); x.grad
