"""Mixed precision: which dtype a region gives, its own functions for autograd, and scalers."""

from torch.amp import custom_bwd, custom_fwd


class Product(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cuda")
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    @custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad @ w.t(), x.t() @ grad


class Casting(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(ctx, x, w):
        return x @ w

    @staticmethod
    @custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        return grad, grad


def scaled(device="cuda", make=torch.optim.SGD, **options):
    """One step of a scaler over a layer's optimizer."""
    layer = nn.Linear(2, 1).to(device)
    optimizer = make(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", **options)
    with torch.autocast("cuda"):
        loss = layer(torch.ones(3, 2, device=device)).sum()
    scaler.scale(loss).backward()
    return layer, optimizer, scaler


with torch.autocast("cuda"):
    Product.apply(g(2, 2), g(2, 2))
with torch.autocast("cuda"):
    Product.apply(g(2, 2), c(2, 2))
with torch.autocast("cuda"):
    Casting.apply(g(2, 2).half(), g(2, 2))
with torch.autocast("cuda"):
    Casting.apply(c(2, 2), g(2, 2))
with torch.autocast("cuda"):
    w = g(2, 2, requires_grad=True); Product.apply(g(2, 2), w).float().sum().backward(); w.grad
Casting.apply(g(2, 2).half(), g(2, 2))
with torch.autocast("cuda"):
    x = g(2, 2) @ g(2, 2); x, x + g(2, 2), x.float() @ g(2, 2), x * 2
with torch.autocast("cuda"):
    nn.Sequential(nn.Linear(2, 4), nn.LayerNorm(4), nn.ReLU(), nn.Linear(4, 2)).cuda()(g(1, 2))
with torch.autocast("cuda"):
    nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2).cuda()).cuda(0)(c(1, 2))
with torch.autocast("cuda"):
    nn.Conv2d(1, 2, 3).cuda()(c(1, 1, 5, 5))
with torch.autocast("cuda"):
    nn.Conv2d(1, 2, 3)(g(1, 1, 5, 5))
with torch.autocast("cuda"):
    F.conv1d(g(1, 1, 5), c(1, 1, 3))
with torch.autocast("cuda"):
    nn.GRUCell(2, 3).cuda()(g(1, 2))
with torch.autocast("cuda"):
    nn.LSTMCell(2, 3).cuda()(c(1, 2))
with torch.autocast("cuda"):
    nn.RNNCell(2, 3).cuda()(c(1, 2))
with torch.autocast("cuda"):
    nn.Embedding(3, 2).cuda()(torch.tensor([1]).cuda()) @ g(2, 2)
with torch.autocast("cuda"):
    nn.BatchNorm1d(2).cuda()(g(3, 2).half())
with torch.autocast("cuda"):
    F.instance_norm(g(1, 2, 4).half()), F.rms_norm(g(2, 2).half(), (2,))
with torch.autocast("cuda"):
    F.log_softmax(c(2, 2).half(), -1), F.log_softmax(g(2, 2).half(), -1)
with torch.autocast("cuda"):
    F.nll_loss(F.log_softmax(g(2, 3).half(), -1), torch.tensor([0, 1]))
with torch.autocast("cuda"):
    F.l1_loss(g(2).half(), g(2)), F.smooth_l1_loss(g(2).half(), g(2)), F.huber_loss(g(2).half(), g(2).half())
with torch.autocast("cuda"):
    F.kl_div(g(2).half(), g(2).half()), F.cosine_embedding_loss(g(2, 2).half(), g(2, 2).half(), g(2))
with torch.autocast("cuda"):
    F.triplet_margin_loss(g(2, 2).half(), g(2, 2).half(), c(2, 2).half())
with torch.autocast("cuda"):
    torch.rsqrt(g(2).half()), torch.reciprocal(g(2).half()), torch.tan(g(2).half()), torch.sinh(g(2).half()), torch.sqrt(g(2).half())
with torch.autocast("cuda"):
    2.0 ** g(2).half(), g(2).half() ** 2, g(2).half() ** g(2).half()
with torch.autocast("cuda"):
    torch.outer(g(2), g(2)), torch.ger(g(2), g(2).half()), torch.cross(g(3), g(3).half())
with torch.autocast("cuda"):
    torch.chain_matmul(g(2, 2), g(2, 2)), torch.linalg.multi_dot([g(2, 2), g(2, 2), g(2, 2)])
with torch.autocast("cuda"):
    torch.tensordot(g(2, 2), g(2, 2), 1), torch.mv(g(2, 2), g(2)), torch.baddbmm(g(1, 2, 2), g(1, 2, 2), g(1, 2, 2))
with torch.autocast("cuda"):
    torch.linalg.norm(g(2, 2).half()), torch.linalg.vector_norm(g(2).half()), torch.dist(g(2).half(), g(2).half())
with torch.autocast("cuda"):
    torch.stack([g(2).half(), c(2)])
with torch.autocast("cuda"):
    torch.index_put(g(3), (torch.tensor([0]).cuda(),), g(1).half())
with torch.autocast("cuda"):
    torch.scatter_add(g(3), 0, torch.tensor([0]).cuda(), g(1).half())
with torch.autocast("cuda"):
    F.grid_sample(g(1, 1, 2, 2).half(), g(1, 2, 2, 2))
with torch.autocast("cuda"):
    F.interpolate(g(1, 1, 2, 2).half(), scale_factor=2, mode="bilinear")
with torch.autocast("cuda"):
    F.scaled_dot_product_attention(g(1, 2, 4, 8), g(1, 2, 4, 8).half(), g(1, 2, 4, 8))
with torch.autocast("cuda"):
    g(2, 2).double() @ c(2, 2).double()
with torch.autocast("cuda"):
    g(2, 2).to(torch.bfloat16) @ g(2, 2)
with torch.autocast("cuda"):
    torch.addmm(g(2, 2), g(2, 2), h(2, 2))
with torch.autocast("cuda"):
    torch.matmul(g(2, 2), g(2, 2), out=g(2, 2).half())
with torch.autocast("cuda"):
    g(2, 2).addmm_(g(2, 2), g(2, 2).half())
with torch.autocast("cuda"):
    x = g(2, 2).half(); x += g(2, 2); x
with torch.autocast("cuda"):
    with torch.autocast("cuda", enabled=False):
        x = (g(2, 2) @ g(2, 2)) @ g(2, 2).half()
with torch.autocast("cuda"):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        g(2, 2) @ g(2, 2)
with torch.autocast("cuda", enabled=False):
    with torch.autocast("cuda"):
        torch.is_autocast_enabled("cuda"), nn.Linear(2, 2).cuda()(g(1, 2))
with torch.autocast("cpu", dtype=torch.bfloat16):
    nn.Linear(2, 2)(g(1, 2))
with torch.autocast("cpu", dtype=torch.bfloat16):
    nn.Linear(2, 2).cuda()(g(1, 2)), nn.Linear(2, 2)(c(1, 2))
with torch.autocast("cpu"):
    F.softmax(c(2, 2).bfloat16(), -1), F.softmax(g(2, 2).bfloat16(), -1), F.mse_loss(c(2).bfloat16(), c(2))
with torch.autocast("cpu"):
    torch.cat([c(2).bfloat16(), g(2)])
with torch.autocast("cpu"):
    nn.Conv2d(1, 1, 3)(g(1, 1, 5, 5))
with torch.autocast(device_type="cuda", dtype="float16"):
    g(2, 2) @ g(2, 2)
with torch.autocast("cuda", torch.int8):
    g(2, 2) @ g(2, 2)
with torch.autocast("cuda", enabled="yes"):
    g(2, 2) @ g(2, 2)
with torch.autocast(g(2).device.type):
    (h(2, 2) @ h(2, 2)).dtype
with torch.autocast(g(2).device):
    h(2, 2) @ h(2, 2)
with torch.autocast(None):
    g(2, 2) @ g(2, 2)
with torch.autocast("meta"):
    g(2, 2) @ g(2, 2)
with torch.cpu.amp.autocast():
    c(2, 2) @ c(2, 2), g(2, 2) @ g(2, 2)
with torch.amp.autocast("cuda", cache_enabled=False):
    m = nn.Linear(2, 2).cuda(); m(g(1, 2)), m.weight
with torch.autocast("cuda"):
    m = nn.Linear(2, 2).cuda(); m(g(1, 2)); m.cpu(); m(c(1, 2))
with torch.autocast("cuda"), torch.no_grad():
    nn.Linear(2, 2).half().cuda()(g(1, 2))
with torch.autocast("cuda"), torch.inference_mode():
    nn.Linear(2, 2).cuda()(g(1, 2)), nn.Linear(2, 2)(g(1, 2))
with torch.autocast("cuda"):
    torch.compile(nn.Linear(2, 2).cuda(), backend="eager")(g(1, 2))
with torch.autocast("cuda"):
    torch.utils.checkpoint.checkpoint(nn.Linear(2, 2).cuda(), g(1, 2, requires_grad=True), use_reentrant=False)
torch.get_autocast_dtype("cuda"), torch.get_autocast_dtype("cpu"), torch.get_autocast_cpu_dtype()
torch.get_autocast_dtype("gpu")
torch.set_autocast_dtype("cuda", torch.bfloat16); a = torch.autocast("cuda"); torch.set_autocast_dtype("cuda", torch.float16); a.fast_dtype
torch.autocast_increment_nesting(), torch.autocast_decrement_nesting(), torch.is_autocast_cpu_enabled()
torch.autocast("cuda").device, torch.autocast("cuda").fast_dtype, torch.autocast("cpu").fast_dtype
layer, o, s = scaled(); s.step(o), s.update(); layer.weight, layer.weight.grad, s._scale
layer, o, s = scaled(); s.unscale_(o); nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
layer, o, s = scaled("cpu"); s.step(o)
layer, o, s = scaled(make=torch.optim.Adam); s.unscale_(o); s.step(o); s.update(); s._growth_tracker
layer, o, s = scaled(init_scale=1024.0); s.update(c()); s._scale
layer, o, s = scaled(init_scale=1024.0); s.update(g()); s._scale
layer, o, s = scaled(); s.step(o); s.step(o)
layer, o, s = scaled(); s.update(512.0); s._scale, s.state_dict()["growth_factor"], s.state_dict()["growth_interval"]
layer, o, s = scaled(); t = torch.amp.GradScaler("cuda"); t.load_state_dict(s.state_dict()); t.is_enabled(), t.get_growth_factor(), t.get_backoff_factor()
torch.amp.GradScaler("cuda").load_state_dict({})
torch.amp.GradScaler("cuda", enabled=False).scale(c(2)), torch.amp.GradScaler(enabled=False).scale(h(2))
torch.amp.GradScaler("cuda", growth_factor=0.5)
torch.amp.GradScaler(torch.device("cuda"))
torch.amp.GradScaler(device="cuda:1")._device
torch.cuda.amp.GradScaler(enabled=False).state_dict()
torch.amp.GradScaler().set_growth_interval(5), torch.amp.GradScaler().get_growth_interval()
torch.amp.GradScaler().scale({"loss": g()})
torch.amp.GradScaler().scale((g(), h(), g(2)))
torch._amp_foreach_non_finite_check_and_unscale_([g(2), h(2)], g(), g())
torch._amp_foreach_non_finite_check_and_unscale_([g(2)], c(), g())
torch._amp_foreach_non_finite_check_and_unscale_([g(2), c(2)], g(), g(1))
torch._amp_update_scale_(g(), torch.zeros((), dtype=torch.int32).cuda(), c(), 2.0, 0.5, 100)
torch._amp_update_scale_(g(), torch.zeros((), dtype=torch.int32), g(), 2.0, 0.5, 100)
custom_fwd(lambda ctx, x: x, device_type="cuda") is not None
custom_bwd(device_type="cpu:0")
