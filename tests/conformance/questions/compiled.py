"""torch.compile (without Inductor, which would write kernels), torch.jit and torch.export of tensors on several devices."""


def compiled(function, backend="eager", **options):
    return torch.compile(function, backend=backend, **options)


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2).cuda()
        self.second = nn.Linear(2, 2)

    def forward(self, x):
        return self.second(self.first(x))


class Buffered(nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = torch.ones(2)

    def forward(self, x):
        return x + self.offset


compiled(lambda x, y: x + y)(g(2), g(2))
compiled(lambda x, y: x + y)(g(2), c())
compiled(lambda x: x.cpu() + 1)(g(2))
compiled(lambda x: x + torch.ones(2, device=x.device))(h(2))
compiled(lambda x: x.device)(g(2))
compiled(lambda x: x.is_cuda and x + 1)(g(2))
compiled(nn.Linear(2, 2).cuda())(g(1, 2))
compiled(lambda x: x * 2, backend="aot_eager")(g(2))
compiled(lambda x: x * 2, fullgraph=True)(g(2))
compiled(lambda x, y: x + y)
compiled(lambda x: x, backend="nonsense")
x = g(2, requires_grad=True); compiled(lambda x: x.sin().sum())(x).backward(); x.grad
torch.compiler.is_compiling()
torch.jit.script(nn.Linear(2, 2)).cuda()(g(1, 2))
torch.jit.script(nn.Linear(2, 2))(g(1, 2))
torch.jit.script(nn.Linear(2, 2).cuda())(c(1, 2))
torch.jit.script(nn.Linear(2, 2)).cuda().weight
torch.jit.script(nn.Linear(2, 2).cuda()).to("cpu").weight
torch.jit.trace(nn.Linear(2, 2).cuda(), g(1, 2))(g(1, 2))
torch.jit.trace(nn.Linear(2, 2).cuda(), g(1, 2))(c(1, 2))
torch.jit.trace(nn.Linear(2, 2).cuda(), c(1, 2))
torch.jit.trace(nn.Linear(2, 2), g(1, 2))
torch.jit.trace(lambda x: x + torch.ones(2, device=x.device), g(2))(g(2))
torch.jit.trace(lambda x: x + torch.ones(2, device=x.device), g(2))(c(2))
torch.jit.trace(lambda x, y: x + y, (g(2), c()))(g(2), c())
torch.jit.trace(lambda x, y: x + y, (g(2), g(2)))(g(2), h(2))
torch.jit.trace(Mixed(), g(1, 2))
torch.jit.trace(Buffered(), g(2))
torch.jit.trace(Buffered().cuda(), c(2))(g(2))
torch.jit.freeze(torch.jit.script(nn.Linear(2, 2).cuda().eval()))(g(1, 2))
torch.jit.freeze(torch.jit.script(nn.Linear(2, 2).cuda().eval()))(c(1, 2))
torch.jit.fork(torch.add, g(2), g(2)).wait()
torch.jit.is_tracing(), torch.jit.is_scripting()
Mixed()(g(1, 2))
Buffered().cuda()(g(2))
torch.fx.symbolic_trace(nn.Linear(2, 2).cuda())(g(1, 2))
torch.fx.symbolic_trace(nn.Linear(2, 2).cuda())(c(1, 2))
torch.fx.symbolic_trace(Mixed())(g(1, 2))
torch.export.export(Mixed(), (g(1, 2),))
with torch._subclasses.FakeTensorMode():
    torch.empty(2, device="cuda").device
with torch._subclasses.FakeTensorMode():
    torch.empty(2, device="cuda") + torch.empty(())
with torch._subclasses.FakeTensorMode():
    torch.empty(2, device="cuda").cpu().device
torch._subclasses.FakeTensorMode().from_tensor(g(2)).device
torch.empty(2, device="meta") + g(2)
g(2) + torch.empty((), device="meta")
g(2).to("meta")
torch.empty(2, device="meta").to("cuda")
torch.empty(2, device="meta").cuda()
nn.Linear(2, 2, device="meta").to_empty(device="cuda").weight
nn.Linear(2, 2, device="meta").cuda()
nn.Linear(2, 2, device="meta")(g(1, 2))
nn.Linear(2, 2).cuda()(torch.empty(1, 2, device="meta"))
