"""Higher-order operators, which take functions, and what traces and exports, with tensors of several devices."""

import io

from functorch.compile import aot_function, aot_module, make_boxed_func
from torch._functorch.aot_autograd import aot_export_joint_simple, aot_export_module
from torch._higher_order_ops import associative_scan, map, scan, while_loop
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention.flex_attention import and_masks, create_block_mask, create_mask, flex_attention, noop_mask


def compiled(function, backend="eager", **options):
    return torch.compile(function, backend=backend, **options)


def qkv(device="cuda", heads=2, length=128, size=16, **options):
    return [torch.ones(1, heads, length, size, device=device, **options) for _ in range(3)]


def causal(b, h, i, j):
    return i >= j


def blocks(device="cuda", mask=causal, length=128):
    return create_block_mask(mask, None, None, length, length, device=device)


def biased(bias):
    return lambda score, b, h, i, j: score + bias[h]


def same_document(documents):
    return lambda b, h, i, j: documents[i] == documents[j]


def times(weight):
    return lambda x: x * weight


def step(weight):
    return lambda carry, row: (carry @ weight + row, carry * row)


def ready(graph, inputs):
    return make_boxed_func(graph.forward)


def true(device="cuda"):
    return torch.tensor(True).to(device)


def zero(device="cuda"):
    return torch.tensor(0).to(device)


def places(program):
    return sorted({str(x.device) for x in (*program.parameters(), *program.buffers())})


class Layers(nn.Module):
    def __init__(self, first="cuda", second="cuda"):
        super().__init__()
        self.first = nn.Linear(2, 2, device=first)
        self.second = nn.Linear(2, 2, device=second)

    def forward(self, x):
        return self.second(self.first(x).relu())


class Choosing(nn.Module):
    def __init__(self, device="cuda"):
        super().__init__()
        self.one, self.other = nn.Linear(2, 2, device=device), nn.Linear(2, 2, device=device)

    def forward(self, x):
        return torch.cond(x.sum() > 0, self.one, self.other, (x,))


