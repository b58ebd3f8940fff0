"""Code that is traced, compiled, scripted or exported, with tensors of several devices."""

from torch.fx.experimental.proxy_tensor import make_fx


def compiled(function, backend="eager", **options):
    return torch.compile(function, backend=backend, **options)


class Moving(nn.Module):
    """A network that makes a tensor in forward and moves its input."""

    def __init__(self, device="cuda"):
        super().__init__()
        self.layer = nn.Linear(2, 2, device=device)
        self.register_buffer("scale", torch.ones(2, device=device))

    def forward(self, x):
        x = x.to(self.scale.device)
        return self.layer(x) * self.scale


class Adding(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x) + torch.ones(2)


@torch.library.custom_op("questions::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


compiled(Moving())(c(1, 2))
compiled(Moving("cpu"))(g(1, 2))
compiled(Adding().cuda())(g(1, 2))
compiled(lambda x, y: x @ y)(g(2, 2), c(2, 2))
compiled(lambda x, y: x @ y)(g(2, 2), h(2, 2))
compiled(lambda x, i: x[i])(g(3), torch.tensor([0]))
compiled(lambda x, i: x[i])(c(3), torch.tensor([0]).cuda())
compiled(lambda x, y: torch.where(x > 0, x, y))(g(2), c())
compiled(lambda x: x.cuda(1) + x.to("cuda:1"))(c(2))
compiled(lambda x: x + x.new_zeros(2))(h(2))
compiled(lambda x: x + torch.arange(2))(g(2))
compiled(lambda x: x.to("cuda:5"))(c(2))
compiled(lambda x: torch.zeros(2, device="cuda"))(c(2))
compiled(lambda x: x.add_(1), backend="aot_eager")(g(2))
compiled(lambda x, y: x.add_(y), backend="aot_eager")(g(2), c(2))
compiled(lambda x, y: x + y, dynamic=True)(g(2), c(2))
compiled(lambda x, y: x - y, backend="aot_eager")(g(2), h(2))
compiled(lambda x, y: F.linear(x, y), fullgraph=True)(c(2, 2), g(2, 2))
compiled(lambda d: torch.ones(2, device=d))("cuda:1")
compiled(lambda x: x.numpy())(g(2))
compiled(lambda x: [x.cpu(), x.device, x.get_device()])(h(2))
compiled(lambda x: x.item())(g())
m = compiled(nn.Linear(2, 2)); m.cuda(); m(g(1, 2))
m = nn.Linear(2, 2).cuda(); m.compile(backend="eager"); m(c(1, 2))
compiled(nn.Linear(2, 2).cuda()).state_dict().keys()
compiled(lambda x: x, mode="fastest")
torch.compile(lambda x: x + 1, backend="eager", options={"a": 1})(g(2))
torch.compiler.disable(lambda x, y: x + y)(g(2), c(2))
torch.compiler.reset(), torch.compiler.is_dynamo_compiling()
torch.compiler.allow_in_graph(lambda x: x)(g(2))
x = g(2, 2, requires_grad=True); compiled(nn.Linear(2, 2).cuda(), backend="aot_eager")(x).sum().backward(); x.grad
x = c(2, requires_grad=True); compiled(lambda x: (x.cuda() * 2).sum(), backend="aot_eager")(x).backward(); x.grad
twice(g(2)), twice(c(2))
torch.ops.questions.twice(h(2))
torch.ops.aten.add.Tensor(g(2), c(2))
torch.ops.aten.add.Tensor(g(2), 1)
torch.ops.aten.mm(g(2, 2), c(2, 2))
torch.ops.aten.mm.default(c(2, 2), g(2, 2))
torch.ops.aten.addmm.default(g(2), g(2, 2), c(2, 2))
torch.ops.aten._to_copy(g(2), device="cpu")
torch.ops.aten.empty.memory_format([2], device="cuda:1")
torch.ops.prims.add(g(2), c(2))
make_fx(lambda x: x + 1)(g(2))(g(2))
make_fx(lambda x, y: x + y)(g(2), c(2))
make_fx(lambda x, y: x + y)(g(2), g(2))(g(2), c(2))
make_fx(lambda x: x.cpu())(g(2))(g(2))
make_fx(lambda x: x + 1, tracing_mode="fake")(g(2))(g(2))
make_fx(lambda x, y: x @ y, tracing_mode="fake")(g(2, 2), c(2, 2))
torch.fx.symbolic_trace(Adding().cuda())(g(1, 2))
torch.fx.symbolic_trace(Moving())(c(1, 2))
torch.fx.symbolic_trace(lambda x: x.to("cuda"))(c(2))
torch.fx.symbolic_trace(lambda x: x + torch.ones(2, device="cuda"))(c(2))
t = torch.fx.symbolic_trace(nn.Linear(2, 2)); t.cuda(); t(g(1, 2)), t.weight
t = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)).cuda()); t.graph.lint(); t.recompile(); t(c(1, 2))
torch.fx.Interpreter(torch.fx.symbolic_trace(nn.Linear(2, 2).cuda())).run(g(1, 2))
torch.fx.Interpreter(torch.fx.symbolic_trace(lambda x: x + 1)).run(h(2))
torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.ReLU())).to("cuda:1")(h(1, 2))
torch.jit.script(nn.Linear(2, 2)).to("cuda:5")
torch.jit.script(nn.Linear(2, 2)).state_dict()["weight"], torch.jit.script(nn.Linear(2, 2).cuda(1)).state_dict()["weight"]
torch.jit.trace(nn.Linear(2, 2).cuda(), (g(1, 2),)).weight
torch.jit.trace(Adding(), c(1, 2)).cuda().layer.weight
torch.jit.trace(Moving(), g(1, 2))(g(1, 2))
torch.jit.trace(lambda x: x.cpu(), g(2))(g(2))
torch.jit.optimize_for_inference(torch.jit.script(nn.Linear(2, 2).eval()))(c(1, 2))
torch.jit.isinstance(g(2), torch.Tensor), torch.jit.annotate(int, 3)
torch.jit.ignore(lambda x: x)(g(2)), torch.jit.unused(lambda x: x)(h(2))
torch.export.export(nn.Linear(2, 2), (c(1, 2),)).module()(c(1, 2))
torch.export.export(nn.Linear(2, 2), (c(1, 2),)).module().cuda()(g(1, 2))
with torch._subclasses.FakeTensorMode() as mode:
    nn.Linear(2, 2, device="cuda")(torch.empty(1, 2, device="cuda"))
with torch._subclasses.FakeTensorMode() as mode:
    torch.ones(2, device="cuda") + torch.ones(2)
with torch._subclasses.FakeTensorMode() as mode:
    torch.ones(2, 2, device="cuda:1") @ torch.ones(2, 2, device="cuda:0")
with torch._subclasses.FakeTensorMode() as mode:
    torch.ones(2).cuda()
with torch._subclasses.FakeTensorMode() as mode:
    g(2) + torch.ones(2, device="cuda")
with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True):
    g(2) + torch.ones(2, device="cuda")
with torch.device("meta"):
    nn.Linear(2, 2).to_empty(device="cuda:1").weight
with torch.device("meta"):
    torch.ones(2) + 1, torch.ones(2).to("cpu")
torch.empty(2, 2, device="meta") @ g(2, 2)
g(2).copy_(torch.empty(2, device="meta"))
torch.empty(2, device="meta").copy_(g(2))
torch.empty_like(g(2), device="meta"), torch.zeros_like(torch.empty(2, device="meta"), device="cuda:1")
torch.empty(2, device="meta").tolist()
torch.utils._mode_utils.no_dispatch() is not None
