"""Subclasses with memory of their own that dispatch operators: made by _make_subclass, as_subclass, or PyTorch's."""

import copy
import io
import pickle
from torch.testing._internal.logging_tensor import LoggingTensor, LoggingTensorMode, capture_logs
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._pytree import tree_map, tree_map_only
from torch.utils._python_dispatch import TorchDispatchMode


class Plain(torch.Tensor):
    """Is what it computes with: it passes operators on to torch.Tensor, and makes what comes of them its own."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def own(t):
            return t.as_subclass(cls) if isinstance(t, torch.Tensor) and not isinstance(t, cls) else t

        return tree_map(own, super().__torch_dispatch__(func, types, args, kwargs or {}))


class Counted(torch.Tensor):
    """Notes the operators that it passes on."""

    seen = []

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.seen.append((func.__name__, [kind.__name__ for kind in types]))
        return super().__torch_dispatch__(func, types, args, kwargs or {})


class Elem(torch.Tensor):
    """Has the memory of the tensor that it holds."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, elem, requires_grad=False):
        made = torch.Tensor._make_subclass(cls, elem, requires_grad)
        made.elem = elem
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = tree_map_only(cls, lambda t: t.elem, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, cls, func(*args, **kwargs))


class Weight(nn.Parameter):
    """A parameter that dispatches."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return super().__torch_dispatch__(func, types, args, kwargs or {})


class Below(torch.Tensor):
    """Switches dispatch off to compute, as examples of PyTorch's authors do."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        with torch._C._DisableTorchDispatch():
            out = func(*args, **(kwargs or {}))
        return tree_map_only(torch.Tensor, lambda t: t.as_subclass(cls), out)


