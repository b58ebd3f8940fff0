"""torch.autocast, torch.amp and torch.cuda.amp."""

with torch.autocast("cuda"):
    g(2, 2) @ g(2, 2)
with torch.autocast("cuda", dtype=torch.bfloat16):
    F.linear(g(2, 2), g(2, 2))
with torch.autocast("cuda"):
    c(2, 2) @ c(2, 2)
with torch.autocast("cuda"):
    g(2, 2) @ c(2, 2)
with torch.autocast("cuda"):
    c(2, 2) @ g(2, 2)
with torch.autocast("cuda"):
    F.linear(g(2, 2), c(2, 2))
with torch.autocast("cuda"):
    F.linear(c(2, 2), g(2, 2))
with torch.autocast("cuda"):
    nn.Linear(2, 2).cuda()(c(2, 2))
with torch.autocast("cuda"):
    nn.Linear(2, 2)(g(2, 2))
with torch.autocast("cuda"):
    nn.Linear(2, 2)(c(2, 2))
with torch.autocast("cpu"):
    g(2, 2) @ g(2, 2)
with torch.autocast("cpu"):
    c(2, 2) @ c(2, 2)
with torch.autocast("cpu"):
    c(2, 2) @ g(2, 2)
with torch.autocast("cpu", dtype=torch.float16):
    c(2, 2) @ c(2, 2)
with torch.autocast("cuda"):
    g(2, 2).half() + g(2, 2)
with torch.autocast("cuda"):
    g(2, 2).half() + c(2, 2)
with torch.autocast("cuda"):
    F.softmax(g(2, 2).half(), -1)
with torch.autocast("cuda"):
    g(2).half().sum(), g(2).half().exp(), g(2).half().pow(2), g(2).half().log()
with torch.autocast("cuda"):
    F.mse_loss(g(2).half(), g(2))
with torch.autocast("cuda"):
    F.mse_loss(g(2).half(), c(2))
with torch.autocast("cuda"):
    F.cross_entropy(g(2, 3).half(), torch.zeros(2, dtype=torch.long).cuda())
with torch.autocast("cuda"):
    F.cross_entropy(g(2, 3).half(), torch.zeros(2, dtype=torch.long))
with torch.autocast("cuda"):
    F.binary_cross_entropy(g(2), g(2))
with torch.autocast("cuda"):
    F.binary_cross_entropy(g(2), c(2))
with torch.autocast("cuda"):
    F.binary_cross_entropy(c(2), c(2))
with torch.autocast("cuda"):
    nn.BCELoss()(torch.sigmoid(g(2).half()), g(2))
with torch.autocast("cuda"):
    F.binary_cross_entropy_with_logits(g(2).half(), c(2))
with torch.autocast("cuda"):
    torch.cat([g(2).half(), g(2)])
with torch.autocast("cuda"):
    torch.cat([g(2).half(), c(2)])
with torch.autocast("cuda"):
    torch.stack([g(2), g(2).half()])
with torch.autocast("cuda"):
    torch.addcmul(g(2), g(2).half(), g(2))
with torch.autocast("cuda"):
    torch.bilinear(g(2, 2), g(2, 2), g(1, 2, 2))
with torch.autocast("cuda"):
    torch.dot(g(2), g(2).half())
with torch.autocast("cuda"):
    torch.dot(g(2), c(2))
with torch.autocast("cuda"):
    torch.bmm(g(1, 2, 2), c(1, 2, 2))
with torch.autocast("cuda"):
    torch.baddbmm(g(1, 2, 2), g(1, 2, 2), g(1, 2, 2))
with torch.autocast("cuda"):
    torch.addmm(g(2), g(2, 2), g(2, 2))
with torch.autocast("cuda"):
    torch.addmm(c(2), g(2, 2), g(2, 2))
with torch.autocast("cuda"):
    torch.einsum("ij,jk->ik", g(2, 2), c(2, 2))
with torch.autocast("cuda"):
    torch.einsum("ij,jk->ik", g(2, 2), g(2, 2))
with torch.autocast("cuda"):
    torch.mm(g(2, 2), g(2, 2), out=g(2, 2))
with torch.autocast("cuda"):
    torch.mm(g(2, 2).double(), g(2, 2))
with torch.autocast("cuda"):
    torch.mm(g(2, 2).double(), g(2, 2).double())
with torch.autocast("cuda"):
    g(2, 2, dtype=torch.long) @ g(2, 2, dtype=torch.long)
with torch.autocast("cuda"):
    F.scaled_dot_product_attention(g(1, 2, 4, 8), c(1, 2, 4, 8), c(1, 2, 4, 8))
with torch.autocast("cuda"):
    F.layer_norm(g(2, 2).half(), (2,))
with torch.autocast("cuda"):
    F.layer_norm(g(2, 2).half(), (2,), c(2))
with torch.autocast("cuda"):
    F.group_norm(g(2, 2).half(), 2)
with torch.autocast("cuda"):
    F.gelu(g(2).half()), F.relu(g(2).half()), F.softplus(g(2).half())
with torch.autocast("cuda"):
    F.gelu(c(2).half()), F.softplus(c(2).half())
with torch.autocast("cuda"):
    torch.norm(g(2).half()), torch.cdist(g(2, 2).half(), g(2, 2).half())