class Offset(nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = torch.ones(2)

    def forward(self, x):
        return x + self.offset


class Constant(nn.Module):
    def forward(self, x):
        return x + torch.tensor([1.0, 2.0], device=x.device)


class Made(nn.Module):
    def forward(self, x):
        return x + torch.arange(2)


class Attention(nn.Module):
    def __init__(self, device="cuda", masked="cuda"):
        super().__init__()
        self.qkv = nn.Linear(16, 48, device=device)
        self.mask = create_block_mask(causal, None, None, 128, 128, device=masked)

    def forward(self, x):
        q, k, v = self.qkv(x).view(1, 128, 3, 1, 16).permute(2, 0, 3, 1, 4)
        return flex_attention(q, k, v, block_mask=self.mask)


flex_attention(*qkv())
flex_attention(*qkv("cuda:1"))
flex_attention(*qkv(requires_grad=True))
q, k, v = qkv(requires_grad=True); flex_attention(q, k, v).sum().backward(); q.grad, k.grad, v.grad
q, k, v = qkv(requires_grad=True); flex_attention(q, k, v, block_mask=blocks()).sum().backward(); q.grad
flex_attention(*qkv(), block_mask=blocks())
flex_attention(*qkv(), block_mask=blocks("cpu"))
flex_attention(*qkv("cpu"), block_mask=blocks())
flex_attention(*qkv(), block_mask=blocks("cuda:1"))
flex_attention(*qkv(requires_grad=True), block_mask=blocks("cpu"))
flex_attention(*qkv(), block_mask=blocks("cpu").to("cuda"))
blocks("cpu").to("cuda").kv_num_blocks, blocks().to("cpu").kv_indices
blocks().kv_num_blocks.device, blocks("cuda:1").q_indices.device
flex_attention(*qkv(), score_mod=biased(g(2)))
flex_attention(*qkv(), score_mod=biased(c(2)))
flex_attention(*qkv(), score_mod=biased(h(2)))
flex_attention(*qkv(requires_grad=True), score_mod=biased(c(2)))
b = g(2, requires_grad=True); flex_attention(*qkv(), score_mod=biased(b)).sum().backward(); b.grad
b = c(2, requires_grad=True); flex_attention(*qkv(), score_mod=biased(b)).sum().backward(); b.grad
flex_attention(*qkv(), score_mod=lambda s, b, h, i, j: s + torch.tensor(1.0))
flex_attention(*qkv(), score_mod=lambda s, b, h, i, j: s + torch.ones((), device="cuda:1"))
flex_attention(*qkv(), score_mod=lambda s, b, h, i, j: torch.where(i >= j, s, -float("inf")))
q, k, v = qkv(); flex_attention(q.cpu(), k, v)
q, k, v = qkv(); flex_attention(q, k.cpu(), v)
q, k, v = qkv(); flex_attention(q, k, v.to("cuda:1"))
q, k, v = qkv(requires_grad=True); flex_attention(q, k, v.to("cuda:1"))
flex_attention(*qkv(), return_lse=True)
flex_attention(*qkv(), scale=0.5, enable_gqa=False)
q, k, v = qkv(heads=4); flex_attention(q, k[:, :2], v[:, :2], enable_gqa=True)
q, k, v = qkv(heads=4); flex_attention(q, k[:, :2], v[:, :2])
q, k, v = qkv(); flex_attention(q.half(), k, v)
flex_attention(*qkv(dtype=torch.bfloat16))
flex_attention(*qkv(length=100), block_mask=blocks(length=100))
flex_attention(*qkv(length=100), block_mask=blocks())
flex_attention(g(2, 3), g(2, 3), g(2, 3))
flex_attention(*qkv(), block_mask=blocks(mask=lambda b, h, i, j: g(128)[i] > 0))
flex_attention(*qkv(), block_mask=blocks(mask=lambda b, h, i, j: c(128)[i] > 0))
blocks("cpu", mask=lambda b, h, i, j: g(128)[i] > 0)
blocks(mask=same_document(c(128)))
blocks("cpu", mask=same_document(g(128)))
flex_attention(*qkv(), block_mask=blocks(mask=same_document(g(128))))
create_mask(causal, None, None, 4, 4, device="cuda"), create_mask(causal, None, None, 4, 4, device="cpu")
create_mask(causal, None, None, 4, 4)
create_block_mask(causal, None, None, 128, 128).kv_indices
create_block_mask(and_masks(causal, noop_mask), 1, 2, 128, 128, device="cuda").full_kv_indices
compiled(flex_attention)(*qkv())
compiled(flex_attention, "aot_eager")(*qkv())
compiled(flex_attention)(*qkv(requires_grad=True))
q, k, v = qkv(requires_grad=True); compiled(flex_attention, "aot_eager")(q, k, v).sum().backward(); q.grad
compiled(flex_attention)(*qkv(), block_mask=blocks())
compiled(flex_attention)(*qkv(), block_mask=blocks("cpu"))
compiled(flex_attention)(*qkv(), score_mod=biased(c(2)))
compiled(flex_attention, "aot_eager")(*qkv(), score_mod=biased(c(2)))
q, k, v = qkv(); compiled(flex_attention)(q, k.cpu(), v)
Attention()(g(1, 128, 16))
Attention(masked="cpu")(g(1, 128, 16))
Attention()(c(1, 128, 16))
Attention().to("cuda:1")(h(1, 128, 16))
compiled(Attention())(g(1, 128, 16))
with torch.autocast("cuda"):
    flex_attention(*qkv())
with torch.no_grad():
    flex_attention(*qkv(requires_grad=True))
with FakeTensorMode():
    flex_attention(*qkv())
with torch.device("cuda"):
    create_block_mask(causal, None, None, 128, 128).kv_indices
with torch.device("cuda"):
    torch.cond(true(), lambda x: x + torch.ones(2), torch.sin, (g(2),))
torch.cond(true(), torch.sin, torch.cos, (g(2),))
torch.cond(true("cpu"), torch.sin, lambda x: x + c(2), (g(2),))
torch.cond(true("cpu"), lambda x: x + h(2), torch.sin, (g(2),))
torch.cond(true("cpu"), torch.sin, lambda x: x + torch.ones(2, device="cuda"), (g(2),))
torch.cond(true("cpu"), torch.sin, lambda x: x.cpu().cuda(1).to("cuda"), (g(2),))
torch.cond(true("cpu"), lambda x, y: x[0] + y["b"], lambda x, y: x[0] - y["b"], ([g(2)], {"b": g(2)}))
torch.cond(true("cpu"), nn.Linear(2, 2).cuda(), nn.Linear(2, 2), (g(1, 2),))
torch.cond(true("cpu"), lambda x: x.sin(), lambda x: x.sin().half(), (g(2),))
torch.cond(true("cpu"), lambda x: x.sin(), lambda x: (x.sin(), x.cos()), (g(2),))
torch.cond(g(2).sum() > 0, torch.sin, torch.cos, (g(2),))
torch.cond(true("cpu"), torch.sin, torch.cos, (g(2),))
torch.cond(true("cuda:1"), torch.sin, torch.cos, (g(2),))
torch.cond(true(), torch.sin, torch.cos, (c(2),))
torch.cond(True, torch.sin, torch.cos, (g(2),))
torch.cond(true(), torch.add, torch.sub, (g(2), g(2)))
torch.cond(true(), torch.add, torch.sub, (g(2), c(2)))
torch.cond(true(), torch.add, torch.sub, (g(2), h(2)))
torch.cond(true(), torch.add, torch.sub, (g(2), c()))
torch.cond(true("cpu"), lambda x: x + c(2), lambda x: x, (g(2),))
torch.cond(true(), lambda x: x.cpu(), lambda x: x.sin(), (g(2),))
torch.cond(true(), lambda x: x.cpu(), lambda x: x.cpu() + 1, (g(2),))
torch.cond(true(), lambda x: x.cuda(1), lambda x: x.to("cuda:1") * 2, (g(2),))
torch.cond(true(), lambda x: x.sin(), lambda x: x.sum(), (g(2),))
torch.cond(true(), lambda x: x, lambda x: x.sin(), (g(2),))
torch.cond(true(), lambda x: (x.sin(), x.cos()), lambda x: (x.cos(), x.sin()), (g(2),))
torch.cond(true(), lambda x: {"a": x.sin()}, lambda x: {"a": x.cos()}, (g(2),))
torch.cond(true(), lambda d: d["a"].sin(), lambda d: d["a"].cos(), ({"a": g(2)},))
torch.cond(true(), lambda x: x.add_(1), lambda x: x.sin(), (g(2),))
torch.cond(true(), lambda: g(2), lambda: g(2) + 1)
torch.cond(torch.zeros(2, device="cuda"), torch.sin, torch.cos, (g(2),))
torch.cond(g(1), torch.sin, torch.cos, (g(2),))
torch.cond(1, torch.sin, torch.cos, (g(2),))
torch.cond(true(), torch.sin, torch.cos, torch.zeros(2, device="cuda"))
torch.cond(true(), torch.sin, torch.cos, (torch.zeros(2, device="cuda"), 3))
x = g(2, requires_grad=True); torch.cond(true(), torch.sin, torch.cos, (x,)).sum().backward(); x.grad
x = h(2, requires_grad=True); torch.cond(true("cpu"), torch.sin, torch.cos, (x,)).sum().backward(); x.grad
x, y = g(2, requires_grad=True), c(requires_grad=True); torch.cond(true(), torch.mul, torch.add, (x, y)).sum().backward(); y.grad
x = g(2, requires_grad=True); torch.cond(true(), lambda x: x.cpu() * 2, lambda x: x.cpu(), (x,)).sum().backward(); x.grad
x, y = g(2, requires_grad=True), c(2); torch.cond(true(), torch.mul, torch.add, (x, y))
w = g(2, requires_grad=True); torch.cond(true(), times(w), torch.sin, (g(2),)).sum().backward(); w.grad
torch.cond(true(), times(c(2, requires_grad=True)), torch.sin, (g(2),))
torch.cond(true(), torch.sin, torch.cos, (g(2, requires_grad=True),)).requires_grad
Choosing()(g(1, 2))
Choosing()(c(1, 2))
Choosing("cpu")(g(1, 2))
m = Choosing(); m(g(1, 2)).sum().backward(); m.one.weight.grad, m.other.weight.grad
compiled(Choosing())(g(1, 2))
compiled(Choosing(), "aot_eager")(g(1, 2))
compiled(Choosing())(c(1, 2))
compiled(lambda p, x: torch.cond(p, torch.sin, torch.cos, (x,)))(true("cpu"), g(2))
compiled(lambda p, x, y: torch.cond(p, torch.add, torch.sub, (x, y)))(true(), g(2), c(2))
compiled(lambda p, x, y: torch.cond(p, torch.add, torch.sub, (x, y)), "aot_eager")(true(), g(2), h(2))
compiled(lambda p, x: torch.cond(p, lambda x: x.cpu(), lambda x: x.sin(), (x,)))(true(), g(2))
x = g(2, requires_grad=True); compiled(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), "aot_eager")(x).sum().backward(); x.grad
torch.vmap(lambda p, x: torch.cond(p, torch.sin, torch.cos, (x,)))(g(2) > 0, g(2, 3))
while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + 1), (zero(), g(2)))
while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + 1), (zero("cpu"), g(2)))
while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + 1), (zero("cuda:1"), g(2)))
while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + c(2)), (zero("cpu"), g(2)))
while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x.cpu()), (zero("cpu"), g(2)))
while_loop(lambda i, x, y: i < 3, lambda i, x, y: (i + 1, x + y, y), (zero("cpu"), g(2), h(2)))
while_loop(lambda i, x: i < 3, lambda i, x: (i + x, x), (zero("cpu"), g(dtype=torch.long)))
while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x.sum()), (zero("cpu"), g(2)))
while_loop(lambda x: x, lambda x: (x + 1,), (g(2),))
while_loop(lambda x: x.sum() < 0, lambda x: (x.add_(1),), (g(2),))
while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (zero("cpu"), g(2, requires_grad=True)))
x = g(2, requires_grad=True); while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (zero("cpu"), x))[1].sum().backward(); x.grad
compiled(lambda i, x: while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (i, x)))(zero("cpu"), g(2))
compiled(lambda i, x: while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (i, x)), "aot_eager")(zero(), g(2))
compiled(lambda i, x, y: while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * y), (i, x)))(zero("cpu"), g(2), c(2))
map(lambda row, y: row * y, g(3, 2), g(2))
map(lambda row, y: row * y, g(3, 2), c(2))
map(lambda row, y: row * y, g(3, 2), h(2))
map(lambda row: row.cpu(), g(3, 2))
map(lambda row: row + c(2), g(3, 2))
map(lambda xs: xs[0] + xs[1], [g(3, 2), c(3, 2)])
map(lambda xs: xs[0] + xs[1], [g(3, 2), g(3, 2)])
map(lambda row: (row.sin(), row.cpu()), g(3, 2))
map(lambda row: row, g())
map(lambda row: row, g(0, 2))
x = g(3, 2, requires_grad=True); map(lambda row, y: row * y, x, g(2)).sum().backward(); x.grad
y = c(2, requires_grad=True); map(lambda row, y: row * y, g(3, 2), y)
compiled(lambda x, y: map(lambda row, y: row * y, x, y))(g(3, 2), g(2))
compiled(lambda x, y: map(lambda row, y: row * y, x, y), "aot_eager")(g(3, 2), g(2))
compiled(lambda x, y: map(lambda row, y: row * y, x, y))(g(3, 2), c(2))
scan(lambda carry, row: (carry + row, carry * row), g(2), g(3, 2))
scan(lambda carry, row: (carry + row, carry * row), c(2), g(3, 2))
scan(lambda carry, row: (carry + row, carry * row), g(2), h(3, 2))
scan(lambda carry, row: (carry.cpu() + row.cpu(), row), g(2), g(3, 2))
scan(lambda carry, row: (carry + row, row.cpu()), g(2), g(3, 2))
scan(lambda carry, row: (carry + row, carry), g(2), g(3, 2), reverse=True, dim=0)
scan(lambda carry, row: (carry + row).sum(), g(2), g(3, 2))
x = g(3, 2, requires_grad=True); scan(lambda carry, row: (carry + row, carry * row), g(2), x)[1].sum().backward(); x.grad
w = g(2, 2, requires_grad=True); scan(step(w), g(2), g(3, 2))[1].sum().backward(); w.grad
compiled(lambda i, x: scan(lambda carry, row: (carry + row, carry * row), i, x))(g(2), g(3, 2))
compiled(lambda i, x: scan(lambda carry, row: (carry + row, carry * row), i, x))(c(2), g(3, 2))
associative_scan(torch.add, g(3, 2), 0)
associative_scan(torch.add, c(3, 2), 0)
associative_scan(lambda x, y: {"a": x["a"] + y["a"], "b": x["b"] * y["b"]}, {"a": g(3, 2), "b": g(3, 2)}, 0)
associative_scan(lambda x, y: [x[0] + y[0]], [g(3, 2)], 0)
associative_scan(lambda x, y: (x[0] + y[0], x[1] * y[1]), (g(3, 2), c(3, 2)), 0)
associative_scan(lambda x, y: (x + y).cpu(), g(3, 2), 0)
associative_scan(lambda x, y: x + y + h(2), g(3, 2), 0)
associative_scan(torch.add, g(3, 2), 0, combine_mode="generic")
associative_scan(torch.add, c(3, 2), 0, combine_mode="generic")
associative_scan(lambda a, b: a + b + c(2), g(3, 2), 0, combine_mode="generic")
associative_scan(lambda a, b: (a + b).cpu(), g(3, 2), 0, combine_mode="generic")
associative_scan(lambda x, y: [x[0] + y[0], x[1] * y[1]], [g(3, 2), c(3, 2)], 0, combine_mode="generic")
x = g(3, 2, requires_grad=True); associative_scan(torch.mul, x, 0, combine_mode="generic").sum().backward(); x.grad
compiled(lambda x: associative_scan(torch.add, x, 0, combine_mode="generic"))(g(3, 2))
compiled(lambda x: associative_scan(torch.add, x, 0))(g(3, 2))
torch._higher_order_ops.foreach_map(torch.add, [g(2), g(2)], [g(2), g(2)])
torch._higher_order_ops.foreach_map(torch.add, [g(2)], [c(2)])
torch._higher_order_ops.wrap.wrap(lambda x, y: x + y, g(2), c(2))
torch._higher_order_ops.strict_mode.strict_mode(lambda x: (x.sin(),), (g(2),))
torch.compiler.nested_compile_region(lambda x: x + 1)(g(2))
compiled(torch.compiler.nested_compile_region(lambda x, y: x + y))(g(2), c(2))
torch.export.export(Layers(), (g(1, 2),)).module()(g(1, 2))
torch.export.export(Layers(), (g(1, 2),)).module()(c(1, 2))
torch.export.export(Layers(), (c(1, 2),))
torch.export.export(Layers(second="cpu"), (g(1, 2),))
torch.export.export(Layers(second="cuda:1"), (g(1, 2),))
torch.export.export(Layers("cpu", "cpu"), (g(1, 2),))
torch.export.export(Layers(), (g(1, 2),), strict=True)
torch.export.export(Layers(), (c(1, 2),), strict=True)
torch.export.export(Layers(), (g(1, 2),), strict=True).module()(g(1, 2))
torch.export.export(Layers(second="cpu"), (g(1, 2),), strict=True)
torch.export.export(Choosing(), (g(1, 2),), strict=True).module()(g(1, 2))
torch.export.export(Choosing("cpu"), (g(1, 2),), strict=True)
torch.export.export(Made(), (g(2),), strict=True)
torch.export.export(Layers(), (g(3, 2),), strict=True, dynamic_shapes=({0: torch.export.Dim("batch")},)).module()(g(5, 2))
torch.export.export(nn.BatchNorm1d(2).cuda(), (g(3, 2),), strict=True).module()(g(3, 2))
torch.export.export(Layers(), (g(3, 2),), dynamic_shapes=({0: torch.export.Dim("batch")},)).module()(g(5, 2))
torch.export.export(Layers("cuda:1", "cuda:1"), (h(1, 2),)).module()(h(1, 2))
torch.export.export(Layers("cuda:1", "cuda:1"), (h(1, 2),)).module()(g(1, 2))
torch.export.export(Offset(), (g(2),))
torch.export.export(Made(), (g(2),))
torch.export.export(Constant(), (g(2),)).module()(g(2))
torch.export.export(Constant(), (g(2),)).module()(c(2))
torch.export.export(Choosing(), (g(1, 2),)).module()(g(1, 2))
torch.export.export(Choosing(), (c(1, 2),))
torch.export.export(Attention(), (g(1, 128, 16),)).module()(g(1, 128, 16))
torch.export.export(Attention(masked="cpu"), (g(1, 128, 16),))
torch.export.export(nn.BatchNorm1d(2).cuda(), (g(3, 2),)).module()(g(3, 2))
torch.export.export(nn.Dropout().cuda(), (g(3, 2),)).module()(g(3, 2))
torch.export.export(nn.MultiheadAttention(4, 2, batch_first=True).cuda(), (g(1, 3, 4),) * 3).module()(*(g(1, 3, 4),) * 3)
torch.export.export(nn.Embedding(4, 2).cuda(), (torch.tensor([1]),))
torch.export.export(nn.Embedding(4, 2).cuda(), (torch.tensor([1]).cuda(),)).module()(torch.tensor([1]))
places(torch.export.export(Layers(), (g(1, 2),)).module())
places(torch.export.export(Layers(), (g(1, 2),)).module().to("cuda:1"))
torch.export.export(Layers(), (g(1, 2),)).module().cpu()(c(1, 2))
torch.export.export(Layers(), (g(1, 2),)).run_decompositions().module()(g(1, 2))
torch.export.export(Layers(), (g(1, 2),)).state_dict["first.weight"]
torch.export.export_for_training(Layers(), (g(1, 2),)).module()(g(1, 2))
torch.export.export(Layers(), (g(1, 2),)).graph_module.graph.find_nodes(op="placeholder")[0].meta["val"].device
f = io.BytesIO(); torch.export.save(torch.export.export(Layers(), (g(1, 2),)), f); f.seek(0); torch.export.load(f).module()(g(1, 2))
f = io.BytesIO(); torch.export.save(torch.export.export(Layers(), (g(1, 2),)), f); f.seek(0); torch.export.load(f).module()(c(1, 2))
p = torch.export.export(Layers(), (g(1, 2),)); torch.export.passes.move_to_device_pass(p, "cuda:1").module()(h(1, 2))
p = torch.export.export(Layers("cpu", "cpu"), (c(1, 2),)); torch.export.passes.move_to_device_pass(p, "cuda").module()(g(1, 2))
torch.export.draft_export(Layers(), (g(1, 2),)).module()(g(1, 2))
torch.export.draft_export(Layers(), (c(1, 2),))
torch.export.unflatten(torch.export.export(Layers(), (g(1, 2),)))(g(1, 2))
torch.export.unflatten(torch.export.export(Layers(), (g(1, 2),)))(c(1, 2))
m = torch.export.export(Layers(), (g(1, 2),)).module(); m(g(1, 2)).sum().backward(); m.first.weight.grad
torch.distributed.pipelining.pipeline(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).cuda(), (g(1, 2),), split_spec={"1": torch.distributed.pipelining.SplitPoint.BEGINNING}).num_stages
torch.distributed.pipelining.pipeline(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).cuda(), (c(1, 2),), split_spec={"1": torch.distributed.pipelining.SplitPoint.BEGINNING})
p = torch.distributed.pipelining.pipeline(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).cuda(), (g(1, 2),), split_spec={"1": torch.distributed.pipelining.SplitPoint.BEGINNING}); p.get_stage_module(1)(g(1, 2)), p(g(1, 2))
make_fx(Layers())(g(1, 2))(g(1, 2))
make_fx(Layers(), tracing_mode="fake", _allow_non_fake_inputs=True)(g(1, 2))(g(1, 2))
make_fx(Layers(), tracing_mode="symbolic", _allow_non_fake_inputs=True)(g(1, 2))(g(3, 2))
make_fx(Layers(), tracing_mode="fake", _allow_non_fake_inputs=True)(c(1, 2))
make_fx(Layers(), tracing_mode="symbolic", _allow_non_fake_inputs=True)(c(1, 2))
make_fx(Layers(second="cpu"), tracing_mode="fake", _allow_non_fake_inputs=True)(g(1, 2))
make_fx(lambda x: x + torch.ones(2), tracing_mode="symbolic")(g(2))
make_fx(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)))(g(2))(g(2))
make_fx(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), tracing_mode="fake")(g(2))(g(2))
make_fx(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), tracing_mode="symbolic")(g(2))(g(3))
make_fx(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), tracing_mode="fake")(g(2, requires_grad=True))(g(2))
make_fx(lambda x, y: torch.cond(x.sum() > 0, torch.add, torch.sub, (x, y)), tracing_mode="fake")(g(2), c(2))
make_fx(lambda x: map(torch.sin, x), tracing_mode="symbolic")(g(3, 2))(g(3, 2))
make_fx(lambda q, k, v: flex_attention(q, k, v), tracing_mode="fake")(*qkv())(*qkv())
make_fx(lambda q, k, v: flex_attention(q, k, v), tracing_mode="symbolic")(*qkv(requires_grad=True))(*qkv())
make_fx(lambda q, k, v: flex_attention(q, k, v))(*qkv())(*qkv())
make_fx(torch.func.grad(lambda x: x.sin().sum()), tracing_mode="symbolic")(g(2))(g(2))
make_fx(lambda x: x.cuda(1) + 1, tracing_mode="fake")(g(2))(g(2))
make_fx(lambda x: x.item() + 1, tracing_mode="symbolic")(g())
make_fx(lambda x: x.nonzero(), tracing_mode="symbolic")(g(3))
aot_function(lambda x: x.sin(), fw_compiler=ready)(g(2, requires_grad=True))
x = h(2, requires_grad=True); aot_function(lambda x: x.sin() * 2, fw_compiler=ready)(x).sum().backward(); x.grad
aot_function(lambda x, y: x + y, fw_compiler=ready)(g(2, requires_grad=True), c(2))
aot_function(lambda x: x + torch.ones(2), fw_compiler=ready)(g(2, requires_grad=True))
aot_module(Layers(), fw_compiler=ready)(g(1, 2))
aot_module(Layers(), fw_compiler=ready)(c(1, 2))
aot_function(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), fw_compiler=ready)(g(2, requires_grad=True))
aot_function(flex_attention, fw_compiler=ready)(*qkv(requires_grad=True))
aot_export_module(Layers(), (g(1, 2),), trace_joint=False)[0](*Layers().parameters(), g(1, 2))
aot_export_module(Layers(), (c(1, 2),), trace_joint=False)
aot_export_joint_simple(lambda x: (x.sin(),), (g(2, requires_grad=True),), trace_joint=True)(g(2), g(2))
FakeTensorMode(allow_non_fake_inputs=True).from_tensor(nn.Parameter(g(2)))
FakeTensorMode().from_tensor(g(2, requires_grad=True)) + 1
m = FakeTensorMode(); m.from_tensor(g(2, requires_grad=True)) + m.from_tensor(c(2))
m = FakeTensorMode(); torch.cond(m.from_tensor(true()), torch.sin, torch.cos, (m.from_tensor(g(2)),))
m = FakeTensorMode(); flex_attention(*[m.from_tensor(x) for x in qkv(requires_grad=True)])
torch._dynamo.explain(lambda x: x.sin())(g(2, requires_grad=True)).graph_count
torch._dynamo.explain(lambda x, y: x + y)(g(2), c(2))
torch._dynamo.export(lambda x: x.sin())(g(2, requires_grad=True)).graph_module(g(2))
torch._dynamo.export(lambda x, y: x + y)(g(2), c(2))
torch._dynamo.export(Layers())(g(1, 2)).graph_module(g(1, 2))