class Refuses(torch.Tensor):
    """Knows one operator."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.add.Tensor:
            return "added on " + ", ".join(str(x.device) for x in args)
        return NotImplemented


class Seen(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.types = [kind.__name__ for kind in types]
        return func(*args, **(kwargs or {}))


def two(make, other=None):
    return TwoTensor(make(2, 2), (other or make)(2, 2))


def saved(x, **options):
    """What comes back from a file."""
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file, weights_only=False, **options)


x = two(g); x.device, x.a.device, x.is_cuda, x.get_device()
two(h).device
two(g, c)
two(g) + 1
(two(g) + two(g)).b
two(g) + g(2, 2)
two(g) + c(2, 2)
c(2, 2) * two(g)
two(g) + two(c)
two(g) @ two(h)
two(c).cuda().b
two(g).cpu().a
two(g).to("cuda:1").b
two(g).t().a
two(g)[0].b
two(g).view(4).detach().clone().a
x = two(g); x.add_(1) is x, x.mul_(2).b.device
x = two(g); x.add_(c(2, 2))
x = two(g); x[0] = 1.0; x.a
x = two(g).requires_grad_(); (x * 2).sum().backward(); x.grad.a
x = nn.Parameter(two(g)); (x @ g(2, 2)).sum().backward(); type(x.grad).__name__, x.grad.device
x = nn.Parameter(two(c)); (x @ g(2, 2)).sum().backward()
m = nn.Linear(2, 2); m.weight = nn.Parameter(two(c)); m.cuda(); m.weight.a, m.weight.b, m.bias.device
m = nn.Linear(2, 2); m.weight = nn.Parameter(two(c)); m.cuda()(g(1, 2)).a
m = nn.Linear(2, 2); m.weight = nn.Parameter(two(c)); m.cuda()(c(1, 2))
m = nn.Linear(2, 2).cuda(); m.weight = nn.Parameter(two(c)); m(g(1, 2))
x = nn.Parameter(two(g)); o = torch.optim.AdamW([x]); (x * 2).sum().backward(); o.step(); o.state[x]["exp_avg"].a
x = nn.Parameter(two(g)); o = torch.optim.SGD([x], lr=0.1); (x * 2).sum().backward(); o.step(); x.b
type(copy.deepcopy(two(g))).__name__, copy.deepcopy(two(g)).b.device
type(two(g)) is TwoTensor, isinstance(two(g), TwoTensor), type(two(c).cuda()) is TwoTensor
two(g).untyped_storage().device
x = pickle.loads(pickle.dumps(two(g))); type(x).__name__, x.b.device
x = saved(two(g)); type(x).__name__, x.device, x.b.device
x = saved(two(g), map_location="cpu"); type(x).__name__, x.device, x.b.device
x = saved(two(h), map_location="cuda:0"); x.device, x.b.device
x = saved(two(c), map_location="cuda"); x.device, x.b.device
x = saved({"w": nn.Parameter(two(g))})["w"]; type(x).__name__, x.requires_grad, x.b.device
m = nn.Linear(2, 2).cuda(); m.weight = nn.Parameter(two(g)); saved(m.state_dict(), map_location="cpu")["weight"].a
torch.zeros_like(two(g)).b
two(g).new_ones(2).a
torch.equal(two(g), two(c))
two(g).tolist()
torch.func.grad(lambda v: (v * 2).sum())(g(2)), two(g).sum().a
torch.vmap(lambda v: v * 2)(g(2)), two(g).mean().b
LoggingTensor(g(2)).device
LoggingTensor(g(2)) + c(2)
(LoggingTensor(g(2)) + g(2)).elem
LoggingTensor(g(2), requires_grad=True).sum().backward()
x = LoggingTensor(g(2), requires_grad=True); (x * 2).sum().backward(); x.grad.elem
LoggingTensor(c(2)).cuda().elem
with capture_logs() as logs: LoggingTensor(g(2)).cpu(); logs
with LoggingTensorMode(): two(g).cpu().a
g(2).as_subclass(Plain).device
g(2).as_subclass(Plain)
g(2).as_subclass(Plain) + 1
g(2).as_subclass(Plain) + g(2)
g(2).as_subclass(Plain) + c(2)
c(2) + g(2).as_subclass(Plain)
g(2).as_subclass(Plain) + h(2).as_subclass(Plain)
c(2).as_subclass(Plain) + g(2)
c(2).as_subclass(Plain).cuda()
g(2).as_subclass(Plain).cpu()
g(2).as_subclass(Plain).to("cuda:1") + h(2)
g(2).as_subclass(Plain)[0]
x = g(2).as_subclass(Plain); x.add_(1) is x
x = g(2).as_subclass(Plain); x.add_(c(2))
x = g(2).as_subclass(Plain); x[0] = 2.0; x
g(2, 2).as_subclass(Plain) @ c(2, 2)
g(2).as_subclass(Plain).sum().item()
torch.cat([g(2).as_subclass(Plain), c(2)])
torch.zeros_like(g(2).as_subclass(Plain))
g(2).as_subclass(Plain).new_zeros(2)
type(g(2).as_subclass(Plain)) == Plain, isinstance(g(2).as_subclass(Plain), Plain), g(2).as_subclass(Plain).__class__ is Plain
type(g(2).as_subclass(Plain)).__name__, isinstance(g(2), Plain), issubclass(type(g(2).as_subclass(Plain)), Plain)
g(2).as_subclass(Plain).as_subclass(torch.Tensor)
x = g(2).as_subclass(Plain).requires_grad_(); (x * 2).sum().backward(); x.grad
x = g(2).as_subclass(Plain).requires_grad_(); (x * c(2)).sum().backward()
x = g(2).requires_grad_(); (x.as_subclass(Plain) * 2).sum().backward(); x.grad
x = nn.Parameter(c(2).as_subclass(Plain)); type(x).__name__, isinstance(x, nn.Parameter), x.cuda().device
x = nn.Parameter(g(2).as_subclass(Plain)); type(x).__name__, isinstance(x, nn.Parameter), x.device
m = nn.Linear(2, 2); m.weight = nn.Parameter(c(2, 2).as_subclass(Plain)); m.cuda(); m.weight
m = nn.Linear(2, 2); m.weight = nn.Parameter(c(2, 2).as_subclass(Plain)); m.cuda()(g(1, 2))
m = nn.Linear(2, 2); m.weight = nn.Parameter(c(2, 2).as_subclass(Plain)); m.cuda()(c(1, 2))
x = nn.Parameter(g(2).as_subclass(Plain)); o = torch.optim.Adam([x]); (x * 2).sum().backward(); o.step(); o.state[x]["exp_avg"]
type(copy.deepcopy(g(2).as_subclass(Plain))).__name__, copy.deepcopy(g(2).as_subclass(Plain)).device
g(2).as_subclass(Plain).numpy()
g(2).as_subclass(Plain).tolist()
g(2).as_subclass(Plain).untyped_storage().device
g(2).as_subclass(Plain).data_ptr() == 0, g(2).as_subclass(Plain).is_cuda, g(2).as_subclass(Plain).type()
with torch.no_grad(): g(2).as_subclass(Plain).mul_(2)
with torch.autocast("cuda"): g(2, 2).as_subclass(Plain) @ g(2, 2)
with Seen() as seen: g(2).as_subclass(Plain) + 1; seen.types
Counted.seen.clear(); g(2).as_subclass(Counted) + g(2); Counted.seen
Counted.seen.clear(); g(2).as_subclass(Counted).cpu(); Counted.seen
Counted.seen.clear(); c(2).as_subclass(Counted).cuda(); Counted.seen
Counted.seen.clear(); g(2) * g(2).as_subclass(Counted)[0]; Counted.seen
g(2).as_subclass(Counted) + 1
g(2).as_subclass(Counted) + c(2)
torch.Tensor._make_subclass(Plain, g(2))
torch.Tensor._make_subclass(Plain, g(2), True).requires_grad
Plain(g(2))
Plain(c(2)).to("cuda")
Elem(g(2))
Elem(g(2)).elem
Elem(g(2)) + 1
Elem(g(2)) + c(2)
Elem(g(2)) + Elem(c(2))
Elem(g(2)).cpu()
Elem(g(2)).cpu().elem
Elem(c(2)).cuda()
Elem(c(2)).cuda().elem
x = Elem(g(2)); x.add_(1); x.elem.device
x = Elem(g(2)); x[0] = c(1)[0]; x.elem
x = Elem(g(2), True); (x * 2).sum().backward(); x.grad.elem
x = nn.Parameter(Elem(c(2))); x.device, type(x).__name__
m = nn.Linear(2, 2); m.weight = nn.Parameter(Elem(c(2, 2))); m.cuda().weight.elem
m = nn.Linear(2, 2); m.weight = nn.Parameter(Elem(c(2, 2))); m.cuda()(g(1, 2)).elem
m = nn.Linear(2, 2).cuda(); m.weight = nn.Parameter(Elem(c(2, 2))); m(g(1, 2))
copy.deepcopy(Elem(g(2))).elem
Elem(g(2)).data_ptr() == 0, Elem(g(2)).untyped_storage().device
Weight(g(2))
Weight(g(2)) + g(2)
Weight(g(2)) + c(2)
m = nn.Module(); m.w = Weight(c(2)); type(m.cuda().w).__name__, m.w.device
m = nn.Module(); m.w = Weight(c(2)); m.cuda(); (m.w * 2).sum().backward(); m.w.grad
g(2).as_subclass(Below) + 1
g(2).as_subclass(Below) + g(2)
g(2).as_subclass(Below) + c(2)
c(2).as_subclass(Below) * h(2)
g(2).as_subclass(Below).cpu()
c(2).as_subclass(Below).cuda()
with torch._C._DisableTorchDispatch(): g(2) + c(2)
with torch._C._DisableTorchDispatch(): (g(2) + 1).device
with torch._C._DisableTorchDispatch(): torch.ones(2, device="cuda") * 2
g(2).as_subclass(Refuses) + c(2)
g(2).as_subclass(Refuses) * 2
g(2).as_subclass(Refuses).cpu()
c(2).as_subclass(Refuses).cuda()
TwoTensor(g(2).as_subclass(Plain), g(2).as_subclass(Plain)) + 1
x = c(2).as_subclass(Plain).requires_grad_(); (x.cuda() * g(2)).sum().backward(); x.grad
x = g(2).as_subclass(Plain).requires_grad_(); (x.cpu() * c(2)).sum().backward(); x.grad
x = g(2).as_subclass(Plain).requires_grad_(); (x * 2).backward(g(2).as_subclass(Plain).cpu()); x.grad
x = g(2).as_subclass(Plain).requires_grad_(); (x * 2).backward(c(2))
x = g(2).as_subclass(Plain); x.grad = c(2)
x = g(2).as_subclass(Plain); x.data = c(2); x.device, type(x) == Plain
x = c(2).as_subclass(Plain); x.data = g(2); x.device, type(x) == Plain
x = g(2).as_subclass(Plain); y = c(3).as_subclass(Plain); torch.utils.swap_tensors(x, y); x.device, y.device, x.shape
torch.vmap(lambda v: v * 2)(g(2, 2).as_subclass(Plain))
torch.func.grad(lambda v: (v * v).sum())(g(2).as_subclass(Plain))
F.cross_entropy(g(2, 2).as_subclass(Plain), c(2).long())
F.embedding(g(2).long(), c(2, 2).as_subclass(Plain))
F.batch_norm(g(2, 2).as_subclass(Plain), c(2), g(2))
g(2).as_subclass(Plain).to("cuda:1", torch.half)
g(2).as_subclass(Plain).to("meta")
g(2).as_subclass(Plain).pin_memory()
torch.tensor(g(2).as_subclass(Plain))
torch.add(g(2), 1, out=g(2).as_subclass(Plain))
torch.add(c(2), 1, out=g(2).as_subclass(Plain))
torch._foreach_add([g(2).as_subclass(Plain)], [c(2)])
g(4).as_subclass(Plain)[c(1).long()]
c(4).as_subclass(Plain)[g(1).long()]
x = g(4).as_subclass(Plain); x[g(4) > 0] = c(1)[0]; x
torch.einsum("ij,jk->ik", g(2, 2).as_subclass(Plain), c(2, 2))
g(2).as_subclass(Plain).uniform_(generator=torch.Generator())
g(2).as_subclass(Plain).record_stream(torch.cuda.Stream())
m = nn.DataParallel(nn.Linear(2, 2).cuda()); m(g(2, 2).as_subclass(Plain))
m = nn.LayerNorm(2).cuda(); m(c(1, 2).as_subclass(Plain))
m = nn.Linear(2, 2); m.register_buffer("mean", c(2).as_subclass(Plain)); m.cuda().mean
x = Weight(g(2)); o = torch.optim.SGD([x], lr=0.1, momentum=0.9); (x * 2).sum().backward(); o.step(); o.state[x]["momentum_buffer"]
x = Weight(c(2)); y = copy.deepcopy(x); y.cuda().device, type(copy.deepcopy(Weight(g(2)))).__name__
nn.ParameterList([Weight(c(2))]).cuda()[0].device
with torch.inference_mode(): g(2).as_subclass(Plain) + 1
with torch.device("cuda"): torch.ones(2).as_subclass(Plain)
with torch._C._DisableTorchDispatch(): c(2).cuda() + g(2)
with torch._C._DisableTorchDispatch(): torch.zeros_like(g(2)), g(2).sum(), torch.cat([g(2), g(2)])
with torch._C._DisableTorchDispatch(): c(2) + c(2)
with LoggingTensorMode(), torch._C._DisableTorchDispatch(): g(2) + c(2)
guard = torch._C._DisableTorchDispatch(); x = g(2) + 1; del guard; x