with torch.autocast("cuda"):
    torch.prod(g(2).half()), torch.mean(g(2).half()), g(2).half().var()
with torch.autocast("cuda"):
    F.cosine_similarity(g(2, 2).half(), c(2, 2))
with torch.autocast("cuda"):
    F.embedding(torch.tensor([0]), g(2, 2))
with torch.autocast("cuda"):
    nn.MultiheadAttention(4, 2).cuda()(c(3, 1, 4), c(3, 1, 4), c(3, 1, 4))
with torch.autocast("cuda", enabled=False):
    g(2, 2) @ g(2, 2)
with torch.autocast("cuda"):
    torch.is_autocast_enabled(), torch.is_autocast_enabled("cuda"), torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cuda"), torch.get_autocast_gpu_dtype()
with torch.autocast("cpu"):
    torch.is_autocast_enabled(), torch.is_autocast_enabled("cuda"), torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
with torch.autocast("cuda:0"):
    g(2, 2) @ g(2, 2)
with torch.autocast(torch.device("cuda")):
    g(2, 2) @ g(2, 2)
with torch.autocast("gpu"):
    g(2, 2) @ g(2, 2)
with torch.autocast():
    g(2, 2) @ g(2, 2)
with torch.autocast("cuda", dtype=torch.float32):
    g(2, 2) @ g(2, 2)
with torch.autocast("cuda", dtype=torch.float64):
    g(2, 2) @ g(2, 2)
with torch.autocast("cpu", dtype=torch.float32):
    c(2, 2) @ c(2, 2)
with torch.cuda.amp.autocast():
    g(2, 2) @ g(2, 2)
with torch.cuda.amp.autocast(dtype=torch.bfloat16):
    g(2, 2) @ h(2, 2)
with torch.autocast("cuda"), torch.autocast("cpu"):
    g(2, 2) @ g(2, 2), c(2, 2) @ c(2, 2)
with torch.autocast("cuda"):
    w = g(2, 2, requires_grad=True); (w @ g(2, 2)).sum().backward(); w.grad
with torch.autocast("cuda"):
    w = c(2, 2, requires_grad=True); (w.cuda() @ g(2, 2)).sum().backward(); w.grad
with torch.autocast("cuda", cache_enabled=False):
    torch.is_autocast_cache_enabled()
torch.autocast("cuda")(lambda x: x @ x)(g(2, 2))
torch.amp.is_autocast_available("cuda"), torch.amp.is_autocast_available("cpu")
torch.amp.is_autocast_available("gpu")
torch.cuda.amp.common.amp_definitely_not_available()
torch.set_autocast_enabled("cuda", True); r = g(2, 2) @ g(2, 2); torch.set_autocast_enabled("cuda", False); r
torch.amp.GradScaler().is_enabled(), torch.amp.GradScaler("cpu").is_enabled(), torch.amp.GradScaler("cuda", enabled=False).is_enabled()
torch.amp.GradScaler().scale(g())
torch.amp.GradScaler().scale(c())
torch.amp.GradScaler("cpu").scale(g())
torch.amp.GradScaler().scale([g(), h()])
torch.amp.GradScaler().scale([g(), c()])
torch.amp.GradScaler().scale("loss")
torch.amp.GradScaler("gpu")
torch.amp.GradScaler("cuda:1").scale(h())
torch.cuda.amp.GradScaler().scale(g(3).half())
torch.amp.GradScaler().get_scale()
s = torch.amp.GradScaler(); s.scale(g()); s._scale
s = torch.amp.GradScaler(); s.scale(h()); s._scale, s._growth_tracker
torch.amp.GradScaler().update()
torch.amp.GradScaler().step(torch.optim.SGD([nn.Parameter(g(2))], 0.1))
torch.amp.GradScaler().unscale_(torch.optim.SGD([nn.Parameter(g(2))], 0.1))
p = nn.Parameter(g(2)); s = torch.amp.GradScaler(); o = torch.optim.SGD([p], 0.1); s.scale((p * 2).sum()).backward(); s.step(o)
p = nn.Parameter(g(2)); s = torch.amp.GradScaler(); o = torch.optim.SGD([p], 0.1); s.scale(c()); s.step(o)
p = nn.Parameter(c(2)); s = torch.amp.GradScaler(); o = torch.optim.SGD([p], 0.1); s.scale((p.cuda() * 2).sum()).backward(); s.unscale_(o); p.grad
p = nn.Parameter(g(2).half()); s = torch.amp.GradScaler(); o = torch.optim.SGD([p], 0.1); s.scale((p * 2).sum()).backward(); s.unscale_(o)
p = nn.Parameter(g(2)); s = torch.amp.GradScaler(); o = torch.optim.SGD([p], 0.1); s.scale((p * 2).sum()).backward(); s.unscale_(o); s.unscale_(o)
p = nn.Parameter(h(2)); s = torch.amp.GradScaler(); o = torch.optim.Adam([p], 0.1); s.scale((p.to("cuda:0") * 2).sum()).backward(); s.unscale_(o); p.grad
torch.cuda.amp.custom_fwd(lambda x: x)
torch.amp.custom_fwd(device_type="gpu")
