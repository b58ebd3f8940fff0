"""Classes that hold tensors and dispatch operators themselves: made by _make_wrapper_subclass, wherever they are."""

import copy
import weakref
from torch.utils._python_dispatch import is_traceable_wrapper_subclass, return_and_correct_aliasing
from torch.utils._pytree import tree_map_only


class Held(torch.Tensor):
    """Computes with the tensor that it holds, and keeps its memory format and its aliases."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), storage_offset=inner.storage_offset(), dtype=inner.dtype,
            device=inner.device, requires_grad=inner.requires_grad,
        )

    def __init__(self, inner):
        self.inner = inner

    def __repr__(self):
        return f"Held({self.inner})"

    def __tensor_flatten__(self):
        return ["inner"], None

    @staticmethod
    def __tensor_unflatten__(tensors, meta, outer_size, outer_stride):
        return Held(tensors["inner"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs=None):
        kwargs = kwargs or {}
        inner_args, inner_kwargs = tree_map_only(Held, lambda x: x.inner, (args, kwargs))
        out = tree_map_only(torch.Tensor, Held, func(*inner_args, **inner_kwargs))
        return return_and_correct_aliasing(func, args, kwargs, out)


class Int8(torch.Tensor):
    """A weight in eight bits with a scale: linear and a few operators know it, others get it in full precision."""

    @staticmethod
    def __new__(cls, data, scale, shape=None):
        return torch.Tensor._make_wrapper_subclass(cls, shape or data.shape, dtype=scale.dtype, device=data.device)

    def __init__(self, data, scale, shape=None):
        self.data_, self.scale = data, scale

    @classmethod
    def of(cls, x):
        scale = x.abs().amax(1, keepdim=True) / 127
        return cls((x / scale).round().to(torch.int8), scale)

    def dequantize(self):
        return self.data_.to(self.scale.dtype) * self.scale

    def __tensor_flatten__(self):
        return ["data_", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, tensors, meta, outer_size, outer_stride):
        return cls(tensors["data_"], tensors["scale"], outer_size)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is F.linear:
            y = torch.matmul(args[0], args[1].data_.t().to(args[0].dtype)) * args[1].scale.t()
            bias = args[2] if len(args) > 2 else kwargs.get("bias")
            return y if bias is None else y + bias
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs=None):
        kwargs = kwargs or {}
        aten = torch.ops.aten
        if func in (aten.detach.default, aten.clone.default, aten.alias.default):
            out = cls(func(args[0].data_), func(args[0].scale))
            return return_and_correct_aliasing(func, args, kwargs, out)
        if func is aten._to_copy.default:
            device = kwargs.get("device")
            return cls(args[0].data_.to(device), args[0].scale.to(device, kwargs.get("dtype")))
        if func is aten.copy_.default and isinstance(args[1], Int8):
            args[0].data_.copy_(args[1].data_)
            args[0].scale.copy_(args[1].scale)
            return args[0]
        if func is aten.addcmul_.default:
            raise NotImplementedError(f"{cls.__name__} has no {func}")
        args, kwargs = tree_map_only(Int8, Int8.dequantize, (args, kwargs))
        return func(*args, **kwargs)


class NoDevice(torch.Tensor):
    """Names no device when it is made, as its author forgot it."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs=None):
        args, kwargs = tree_map_only(NoDevice, lambda x: x.inner, (args, kwargs or {}))
        return func(*args, **kwargs)


class Quantize(torch.autograd.Function):
    """Makes a quantized tensor; its gradient is that of the identity."""

    @staticmethod
    def forward(ctx, x):
        return Int8.of(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Asked(torch.Tensor):
    """Says which operators it was given, and where their plain tensors are."""

    @staticmethod
    def __new__(cls, device):
        return torch.Tensor._make_wrapper_subclass(cls, (2, 2), device=device)

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs=None):
        plain = [str(x.device) for x in args if isinstance(x, torch.Tensor) and not isinstance(x, Asked)]
        raise ValueError(f"{func} of {[kind.__name__ for kind in types]} beside {plain}, {sorted(kwargs or {})}")


def layer(device="cpu", move=True):
    """A linear layer with a quantized weight."""
    m = nn.Linear(2, 2, device=device)
    m.weight = nn.Parameter(Int8.of(m.weight.detach() + 1), requires_grad=False)
    return m.cuda() if move else m


def trained(make, optimizer, **options):
    """A layer whose weight is a Held, after a step."""
    m = nn.Linear(2, 2).cuda()
    m.weight = nn.Parameter(make(m.weight.detach()))
    o = optimizer(m.parameters(), **options)
    m(torch.ones(1, 2, device="cuda")).sum().backward()
    o.step()
    return m, o


