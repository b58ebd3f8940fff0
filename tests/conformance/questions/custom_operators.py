"""Operators of one's own: torch.library, for which device their kernels are, and PyTorch's own put in another's place."""

from torch.library import Library, custom_op, opcheck


def twice(name="twice", types=None, **more):
    """An operator with one kernel, for these types of device, that says where it ran."""

    @custom_op(f"questions::{name}", mutates_args=(), device_types=types)
    def operator(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    return operator


def both():
    """An operator with a kernel for each: the CPU's adds 1, CUDA's 2."""

    @custom_op("questions::both", mutates_args=(), device_types="cpu")
    def operator(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x.cpu() + y.cpu() + 1).to(x.device)

    @operator.register_kernel("cuda")
    def _(x, y):
        return (x.cuda() + y.cuda() + 2)[:1]

    return operator


def returning(kernel, schema="(Tensor x) -> Tensor", types=None):
    """An operator of any schema."""
    return custom_op("questions::returning", kernel, mutates_args=(), device_types=types, schema=schema)


def learning(device="cuda"):
    """An operator with a gradient."""
    operator = twice("learning", device)

    def backward(ctx, y):
        return y * 2 + torch.zeros(2, device=y.device)

    operator.register_autograd(backward)
    return operator


def faked(types="cuda"):
    operator = twice("faked", types)
    operator.register_fake(lambda x: torch.empty_like(x))
    return operator


class Defined:
    """A library with one operator, and kernels by key."""

    def __init__(self, schema="f(Tensor x) -> Tensor", **kernels):
        self.library = Library("questions_defined", "FRAGMENT")
        self.library.define(schema)
        for key, kernel in kernels.items():
            self.library.impl(schema.partition("(")[0], kernel, key)

    def __enter__(self):
        return torch.ops.questions_defined

    def __exit__(self, *_):
        self.library._destroy()


class Instead:
    """Another kernel in the place of PyTorch's."""

    def __init__(self, name, kernel, key):
        self.library = Library("aten", "IMPL")
        self.library.impl(name, kernel, key)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library._destroy()


def told(*tensors):
    """A kernel that says nothing but returns what it was given first, moved by nobody."""
    return tensors[0].clone()


twice()(g(2))
twice()(c(2))
twice()(h(2))
twice(types="cuda")(g(2))
twice(types="cuda")(h(2))
twice(types="cuda")(c(2))
twice(types="cpu")(c(2))
twice(types="cpu")(g(2))
twice(types="cpu")(h(2))
twice(types=("cpu", "cuda"))(g(2)), twice(types=["cpu", "cuda"])(c(2))
twice(types="xpu")(g(2))
twice(types="cud")(g(2))
twice(types="cuda")(torch.empty(2, device="meta"))
twice()(torch.empty(2, device="meta"))
twice(types="cuda"); torch.ops.questions.twice(g(2))
twice(types="cpu"); torch.ops.questions.twice(g(2))
twice(types="cpu"); torch.ops.questions.twice.default(h(2))
twice(types="cuda"); torch.ops.questions.twice.default(c(2))
both()(g(2), g(2))
both()(c(2), c(2))
both()(g(2), c(2))
both()(c(2), g(2))
both()(h(2), c(2))
both()(g(2), h(2))
both()(c(2), h(2))
both()(h(2), g(2))
o = twice(types="cpu"); o.register_kernel("cuda")(lambda x: x[:1] * 3); o(g(2)), o(c(2))
o = twice(types="cpu"); o.register_kernel("cuda", lambda x: x.cpu()); o(g(2))
o = twice(types="cuda"); o.register_kernel("cpu", lambda x: x.cuda()); o(c(2))
o = twice(); o.register_kernel("cuda", lambda x: x[:1] * 3); o(g(2)), o(c(2))
with twice(types=("cpu", "cuda")).set_kernel_enabled("cuda", False): torch.ops.questions.twice(g(2))
returning(lambda x: x.cpu() + 1)(g(2))
returning(lambda x: x.to("cuda:1") + 1)(g(2))
returning(lambda x: (x + 1, x.cpu() + 1), "(Tensor x) -> (Tensor, Tensor)")(g(2))
returning(lambda x: [x + 1, x.cpu() + 1, x.to("cuda:1")], "(Tensor x) -> Tensor[]")(g(2))
returning(lambda x: torch.zeros(2), "(Tensor x) -> Tensor")(g(2))
returning(lambda x: torch.zeros(2, device="cuda"), "(Tensor x) -> Tensor")(h(2))
returning(lambda x: x.sum().item(), "(Tensor x) -> float")(g(2)) is not None
returning(lambda x: x.get_device(), "(Tensor x) -> int")(h(2))
returning(lambda x: x.is_cuda, "(Tensor x) -> bool")(g(2))
returning(lambda x: str(x.device), "(Tensor x) -> str")(h(2))
returning(lambda x, d: torch.ones(2, device=d), "(Tensor x, Device d) -> Tensor")(g(2), "cuda:1")
returning(lambda x, d: torch.ones(2, device=d), "(Tensor x, Device d) -> Tensor")(g(2), torch.device("cpu"))
returning(lambda d: torch.ones(2, device=d), "(Device d) -> Tensor")("cuda")
returning(lambda n: torch.ones(n, device="cuda"), "(int n) -> Tensor")(2)
returning(lambda n: torch.ones(n, device="cuda"), "(int n) -> Tensor", "cuda")(2)
returning(lambda xs: xs[0] + 1, "(Tensor[] xs) -> Tensor", "cuda")([g(2), c(2)])
returning(lambda xs: xs[0] + 1, "(Tensor[] xs) -> Tensor", "cuda")([c(2), g(2)])
returning(lambda xs: xs[0] + 1, "(Tensor[] xs) -> Tensor", "cpu")([c(2), g(2)])
returning(lambda xs: xs[0] + xs[1], "(Tensor[] xs) -> Tensor")([c(2), g(2)])
returning(lambda x, y: x + y, "(Tensor x, Tensor y) -> Tensor")(g(2), c(2))
returning(lambda x, y: x + y, "(Tensor x, Tensor y) -> Tensor", "cuda")(g(2), c(2))
returning(lambda x, y: x + y, "(Tensor x, Tensor y) -> Tensor", "cuda")(g(2), h(2))
returning(lambda x, y: x + y, "(Tensor x, Tensor y) -> Tensor", "cpu")(c(2), g(2))
returning(lambda x, y: x + y.to(x.device), "(Tensor x, Tensor y) -> Tensor", "cuda")(g(2), c(2))
returning(lambda x, y: x + y.to(x.device), "(Tensor x, Tensor y) -> Tensor", "cuda")(c(2), g(2))
returning(lambda x, y: x if y is None else y, "(Tensor x, Tensor? y=None) -> Tensor", "cuda")(c(2), g(2))
returning(lambda x, y: x + 1, "(Tensor x, Tensor? y=None) -> Tensor", "cuda")(g(2))
returning(lambda x: x, "(Tensor x) -> Tensor")(g(2))
custom_op("questions::fill", lambda x: x.fill_(2), mutates_args={"x"}, schema="(Tensor(a!) x) -> ()")(g(2))
x = g(2); v = x._version; custom_op("questions::fill", lambda x: (x.fill_(2), None)[1], mutates_args={"x"}, schema="(Tensor(a!) x) -> ()", device_types="cuda")(x); x._version - v
x = g(2); custom_op("questions::fill", lambda x: x.fill_(2) and None, mutates_args={"x"}, schema="(Tensor(a!) x) -> ()", device_types="cpu")(x)
x = g(2, requires_grad=True); learning()(x).sum().backward(); x.grad
x = h(2, requires_grad=True); learning()(x).sum().backward(); x.grad
x = c(2, requires_grad=True); learning()(x).sum().backward(); x.grad
x = g(2, requires_grad=True); learning("cpu")(x)
x = g(2, requires_grad=True); twice(types="cuda")(x).sum().backward()
x = g(2, requires_grad=True); twice(types="cuda")(x).grad_fn is None
x = c(2, requires_grad=True); learning(("cpu", "cuda"))(x.cuda()).sum().backward(); x.grad
o = learning(); x = h(2, requires_grad=True); torch.autograd.grad(o(o(x)).sum(), x)
o = twice("learning"); o.register_autograd(lambda ctx, y: y.cpu()); x = g(2, requires_grad=True); o(x).sum().backward()
o = twice("learning"); o.register_autograd(lambda ctx, y: y.to("cuda:1")); x = g(2, requires_grad=True); o(x).sum().backward()
o = twice("learning", "cuda"); o.register_autograd(lambda ctx, y: ctx.saved_tensors[0] * y, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0])); x = h(2, requires_grad=True); o(x).sum().backward(); x.grad
with torch._subclasses.FakeTensorMode(): faked()(torch.ones(2, device="cuda"))
with torch._subclasses.FakeTensorMode(): faked("cpu")(torch.ones(2, device="cuda"))
o = faked(); o(torch.empty(2, device="meta"))
o = faked(); torch.fx.experimental.proxy_tensor.make_fx(lambda x: o(x) + 1)(g(2))(g(2))
o = faked(); torch.fx.experimental.proxy_tensor.make_fx(lambda x: o(x) + 1, tracing_mode="fake")(g(2))(g(2))
with torch._subclasses.FakeTensorMode(): twice(types="cuda")(torch.ones(2, device="cuda"))
o = twice("mapped", "cuda"); o.register_vmap(lambda info, dims, x: (o(x), dims[0])); torch.vmap(o)(g(3, 2))
o = twice("mapped", "cpu"); o.register_vmap(lambda info, dims, x: (o(x), dims[0])); torch.vmap(o)(g(3, 2))
o = twice("mapped", "cuda"); torch.vmap(o)(g(3, 2))
o = faked(); opcheck(o, (g(2),), test_utils="test_faketensor")
o = faked("cpu"); opcheck(o, (g(2),), test_utils="test_schema")
with Defined(CUDA=told) as m: m.f(g(2))
with Defined(CUDA=told) as m: m.f(c(2))
with Defined(CPU=told) as m: m.f(g(2))
with Defined(CPU=told) as m: m.f(c(2))
with Defined(CUDA=told, CPU=lambda x: x[:1]) as m: m.f(g(2)), m.f(c(2))
with Defined(CompositeExplicitAutograd=told) as m: m.f(g(2))
with Defined(CompositeImplicitAutograd=told) as m: m.f(h(2))
with Defined() as m: m.f(g(2))
with Defined() as m: m.f(c(2))
with Defined(Meta=told) as m: m.f(g(2))
with Defined(AutogradCUDA=lambda x: x[:1]) as m: m.f(g(2)), 1
with Defined(AutogradCUDA=lambda x: x[:1]) as m: m.f(c(2))
with Defined(AutogradCPU=lambda x: x[:1]) as m: m.f(g(2))
with Defined(AutogradCUDA=lambda x: x[:1], CPU=told) as m: m.f(c(2))
with Defined(Autograd=lambda x: x[:1]) as m: m.f(g(2))
with Defined("f(Tensor x, Tensor y) -> Tensor", CUDA=lambda x, y: x + y) as m: m.f(g(2), c(2))
with Defined("f(Tensor x, Tensor y) -> Tensor", CUDA=lambda x, y: x.cuda() + y.cuda()) as m: m.f(c(2), h(2))
with Defined("f(Tensor x, Tensor y) -> Tensor", CPU=lambda x, y: x.cpu() + y.cpu()) as m: m.f(c(2), h(2))
with Defined("f(Tensor x, Device d) -> Tensor", CUDA=lambda x, d: x.to(d)) as m: m.f(g(2), "cpu")
with Defined("f(int n) -> Tensor", CUDA=lambda n: torch.ones(n, device="cuda")) as m: m.f(2)
with Defined("f(int n) -> Tensor", CPU=lambda n: torch.ones(n)) as m: m.f(2)
with Defined("f(int n, *, Device? device=None) -> Tensor", CUDA=lambda n, device=None: torch.ones(n, device=device)) as m: m.f(2, device="cuda")
with Defined("f(int n, *, Device? device=None) -> Tensor", CPU=lambda n, device=None: torch.ones(n, device=device)) as m: m.f(2, device="cuda")
with Defined(CUDA=told) as m: torch._C._dispatch_has_kernel_for_dispatch_key("questions_defined::f", "CUDA"), torch._C._dispatch_has_kernel_for_dispatch_key("questions_defined::f", "CPU")
with Defined(CUDA=told) as m: torch.library.impl("questions_defined::f", "cpu", lambda x: x[:1]); m.f(c(2)), m.f(g(2))
with Instead("sin", lambda x: torch.zeros(1, device=x.device), "CUDA"): torch.sin(g(2)), torch.sin(h(2)), torch.sin(c(2))
with Instead("sin", lambda x: torch.zeros(1), "CPU"): torch.sin(g(2)), torch.sin(c(2))
with Instead("add.Tensor", lambda x, y, alpha=1: x.cpu(), "CUDA"): g(2) + g(2), c(2) + c(2)
with Instead("add.Tensor", lambda x, y, alpha=1: x, "CUDA"): g(2) + c(2)
with Instead("mm", lambda x, y: x.cpu() @ y.cpu(), "CUDA"): g(2, 2) @ c(2, 2)
with Instead("relu", lambda x: x[:1], "AutogradCUDA"): torch.relu(g(2)), torch.relu(c(2))
