"""Lines from research code: signals, images, graphs, geometry, quantization, low precision, scans, hooks, profilers."""

import functools
import operator
import warnings

from torch.cuda import comm
from torch.nn.attention import SDPBackend, bias, sdpa_kernel
from torch.utils import checkpoint, flop_counter, hooks


class Rotary(nn.Module):
    """Rotary positions with a table that is made when it is first asked for."""

    def __init__(self, width=4):
        super().__init__()
        self.register_buffer("frequencies", 1.0 / (10000 ** (torch.arange(0, width, 2).float() / width)))
        self.cached = None

    def forward(self, x, kept=False):
        if self.cached is None or not kept:
            angles = torch.outer(torch.arange(x.shape[1], device=x.device).float(), self.frequencies)
            self.cached = torch.polar(torch.ones_like(angles), angles)
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.cached).flatten(-2)


class Straight(torch.autograd.Function):
    """Rounds, and passes the gradient on."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(scale)
        return (x / scale).round() * scale

    @staticmethod
    def backward(ctx, gradient):
        (scale,) = ctx.saved_tensors
        return gradient * scale, None


class Adapter(nn.Module):
    def __init__(self, base, rank=1):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.zeros(rank, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T


class Experts(nn.Module):
    def __init__(self, devices):
        super().__init__()
        self.router = nn.Linear(2, len(devices)).to(devices[0])
        self.experts = nn.ModuleList([nn.Linear(2, 2).to(device) for device in devices])

    def forward(self, x):
        scores = self.router(x).softmax(-1)
        return sum(scores[:, i : i + 1] * expert(x) for i, expert in enumerate(self.experts))


def step(make, *devices, **options):
    """Make an optimizer over parameters on these devices, and take one step."""
    parameters = [nn.Parameter(torch.ones(2, 2, device=device)) for device in devices]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    optimizer = make(parameters, **options)
    optimizer.step()
    return [value.device for value in optimizer.state[parameters[0]].values() if torch.is_tensor(value)]


def hooked(module, hook, x):
    module.register_forward_hook(hook)
    return module(x)


def graph(device, *edges):
    return torch.tensor(edges, device=device).T


# signals and images
torch.stft(g(16), 4, window=torch.hann_window(4), return_complex=True)
torch.stft(g(16), 4, window=torch.hann_window(4, device="cuda"), return_complex=True)
torch.stft(c(16), 4, window=g(4), return_complex=True)
torch.istft(torch.stft(g(16), 4, window=g(4), return_complex=True), 4, window=c(4))
torch.fft.rfft(g(8)) * torch.fft.rfftfreq(8)
torch.fft.rfft(g(8)) * torch.fft.rfftfreq(8, device="cuda")
torch.fft.irfft(torch.fft.rfft(g(8)) * torch.fft.rfft(c(8)))
torch.fft.fftshift(torch.fft.fftn(g(2, 2))) + c(2, 2)
torch.fft.hfft(c(4)).to("cuda") * g(6)
torch.signal.windows.hann(4) * g(4)
torch.signal.windows.gaussian(4, std=1.0, device="cuda") * g(4)
torch.kaiser_window(4) * g(4)
F.conv1d(g(1, 1, 8), torch.hann_window(3).view(1, 1, 3))
F.conv1d(g(1, 1, 8), g(1, 1, 3), bias=c(1))
F.conv2d(g(1, 3, 4, 4), torch.ones(3, 1, 3, 3), groups=3)
F.conv2d(c(1, 3, 4, 4), g(3, 1, 3, 3), groups=3, padding="same")
F.conv_transpose1d(g(1, 1, 4), c(1, 1, 3), g(1))
F.conv3d(g(1, 1, 3, 3, 3), g(1, 1, 2, 2, 2), c(1))
F.unfold(g(1, 1, 4, 4), 2).transpose(1, 2) @ c(4, 2)
F.fold(g(1, 4, 9), (4, 4), 2) + c(1, 1, 4, 4)
F.interpolate(g(1, 1, 4, 4), scale_factor=torch.tensor(2.0))
F.interpolate(g(1, 1, 4, 4), size=torch.tensor([2, 2]))
F.grid_sample(g(1, 1, 4, 4), F.affine_grid(torch.eye(2, 3)[None], (1, 1, 2, 2), align_corners=False), align_corners=False)
F.grid_sample(g(1, 1, 4, 4), F.affine_grid(g(1, 2, 3), (1, 1, 2, 2), align_corners=False), align_corners=False)
F.grid_sample(c(1, 1, 4, 4), g(1, 2, 2, 2), align_corners=False)
F.pad(g(2), (1, 1), value=c(()).item()) + c(4)
F.pixel_shuffle(g(1, 4, 2, 2), 2) * c(1, 1, 4, 4)
F.max_unpool2d(*F.max_pool2d(g(1, 1, 4, 4), 2, return_indices=True), 2)
F.max_unpool2d(g(1, 1, 2, 2), c(1, 1, 2, 2).long(), 2)
F.max_pool2d(g(1, 1, 4, 4), 2, return_indices=True)[1] + c(1, 1, 2, 2).long()
F.adaptive_max_pool2d(g(1, 1, 4, 4), 2, return_indices=True)[1]
F.fractional_max_pool2d(g(1, 1, 4, 4), 2, output_size=2, _random_samples=c(1, 1, 2))
F.local_response_norm(g(1, 2, 3), 2) / c(1, 2, 3)
F.normalize(g(2, 3), out=c(2, 3))
F.cosine_similarity(g(2, 3), c(2, 3))
F.pairwise_distance(g(2, 3), c(2, 3))
F.pdist(g(3, 2)) + c(3)
torch.cdist(g(2, 3), c(2, 3))
torch.cdist(c(2, 3), g(2, 3), p=1.0)
torch.cdist(g(1, 2, 3), g(2, 3))
F.softmax(g(2, 3) / torch.tensor(0.5), -1) @ c(3, 2)
F.gumbel_softmax(g(2, 3), hard=True) @ g(3, 2)
F.layer_norm(g(2, 3), (3,), weight=c(3))
F.layer_norm(c(2, 3), (3,), weight=g(3), bias=g(3))
F.rms_norm(g(2, 3), (3,), weight=c(3))
F.group_norm(g(1, 2, 3), 1, weight=c(2), bias=g(2))
F.batch_norm(g(2, 3), c(3), c(3), training=True)
F.batch_norm(g(2, 3), g(3), c(3))
F.instance_norm(g(1, 2, 3), weight=c(2))
F.prelu(g(1, 2), c(2))
F.glu(g(2)) + c(1)
F.embedding(c(2).long(), g(4, 2))
F.embedding(g(2).long(), c(4, 2))
F.embedding(g(2).long(), g(4, 2), padding_idx=0, max_norm=1.0) + h(2, 2)
F.embedding_bag(g(2, 2).long(), g(4, 2), per_sample_weights=c(2, 2), mode="sum")
F.bilinear(g(1, 2), g(1, 2), c(1, 2, 2))
F.linear(g(2, 2), c(2, 2))
F.linear(g(2, 2), g(2, 2), c(2))
F.linear(c(2, 2), g(2, 2), g(2))
F.linear(g(2), h(2, 2))
F.dropout(g(2)) * c(2)
F.feature_alpha_dropout(g(1, 2, 3)).device
# attention
F.scaled_dot_product_attention(g(1, 1, 2, 8), g(1, 1, 2, 8), c(1, 1, 2, 8))
F.scaled_dot_product_attention(g(1, 1, 2, 8), c(1, 1, 2, 8), c(1, 1, 2, 8))
F.scaled_dot_product_attention(c(1, 1, 2, 8), g(1, 1, 2, 8), g(1, 1, 2, 8))
F.scaled_dot_product_attention(g(1, 1, 2, 8), g(1, 1, 2, 8), g(1, 1, 2, 8), attn_mask=c(2, 2).bool())
F.scaled_dot_product_attention(g(1, 2, 2, 8), g(1, 1, 2, 8), g(1, 1, 2, 8), enable_gqa=True)
F.scaled_dot_product_attention(g(1, 1, 2, 8), g(1, 1, 2, 8), g(1, 1, 2, 8), attn_mask=bias.causal_lower_right(2, 2))
F.scaled_dot_product_attention(g(1, 1, 2, 8), g(1, 1, 2, 8), g(1, 1, 2, 8), scale=torch.tensor(0.5))
F.scaled_dot_product_attention(g(1, 1, 2, 8), g(1, 1, 2, 8), g(1, 1, 2, 8).half())
F.scaled_dot_product_attention(g(2, 8).half(), g(2, 8).half(), g(2, 8).half(), is_causal=True)
with sdpa_kernel(SDPBackend.MATH): F.scaled_dot_product_attention(g(1, 1, 2, 8), g(1, 1, 2, 8), c(1, 1, 2, 8))
with sdpa_kernel(SDPBackend.FLASH_ATTENTION): F.scaled_dot_product_attention(g(1, 1, 2, 8), g(1, 1, 2, 8), g(1, 1, 2, 8))
with sdpa_kernel(SDPBackend.FLASH_ATTENTION): F.scaled_dot_product_attention(g(1, 1, 2, 8).half(), g(1, 1, 2, 8).half(), g(1, 1, 2, 8).half())
with sdpa_kernel([SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION]): F.scaled_dot_product_attention(g(1, 1, 2, 8), g(1, 1, 2, 8), g(1, 1, 2, 8))
Rotary().cuda()(g(1, 3, 4))
Rotary()(g(1, 3, 4))
m = Rotary(); m(c(1, 3, 4)); m.cuda()(g(1, 3, 4), kept=True)
m = Rotary().cuda(); m(g(1, 3, 4)); m.to("cuda:1")(h(1, 3, 4), kept=True)
# adapters, experts, quantizers
Adapter(nn.Linear(2, 3)).cuda()(g(1, 2))
Adapter(nn.Linear(2, 3).cuda())(g(1, 2))
Adapter(nn.Linear(2, 3).cuda()).to("cuda:1")(h(1, 2))
Adapter(nn.Linear(2, 3)).cuda().half()(g(1, 2))
Experts(["cuda", "cuda"])(g(1, 2))
Experts(["cuda:0", "cuda:1"])(g(1, 2))
Experts(["cpu", "cuda"])(c(1, 2))
Experts(["cpu", "cuda"]).to("cuda:1")(h(1, 2))
Straight.apply(g(2), torch.tensor(0.5))
Straight.apply(g(2), torch.tensor([0.5]))
Straight.apply(g(2).requires_grad_(), torch.tensor(0.5)).sum().backward()
x = g(2).requires_grad_(); Straight.apply(x, torch.tensor(0.5)).sum().backward(); x.grad
torch.quantize_per_tensor(g(2), 0.1, 0, torch.qint8)
torch.quantize_per_tensor(g(2), torch.tensor(0.1), torch.tensor(0), torch.qint8)
torch.quantize_per_channel(g(2, 2), c(2), c(2).long(), 0, torch.qint8)
torch.fake_quantize_per_tensor_affine(g(2), 0.1, 0, 0, 255)
torch.fake_quantize_per_tensor_affine(g(2), torch.tensor(0.1), torch.tensor(0, dtype=torch.int32), 0, 255)
torch.fake_quantize_per_channel_affine(g(2, 2), c(2), c(2).int(), 0, 0, 255)
torch.ao.quantization.MinMaxObserver()(g(2))
torch.ao.quantization.MinMaxObserver().cuda()(g(2))
torch.ao.quantization.MovingAverageMinMaxObserver()(g(2))
torch.ao.quantization.FakeQuantize()(g(2))
torch._int_mm(g(32, 32).to(torch.int8), c(32, 32).to(torch.int8))
torch._scaled_mm(g(16, 16).to(torch.float8_e4m3fn), g(16, 16).to(torch.float8_e4m3fn).t(), scale_a=c(()), scale_b=g(()))
g(2).to(torch.float8_e4m3fn).to(torch.float32) * c(2)
g(2).to(torch.float8_e5m2) + g(2).to(torch.float8_e5m2)
g(2).bfloat16() + c(2).half()
g(2).half() * torch.tensor(2.0, dtype=torch.float64)
g(2).half() @ g(2)
g(2, dtype=torch.int64) / c(())
g(2).to(torch.uint16) + 1
# graphs, sets and points
g(3, 2)[graph("cpu", (0, 1), (1, 2))[0]]
c(3, 2)[graph("cuda", (0, 1), (1, 2))[0]]
torch.zeros(3, 2).index_add(0, graph("cuda", (0, 1), (1, 2))[1], g(2, 2))
torch.zeros(3, 2, device="cuda").index_add(0, graph("cpu", (0, 1), (1, 2))[1], g(2, 2))
torch.zeros(3, device="cuda").scatter_add(0, graph("cuda", (0, 1), (1, 2))[1], torch.ones(2))
torch.zeros(3, device="cuda").scatter_reduce(0, graph("cuda", (0, 1))[1], torch.ones(1, device="cuda:1"), "sum")
torch.sparse_coo_tensor(graph("cuda", (0, 1), (1, 2)), c(2), (3, 3))
torch.sparse_coo_tensor(graph("cpu", (0, 1), (1, 2)), g(2), (3, 3))
torch.sparse_coo_tensor(graph("cpu", (0, 1), (1, 2)), c(2), (3, 3), device="cuda")
torch.sparse_coo_tensor(graph("cpu", (0, 1), (1, 2)), c(2), (3, 3)).cuda() @ g(3, 2)
torch.sparse_coo_tensor(graph("cpu", (0, 1), (1, 2)), c(2), (3, 3)) @ g(3, 2)
torch.sparse.mm(torch.eye(3).to_sparse().cuda(), c(3, 2))
torch.sparse.mm(torch.eye(3).to_sparse_csr(), g(3, 2))
torch.sparse.softmax(torch.eye(3).to_sparse().cuda(), 1) @ c(3, 1)
torch.sparse.sampled_addmm(torch.eye(2, device="cuda").to_sparse_csr(), g(2, 2), c(2, 2))
torch.sparse_csr_tensor(c(3).long() * 0, c(0).long(), g(0), (2, 2))
torch.segment_reduce(g(4), "sum", lengths=c(2).long() * 2)
torch.segment_reduce(g(4), "sum", lengths=g(2).long() * 2)
torch.scatter(g(3), 0, c(1).long(), g(1))
torch.take(g(3), c(1).long())
torch.take_along_dim(g(3), c(1).long(), 0)
torch.index_select(c(3), 0, g(1).long())
torch.masked_select(g(3), torch.ones(3).bool())
torch.diff(g(3), prepend=c(1))
torch.roll(g(3), 1) - c(3)
torch.cross(g(3), c(3), dim=0)
torch.linalg.cross(c(3), g(3))
torch.linalg.vecdot(g(3), c(3))
torch.linalg.solve(torch.eye(2, device="cuda"), c(2))
torch.linalg.lstsq(g(3, 2), c(3, 1), driver="gels")
torch.linalg.matrix_norm(g(2, 2) - c(2, 2))
torch.linalg.eigh(torch.eye(2, device="cuda"))[0] * c(2)
torch.linalg.svd(torch.eye(2, device="cuda"))[1].diag() @ c(2, 2)
torch.linalg.qr(torch.eye(2, device="cuda"), mode="r")[1].device
torch.linalg.multi_dot([g(2, 2), g(2, 2), c(2, 2)])
torch.linalg.tensorsolve(torch.eye(4, device="cuda").view(2, 2, 2, 2), c(2, 2))
torch.linalg.cholesky(torch.eye(2)).cuda() @ c(2)
torch.cholesky_solve(g(2, 1), torch.eye(2))
torch.triangular_solve(g(2, 1), torch.eye(2))
torch.linalg.solve_triangular(torch.eye(2), g(2, 1), upper=True)
torch.chain_matmul(g(2, 2), c(2, 2))
torch.baddbmm(c(1, 2, 2), g(1, 2, 2), g(1, 2, 2))
torch.addbmm(g(2, 2), g(1, 2, 2), c(1, 2, 2))
torch.addmm(c(2), g(2, 2), g(2, 2))
torch.addmv(torch.tensor([1.0, 2.0]), g(2, 2), g(2))
torch.addr(g(2, 2), g(2), c(2))
torch.dot(g(2), c(2))
torch.vdot(c(2), g(2))
torch.inner(g(2), c(2))
torch.mv(g(2, 2), c(2))
torch.matmul(g(2), c(2))
torch.matmul(g(1, 2, 2), c(2))
torch.special.xlogy(g(2), c(2))
torch.special.zeta(c(()), g(2))
torch.special.gammainc(g(2), c(()))
torch.polygamma(1, g(2)) + c(2)
torch.complex(g(2), c(2))
torch.polar(c(2), g(2))
torch.view_as_real(g(2, dtype=torch.complex64)) * c(2, 2)
torch.heaviside(g(2), torch.tensor([0.5]))
torch.heaviside(g(2), torch.tensor(0.5))
torch.copysign(g(2), -1.0) + c(1)
torch.float_power(g(2), torch.tensor(2.0))
torch.float_power(g(2), c(2))
torch.remainder(g(2), torch.tensor(2))
torch.remainder(torch.tensor(2), g(2))
torch.fmod(c(2), g(()))
torch.rsub(g(2), c(()))
torch.bitwise_xor(g(2).int(), torch.tensor(1))
torch.logaddexp(g(2), c(()))
torch.hypot(g(2), torch.tensor([1.0]))
torch.ldexp(g(2), torch.tensor([1]))
torch.renorm(g(2, 2), 2, 0, 1.0) + h(2, 2)
torch.repeat_interleave(g(2), torch.tensor([1, 2]))
torch.repeat_interleave(g(2), torch.tensor([1, 2]), output_size=3)
g(2).repeat(torch.tensor([2]))
g(2).expand_as(c(2, 2)) * g(2)
g(2, 3).view(torch.tensor([3, 2]).tolist())
g(2, 3).permute(*torch.arange(1, -1, -1))
g(2, 3).type_as(c(1)) + g(2, 3)
c(2, 3).to(g(1)) + g(2, 3)
g(2).new_tensor([1.0, 2.0]) + g(2)
g(2).new_tensor(c(2)) + g(2)
c(2).new_zeros(2) + g(2)
g(2).new_full((2,), 1.0, device="cpu") + g(2)
g(2).to("cpu", copy=True).is_pinned()
g(2).to(torch.device("cuda", 1)) + h(2)
g(2).cuda(1) + h(2)
g(2).to(1).device
g(2).type(torch.FloatTensor) + g(2)
c(2).type("torch.cuda.FloatTensor") + g(2)
torch.as_tensor(g(2), device="cpu") + g(2)
torch.tensor(g(2)) + g(2)
torch.asarray(g(2)) + g(2)
torch.asarray([1.0, 2.0]) + g(2)
torch.scalar_tensor(2.0) * g(2)
torch.scalar_tensor(2.0, device="cuda") * c(2)
# optimizers
step(torch.optim.SGD, "cuda", momentum=0.9)
step(torch.optim.Adam, "cuda")
step(torch.optim.Adam, "cuda", capturable=True)
step(torch.optim.Adam, "cpu", capturable=True)
step(torch.optim.Adam, "cuda", fused=True)
step(torch.optim.AdamW, "cuda", "cpu", fused=True)
step(torch.optim.AdamW, "cuda", "cpu")
step(torch.optim.AdamW, "cuda", lr=torch.tensor(0.1))
step(torch.optim.AdamW, "cuda", lr=torch.tensor(0.1), foreach=False)
step(torch.optim.AdamW, "cuda", lr=torch.tensor(0.1, device="cuda"), capturable=True)
step(torch.optim.AdamW, "cuda:1", lr=torch.tensor(0.1, device="cuda"), fused=True)
step(torch.optim.Adamax, "cuda")
step(torch.optim.RMSprop, "cuda", centered=True)
step(torch.optim.Rprop, "cuda")
step(torch.optim.Adagrad, "cuda", fused=False)
step(torch.optim.ASGD, "cuda")
step(torch.optim.Adafactor, "cuda")
step(torch.optim.Muon, "cuda")
step(torch.optim.Muon, "cuda", "cuda:1")
step(torch.optim.NAdam, "cuda", "cuda:1", foreach=True)
step(torch.optim.SGD, "cuda", fused=True, momentum=0.9)
step(torch.optim.LBFGS, "cuda", "cpu")
torch.nn.utils.clip_grad_value_([nn.Parameter(g(2))], torch.tensor(1.0))
torch.nn.utils.get_total_norm([g(2), c(2)])
torch.nn.utils.get_total_norm([g(2), h(2)])
torch.amp.GradScaler("cuda").scale(g(())) * 2
torch.amp.GradScaler("cuda").scale(c(()))
torch.amp.GradScaler("cuda").scale([g(()), h(())])[1].device
torch.amp.GradScaler("cpu").scale(g(()))
# gradients, hooks, checkpoints
torch.autograd.grad(g(2).requires_grad_().sum(), c(2).requires_grad_())
torch.autograd.grad((x := g(2).requires_grad_()).sum(), x, c(()))
(x := g(2).requires_grad_()).backward(c(2))
x = g(2).requires_grad_(); (x * 2).backward(gradient=torch.ones(2))
x = c(2).requires_grad_(); x.cuda().sum().backward(); x.grad
x = c(2).cuda().requires_grad_(); x.register_hook(lambda gradient: gradient.cpu()); x.sum().backward()
x = c(2).requires_grad_(); y = x.cuda(); y.register_hook(lambda gradient: gradient.cpu()); y.sum().backward()
x = g(2).requires_grad_(); (x * 2).register_hook(lambda gradient: gradient * c(()))
x = g(2).requires_grad_(); y = x * 2; y.register_hook(lambda gradient: gradient * c(2)); y.sum().backward()
x = g(2).requires_grad_(); x.register_post_accumulate_grad_hook(lambda p: p.grad.add_(c(2))); x.sum().backward()
hooked(nn.Linear(2, 2).cuda(), lambda module, inputs, output: output.cpu(), g(1, 2))
hooked(nn.Linear(2, 2).cuda(), lambda module, inputs, output: output + c(2), g(1, 2))
m = nn.Linear(2, 2).cuda(); m.register_forward_pre_hook(lambda module, inputs: (inputs[0].cuda(),)); m(c(1, 2))
m = nn.Linear(2, 2).cuda(); m.register_full_backward_hook(lambda module, gin, gout: (gin[0].cpu(),)); m(g(1, 2).requires_grad_()).sum().backward()
checkpoint.checkpoint(nn.Linear(2, 2).cuda(), g(1, 2), use_reentrant=False)
checkpoint.checkpoint(nn.Linear(2, 2).cuda(), c(1, 2), use_reentrant=False)
checkpoint.checkpoint(lambda x: x + c(2), g(2).requires_grad_(), use_reentrant=True)
checkpoint.checkpoint_sequential(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).cuda()), 2, g(1, 2), use_reentrant=False)
with torch.autograd.graph.save_on_cpu(): (g(2).requires_grad_() ** 2).sum().backward()
with torch.autograd.graph.save_on_cpu(pin_memory=True): (g(2).requires_grad_() ** 2).sum().backward()
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.cpu(), lambda x: x): (g(2).requires_grad_() ** 2).sum().backward()
with torch.autograd.detect_anomaly(): (g(2).requires_grad_() * c(2)).sum()
torch.func.functional_call(nn.Linear(2, 2), {"weight": g(2, 2), "bias": g(2)}, g(1, 2))
torch.func.functional_call(nn.Linear(2, 2).cuda(), {"weight": c(2, 2)}, g(1, 2))
torch.func.vmap(torch.dot)(g(2, 3), c(2, 3))
torch.func.vmap(torch.add, in_dims=(0, None))(g(2, 3), c(()))
torch.func.grad(lambda x: (x * c(3)).sum())(g(3))
torch.func.jacrev(lambda x: x @ c(3, 3))(g(3))
torch.func.jvp(torch.sin, (g(3),), (c(3),))
torch.func.vjp(torch.sin, g(3))[1](c(3))
torch.func.hessian(lambda x: (x**2).sum())(g(2)) + c(2, 2)
torch.func.stack_module_state([nn.Linear(2, 2).cuda(), nn.Linear(2, 2)])
torch.autograd.functional.vjp(lambda x: x * 2, g(2), c(2))
torch.autograd.functional.jvp(lambda x: x * 2, g(2), c(2))
torch.autograd.gradcheck(lambda x: x * 2, (g(2).double().requires_grad_(),), check_forward_ad=False)
with torch.inference_mode(): g(2) + c(2)
with torch.inference_mode(): (g(2) + c(())).is_inference()
with torch.no_grad(): nn.Linear(2, 2).cuda().weight.copy_(c(2, 2))
with torch.no_grad(): nn.Linear(2, 2).cuda().weight.set_(c(2, 2))
with torch.no_grad(): nn.Linear(2, 2).cuda().weight.add_(c(2, 2))
with flop_counter.FlopCounterMode(display=False) as counter: g(2, 2) @ g(2, 2); counter.get_total_flops()
with flop_counter.FlopCounterMode(display=False) as counter: g(2, 2) @ c(2, 2)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]): g(2) + c(2)
with torch.utils._python_dispatch.TorchDispatchMode(): g(2) + c(2)
with torch.cuda.stream(torch.cuda.Stream(1)): torch.ones(2, device="cuda") + h(2)
with torch.cuda.stream(torch.cuda.Stream()): torch.ones(2, device="cuda") + c(2)
with torch.cuda.device(1): torch.ones(2, device="cuda") + g(2)
with torch.cuda.device(1): c(2).cuda() + h(2)
with torch.cuda.device_of(h(1)): torch.zeros(2).cuda() + g(2)
with torch.cuda.device(1): torch.ones(2).to("cuda") + h(2)
with torch.device("meta"): torch.ones(2) + g(2)
with torch.device("meta"): nn.Linear(2, 2).to_empty(device="cuda")(g(1, 2)).shape
with torch.device("meta"): nn.Linear(2, 2).to("cuda")
functools.reduce(operator.add, [g(2), c(()), h(2)])
functools.reduce(torch.matmul, [g(2, 2), c(2, 2)])
torch._foreach_add([g(2), c(2)], [g(2), c(2)])
torch._foreach_add([g(2), g(2)], [g(2), c(2)])
torch._foreach_mul([g(2)], torch.tensor(2.0))
torch._foreach_mul_([g(2), h(2)], g(()))
torch._foreach_lerp_([g(2)], [c(2)], 0.5)
torch._foreach_copy_([g(2), h(2)], [c(2), c(2)])
torch._foreach_norm([g(2), c(2)])
comm.broadcast(c(2), [0, 1])
comm.scatter(c(4), [0, 1])
comm.gather([g(2), h(2)], destination="cpu")
comm.reduce_add([g(2), h(2)])
comm.reduce_add([g(2), c(2)])
nn.parallel.scatter(c(4, 2), [0, 1])
nn.parallel.gather([g(2, 2), h(2, 2)], 0)
nn.parallel.gather([g(2, 2), c(2, 2)], 0)
nn.parallel.replicate(nn.Linear(2, 2).cuda(), [0, 1])[1].weight.device
nn.parallel.replicate(nn.Linear(2, 2), [0, 1])
nn.parallel.data_parallel(nn.Linear(2, 2).cuda(), c(4, 2), [0, 1])
nn.parallel.data_parallel(nn.Linear(2, 2), c(4, 2), [0, 1])
nn.DataParallel(nn.Linear(2, 2).cuda(1), [0, 1])(c(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda(1), [1, 0])(c(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda(), output_device="cuda:1")(g(4, 2))