x = Held(g(2)); x.device, x.inner.device, x.is_cuda, x.is_cpu, x.get_device(), x.type()
x = Held(h(2)); x.device, x.inner.device, str(x.device), x.get_device()
Held(g(2, 2)).t()
Held(g(2, 2))[0]
Held(g(2, 2))[0].inner
Held(g(2, 2)).view(4).inner
Held(g(2, 2)).sum().inner
Held(g(2)).detach().inner
Held(g(2)).clone().inner
x = Held(g(2)); x.add_(1) is x, x.inner.device
x = Held(g(2)); x += g(2); x.inner
x = Held(g(2)); x += c(2)
x = Held(c(2)); x += g(2)
x = Held(g(2)); x.mul_(2.0); x[0] = 3.0; x.inner
x = Held(g(2)); x[0] = c(1)[0]; x.inner
x = Held(g(2)); x[:] = c(2); x.inner
x = Held(g(2)); x.copy_(c(2)); x.inner
x = Held(g(2)); x.zero_().device
Held(g(2)) + c(2)
c(2) + Held(g(2))
Held(g(2)) + h(2)
Held(g(2)) + Held(c(2))
Held(g(2)) + Held(g(2))
Held(g(2)) * c()
Held(g(2)) * 2
torch.cat([Held(g(2)), c(2)])
torch.cat([Held(g(2)), g(2)]).inner
torch.stack([Held(g(2)), Held(c(2))])
Held(g(2, 2)) @ c(2, 2)
F.linear(c(1, 2), Held(g(2, 2)))
F.linear(Held(g(1, 2)), g(2, 2), c(2))
F.layer_norm(Held(g(2, 2)), (2,), g(2), c(2))
F.embedding(c(1).long(), Held(g(2, 2)))
Held(g(2)).index_select(0, c(1).long())
torch.where(Held(g(2)) > 0, g(2), c(2))
Held(g(2)).cpu().inner
Held(g(2)).to("cuda:1").inner
Held(c(2)).cuda().inner
Held(c(2)).cuda(1).inner
Held(c(2)).to(g(1)).inner
Held(g(2)).to(torch.float64).inner
Held(g(2)).half().inner
x = Held(g(2)); x.cuda() is x, x.to("cuda") is x, x.to("cuda:0") is x
Held(g(2)).to("meta").inner
Held(c(2)).to("cuda:7")
torch.empty_like(Held(g(2))).inner
torch.zeros_like(Held(g(2)), device="cpu").inner
Held(g(2)).new_zeros(3).inner
Held(g(2)).numpy()
Held(g(2)).tolist()
Held(g(1)).item()
type(Held(g(2))) is Held, type(Held(g(2)).cpu()) is Held, type(Held(c(2)).cuda()) is Held
isinstance(Held(g(2)), torch.Tensor), issubclass(type(Held(g(2))), torch.Tensor)
isinstance(Held(g(2)), torch.cuda.FloatTensor), isinstance(Held(g(2)), torch.FloatTensor)
type(nn.Parameter(Held(g(2)))) is Held, isinstance(nn.Parameter(Held(g(2))), nn.Parameter)
is_traceable_wrapper_subclass(Held(g(2)))
x, meta = Held(g(2)).__tensor_flatten__(); x, meta
copy.deepcopy(Held(g(2))).inner
copy.copy(Held(g(2))).inner
copy.deepcopy(nn.Parameter(Held(g(2)))).inner
sorted(vars(Held(g(2))))
x = Held(g(2)); weakref.ref(x)() is x
Held(g(2)).untyped_storage().device
Held(g(2)).data_ptr()
Held(g(2)).data.inner
x = Held(g(2)); x.data = Held(c(2)); x.device, x.inner.device
x = Held(g(2)); x.grad = Held(c(2))
x = Held(g(2)); x.grad = c(2)
x = Held(g(2)); x.grad = g(2)
x = Held(g(2)).requires_grad_(); (x * 2).sum().backward(); x.grad.inner
x = Held(g(2)).requires_grad_(); (x * c(2)).sum().backward()
x = Held(g(2)).requires_grad_(); (x.cpu() * c(2)).sum().backward(); x.grad.inner
x = Held(g(2)).requires_grad_(); (x * 2).backward(g(2)); x.grad
x = Held(g(2)).requires_grad_(); (x * 2).backward(Held(g(2))); x.grad.inner
x = Held(g(2)).requires_grad_(); y = g(2).requires_grad_(); (x * y).sum().backward(); y.grad
x = Held(g(2)).requires_grad_(); torch.autograd.grad((x ** 2).sum(), x)[0].inner
x = Held(g(2)).requires_grad_(); (x * 2).grad_fn
x = Held(g(2)).requires_grad_(); x.register_hook(lambda v: v * c(2)); (x * 2).sum().backward()
x = Held(g(2).requires_grad_()); x.requires_grad, x.is_leaf
torch.nn.utils.clip_grad_norm_([trained(Held, torch.optim.SGD, lr=0.1)[0].weight], 1.0)
m, o = trained(Held, torch.optim.SGD, lr=0.1, momentum=0.9); [v["momentum_buffer"].device for v in o.state.values()]
m, o = trained(Held, torch.optim.AdamW); [v["exp_avg"].device for v in o.state.values()], type(m.weight.grad).__name__
m, o = trained(Held, torch.optim.AdamW, foreach=False); [type(v["exp_avg"]).__name__ for v in o.state.values()]
m, o = trained(Held, torch.optim.AdamW); o.load_state_dict(o.state_dict()); [v["exp_avg"].device for v in o.state.values()]
m, o = trained(Held, torch.optim.Adam, foreach=True); m.cpu(); o.step()
m = nn.Linear(2, 2); m.weight = nn.Parameter(Held(c(2, 2))); m.cuda(); m.weight.inner, m.bias.device
m = nn.Linear(2, 2); m.weight = nn.Parameter(Held(c(2, 2))); m.cuda(); m(c(1, 2))
m = nn.Linear(2, 2); m.weight = nn.Parameter(Held(g(2, 2))); m(g(1, 2))
m = nn.Linear(2, 2).cuda(); m.weight = nn.Parameter(Held(g(2, 2))); m(g(1, 2)).inner
m = nn.Linear(2, 2).cuda(); m.register_buffer("b", Held(c(2))); m.cuda().b.inner
m = nn.Linear(2, 2).cuda(); m.weight = nn.Parameter(Held(g(2, 2))); m.load_state_dict(nn.Linear(2, 2).state_dict()); m.weight.inner
m = nn.Linear(2, 2); m.weight = nn.Parameter(Held(g(2, 2))); [str(v.device) for v in m.state_dict().values()]
m = nn.Linear(2, 2).to("meta"); m.weight = nn.Parameter(Held(m.weight)); m.to_empty(device="cuda").weight.inner
m = layer(); m.weight.data_, m.weight.scale, m.weight.device, m.weight.requires_grad
layer()(g(1, 2))
layer()(c(1, 2))
layer()(h(1, 2))
layer(move=False)(g(1, 2))
layer("cuda", move=False)(g(1, 2))
layer().to("cuda:1")(h(1, 2))
layer().cpu()(c(1, 2))
layer().half().weight.scale
m = layer(); m.bias.data = m.bias.data.cpu(); m(g(1, 2))
m = layer(); m.load_state_dict(layer(move=False).state_dict()); m.weight.data_, m.weight.scale
m = layer(); m.load_state_dict(layer().state_dict(), assign=True); m.weight.data_
m = layer(move=False); m.load_state_dict(layer().state_dict(), assign=True); m(g(1, 2))
copy.deepcopy(layer())(g(1, 2))
Int8(g(2, 2).to(torch.int8), c(2, 1)).dequantize()
Int8(g(2, 2).to(torch.int8), c(2, 1)) + g(2, 2)
Int8.of(g(2, 2)) + 1
Int8.of(g(2, 2)) @ c(2, 2)
Int8.of(g(2, 2)).addcmul_(g(2, 2), g(2, 2))
Int8.of(g(2, 2)).copy_(Int8.of(c(2, 2))).data_
x = g(2, 2).requires_grad_(); Quantize.apply(x).device
x = g(2, 2).requires_grad_(); Quantize.apply(x).matmul(g(2, 2)).sum().backward(); x.grad
x = g(2, 2).requires_grad_(); F.linear(g(1, 2), Quantize.apply(x)).sum()
with torch.no_grad(): x = nn.Parameter(Int8.of(g(2, 2)), False); x.data_, x.is_cuda
with torch.device("cuda"): Held(torch.ones(2)).inner
with torch.inference_mode(): (Held(g(2)) * 2).inner
with torch.autocast("cuda"): torch.mm(Held(g(2, 2)), g(2, 2)).inner
with torch.autocast("cuda", torch.bfloat16): F.linear(g(1, 2), layer().weight)
with torch.autocast("cuda"): layer()(c(1, 2))
NoDevice(g(2)).device, NoDevice(g(2)).is_cuda
NoDevice(g(2)) + g(2)
NoDevice(g(2)) + c(2)
NoDevice(g(2)).to("cuda")
NoDevice(g(2)).cpu()
nn.Parameter(NoDevice(g(2)), False).device
Asked("cuda:1") + c(2)
Asked("cuda:1").to("cpu")
Asked("cuda:1").cuda()
Asked("cpu").cuda()
Asked("cuda:0").detach()
torch.add(Asked("cuda"), c(2, 2), out=g(2, 2))
torch.ones_like(Asked("cuda"))
Asked("cuda:0").view(4)
Asked("cuda:0").record_stream(torch.cuda.current_stream())
torch.Tensor._make_wrapper_subclass(Held, (2,), device="cuda").device
torch.Tensor._make_wrapper_subclass(Held, (2,), device="cuda:1", dtype=torch.half)._version
torch.Tensor._make_wrapper_subclass(torch.Tensor, (2,), device="cuda")
torch.Tensor._make_wrapper_subclass(Held, (2,), device="cuda", requires_grad=True).requires_grad
torch.Tensor._make_wrapper_subclass(Held, (2, 2), (1, 2), device="cuda").stride()
torch.Tensor._make_wrapper_subclass(Held, (2,), device="cuda", device_for_backend_keys=torch.device("cuda"))
x = Held(g(2)).requires_grad_(); (x * 2).backward(c(2))
torch.func.grad(lambda v: (v * v).sum())(Held(g(2)))
