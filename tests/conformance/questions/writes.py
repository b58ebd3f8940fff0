"""Writes: into elements, slices, views, outputs, gradients and buffers, from another device and into it."""

import operator

from torch.nn.utils import prune


class Counted(nn.Module):
    """A module that writes into its buffers while it runs."""

    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("mean", torch.zeros(2))
        self.history = torch.zeros(3, 2)

    def forward(self, x, how):
        if how == "steps":
            self.steps += 1
        elif how == "mean":
            self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        elif how == "lerp":
            self.mean.lerp_(x.mean(0), 0.1)
        elif how == "history":
            self.history[0] = x[0]
        elif how == "rows":
            self.history[:2] += x
        elif how == "gathered":
            return self.history[x.long()[:, 0]] + x
        else:
            self.mean = x.mean(0)
        return x + self.mean


def after(x, write):
    write(x)
    return x


def empty(device):
    return torch.empty(0, device=device)


x = g(3); x[0] = c(()); x
x = g(3); x[0] = c(1); x
x = g(3); x[:2] = c(2); x
x = c(3); x[:2] = g(2); x
x = g(3); x[1:] += c(2); x
x = g(3); x[1:] += torch.tensor(1.0); x
x = c(3); x[0] += g(()); x
x = g(3); x[torch.tensor([0, 1])] = c(2); x
x = g(3); x[torch.tensor([0, 1])] = c(()); x
x = g(3); x[torch.tensor([0, 1], device="cuda")] = c(1); x
x = c(3); x[torch.tensor([0, 1], device="cuda")] = 1.0; x
x = c(3); x[torch.tensor([0, 1])] = g(2); x
x = c(3); x[torch.tensor([0, 1])] = g(()); x
x = g(3); x[g(3) > 0] = c(()); x
x = g(3); x[c(3) > 0] = 0.0; x
x = c(3); x[g(3) > 0] = 0.0; x
x = g(3); x[c(3) > 0] = c(3); x
x = g(2, 3); x[:, 0] = c(2); x
x = g(2, 3); x[0, torch.tensor([0, 2])] = c(2); x
x = g(2, 3); x[..., None, 0] = c(2, 1); x
x = g(2, 3); x[[0, 1], [0, 1]] = c(2); x
x = g(2, 3); x[[0, 1], [0, 1]] += c(2); x
x = g(2, 3); x[h(2).long()] = 0; x
x = g(2, 3); x[0] = h(3); x
x = h(2, 3); x[torch.tensor([0])] = g(1, 3); x
x = g(3).requires_grad_(); x[0] = 1.0
x = g(3).requires_grad_() * 1; x[0] = c(()); x.sum().backward()
x = g(3) * 1; y = c(2).requires_grad_(); x[:2] = y; x.sum().backward(); y.grad
x = g(3); x.copy_(c(3)); x
x = g(3); x.copy_(c(1)); x
x = g(3); x.copy_(c(2))
x = c(3); x.copy_(g(3), non_blocking=True); x
x = g(3); x.add_(c(3))
x = g(3); x.add_(c(())); x
x = g(3); x += c(())
x = c(3); x += g(())
x = c(3); x *= g(3)
x = c(()); x += g(())
x = c(()); x += g(3)
x = g(()); x += c(())
x = 0; x += g(3); x
x = 0; x += c(2).sum(); x += g(2).sum(); x
x = g(3); x -= h(3)
x = g(3); x /= h(())
x = g(3); x **= torch.tensor(2); x
x = g(3).long(); x //= torch.tensor(2); x
x = g(3).bool(); x &= c(3).bool()
x = g(3).bool(); x |= torch.tensor(True); x
x = g(3).long(); x <<= c(3).long()
x = g(2, 2); x @= c(2, 2)
operator.iadd(g(3), c(3))
operator.imul(c(()), g(3))
operator.setitem(g(3), 0, c(1, 1))
after(g(3), lambda x: x.fill_(c(())))
after(g(3), lambda x: x.fill_(c(1)))
after(c(3), lambda x: x.fill_(g(())))
after(g(2, 2), lambda x: x.fill_diagonal_(1.0))
after(g(3), lambda x: x.masked_fill_(c(3).bool(), 0))
after(g(3), lambda x: x.masked_fill_(g(3).bool(), c(())))
after(g(3), lambda x: x.masked_fill_(g(3).bool(), c(1)))
after(c(3), lambda x: x.masked_fill_(c(3).bool(), g(())))
after(g(3), lambda x: x.masked_scatter_(g(3).bool(), c(3)))
after(g(3), lambda x: x.masked_scatter_(c(3).bool(), g(3)))
after(g(3), lambda x: x.index_fill_(0, c(1).long(), 1.0))
after(g(3), lambda x: x.index_fill_(0, g(1).long(), c(())))
after(g(3), lambda x: x.index_add_(0, g(2).long(), c(2)))
after(g(3), lambda x: x.index_add_(0, c(2).long(), g(2)))
after(c(3), lambda x: x.index_add_(0, c(2).long(), g(2)))
after(g(3), lambda x: x.index_copy_(0, c(1).long(), g(1)))
after(g(3), lambda x: x.index_copy_(0, g(1).long(), c(1)))
after(g(3), lambda x: x.index_put_((c(2).long(),), g(2), accumulate=True))
after(g(3), lambda x: x.index_put_((g(2).long(),), c(2), accumulate=True))
after(g(3), lambda x: x.index_put_((g(2).long(),), c(()), accumulate=True))
after(g(3), lambda x: x.index_reduce_(0, c(2).long(), g(2), "mean"))
after(g(3), lambda x: x.scatter_(0, c(2).long(), 1.0))
after(g(3), lambda x: x.scatter_(0, g(2).long(), c(2)))
after(c(3), lambda x: x.scatter_(0, g(2).long(), c(2)))
after(g(3), lambda x: x.scatter_add_(0, c(2).long(), g(2)))
after(g(3), lambda x: x.scatter_add_(0, g(2).long(), c(2)))
after(g(3), lambda x: x.scatter_reduce_(0, g(2).long(), c(2), "amax"))
after(g(3), lambda x: x.put_(c(1).long(), g(1)))
after(g(3), lambda x: x.put_(g(1).long(), c(1)))
after(g(3), lambda x: x.clamp_(min=c(3)))
after(g(3), lambda x: x.addcmul_(g(3), c(3)))
after(g(3), lambda x: x.addcmul_(g(3), torch.tensor(2.0)))
after(g(3), lambda x: x.addcdiv_(c(3), g(3)))
after(g(2, 2), lambda x: x.addmm_(g(2, 2), c(2, 2)))
after(g(2), lambda x: x.addmv_(g(2, 2), c(2)))
after(g(2, 2), lambda x: x.addr_(c(2), g(2)))
after(g(1, 2, 2), lambda x: x.baddbmm_(c(1, 2, 2), g(1, 2, 2)))
after(g(3), lambda x: x.lerp_(c(3), 0.5))
after(g(3), lambda x: x.lerp_(g(3), torch.tensor(0.5)))
after(g(3), lambda x: x.set_(c(3)))
after(g(3), lambda x: x.set_(g(5)))
after(g(3), lambda x: x.swapaxes_(0, 0).copy_(h(3)))
after(g(3), lambda x: x.resize_as_(c(2)))
after(g(3), lambda x: x.resize_(2).add_(c(2)))
after(g(3), lambda x: x.t_().mul_(c(1)))
after(g(3), lambda x: x.logical_and_(c(3)))
after(g(3), lambda x: x.eq_(c(3)))
after(g(3), lambda x: x.atan2_(c(())))
after(g(3), lambda x: x.copysign_(c(3)))
after(g(3), lambda x: x.map_(g(3), lambda a, b: a))
after(g(3), lambda x: x.apply_(lambda a: a))
after(g(3), lambda x: setattr(x, "data", c(3)))
after(g(3), lambda x: setattr(x, "grad", c(3)))
after(g(3), lambda x: setattr(x, "grad", g(2)))
after(g(3), lambda x: setattr(x, "grad", g(3).double()))
after(g(2, 2), lambda x: setattr(x, "real", c(2, 2)))
after(g(2, dtype=torch.complex64), lambda x: setattr(x, "imag", c(2)))
after(g(2, dtype=torch.complex64), lambda x: x.real.add_(c(2)))
after(g(4), lambda x: x.view(2, 2).add_(c(2)))
after(g(4), lambda x: x.split(2)[0].copy_(c(2)))
after(g(4), lambda x: x.unfold(0, 2, 2).sub_(c(2, 2)))
after(g(2, 2), lambda x: x.diagonal().copy_(c(2)))
after(g(2, 2), lambda x: x.diagonal().add_(c(2)))
after(g(2, 2), lambda x: x.T[0].mul_(c(2)))
# outputs
torch.add(g(3), g(3), out=c(3))
torch.add(g(3), 1, out=c(3))
torch.add(c(3), c(3), out=g(3))
torch.add(c(3), g(()), out=c(3))
torch.matmul(g(2, 2), g(2, 2), out=c(2, 2))
torch.mm(c(2, 2), c(2, 2), out=g(2, 2))
torch.cat([g(2), g(1)], out=c(3))
torch.cat([c(2), c(1)], out=empty("cuda"))
torch.stack([g(2), g(2)], out=empty("cuda"))
torch.stack([g(2), g(2)], out=empty("cpu"))
torch.sum(g(2, 2), 0, out=c(2))
torch.max(g(2, 2), 0, out=(c(2), c(2).long()))
torch.max(g(2, 2), 0, out=(g(2), c(2).long()))
torch.topk(g(4), 2, out=(g(2), g(2).long().cpu()))
torch.sort(g(4), out=(c(4), c(4).long()))
torch.where(g(2).bool(), g(2), g(2), out=c(2))
torch.gather(g(3), 0, g(1).long(), out=c(1))
torch.index_select(g(3), 0, g(1).long(), out=c(1))
torch.masked_select(g(3), g(3).bool(), out=c(3))
torch.nonzero(g(3), out=c(3, 1).long())
torch.arange(3, out=g(3))
torch.zeros(3, out=g(3))
torch.zeros(3, out=g(3), device="cpu")
torch.eye(2, out=g(2, 2)) + c(2, 2)
torch.randn(3, out=g(3))
torch.randperm(3, out=g(3).long())
torch.linspace(0, 1, 3, out=g(3))
torch.normal(g(2), g(2), out=c(2))
torch.bernoulli(g(2), out=c(2))
torch.linalg.inv(torch.eye(2, device="cuda"), out=c(2, 2))
torch.linalg.norm(g(3), out=c(()))
torch.cumsum(g(3), 0, out=c(3))
torch.clamp(g(3), 0, 1, out=h(3))
torch.einsum("i,i->", g(3), g(3), out=g(()))
torch.bmm(g(1, 2, 2), g(1, 2, 2), out=h(1, 2, 2))
torch.sigmoid(c(3), out=g(3))
torch.exp(g(3), out=empty("cpu"))
torch.logical_not(g(3), out=c(3).bool())
torch.conj_physical(g(3), out=c(3))
# modules that write
Counted().cuda()(g(2, 2), "steps")
Counted().cuda()(g(2, 2), "mean")
Counted().cuda()(g(2, 2), "lerp")
Counted().cuda()(g(2, 2), "history")
Counted().cuda()(g(2, 2), "rows")
Counted().cuda()(g(2, 2), "gathered")
Counted().cuda()(g(2, 2), "kept")
Counted()(c(2, 2), "history").cuda()
Counted()(g(2, 2), "steps")
Counted()(g(2, 2), "mean")
Counted()(g(2, 2), "lerp")
Counted().cuda()(c(2, 2), "lerp")
Counted().cuda()(c(2, 2), "kept")
m = Counted().cuda(); m.mean = c(2); m(g(2, 2), "steps")
m = Counted().cuda(); m.mean = None; m.steps
m = Counted(); m.mean = g(2); m.cpu()(c(2, 2), "mean")
m = Counted().cuda(); m.steps = 3
m = Counted().cuda(); m._buffers["mean"] = c(2); m(g(2, 2), "steps")
m = nn.BatchNorm1d(2).cuda(); m.running_mean = c(2); m(g(3, 2))
m = nn.BatchNorm1d(2).cuda(); m.running_var.data = c(2); m(g(3, 2))
m = nn.BatchNorm1d(2).cuda(); m.num_batches_tracked = torch.tensor(0); m(g(3, 2))
m = nn.BatchNorm2d(2); m(g(1, 2, 3, 3))
m = nn.BatchNorm2d(2).cuda().eval(); m(c(1, 2, 3, 3))
m = nn.InstanceNorm1d(2, affine=True).cuda(); m(c(1, 2, 3))
m = nn.LayerNorm(2).cuda(); m(c(3, 2))
m = nn.RMSNorm(2).cuda(); m(c(3, 2))
m = nn.GroupNorm(1, 2).cuda(); m(c(1, 2, 3))
m = nn.PReLU().cuda(); m(c(3))
m = nn.Bilinear(2, 2, 1).cuda(); m(g(1, 2), c(1, 2))
m = nn.Embedding(4, 2, max_norm=1.0).cuda(); m(c(2).long())
m = nn.Embedding(4, 2).cuda(); m(c(2).long().tolist())
m = nn.EmbeddingBag(4, 2).cuda(); m(g(3).long(), c(1).long() * 0)
m = nn.EmbeddingBag(4, 2, mode="sum").cuda(); m(g(1, 3).long(), per_sample_weights=c(1, 3))
m = nn.Conv1d(2, 1, 2).cuda(); m(c(1, 2, 3))
m = nn.ConvTranspose2d(1, 1, 2); m(g(1, 1, 3, 3))
m = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)).cuda(); m(g(1, 2))
m = nn.utils.parametrizations.spectral_norm(nn.Linear(2, 2).cuda()); m(g(1, 2))
m = nn.utils.parametrizations.orthogonal(nn.Linear(2, 2)).cuda(); m(c(1, 2))
m = nn.utils.spectral_norm(nn.Linear(2, 2)).cuda(); m(g(1, 2))
m = nn.LazyLinear(2).cuda(); m(c(1, 3))
m = nn.LazyLinear(2).cuda(); m(g(1, 3))
nn.init.normal_(nn.Linear(2, 2).cuda().weight, generator=torch.Generator())
nn.utils.clip_grad_norm_([nn.Parameter(g(2)), nn.Parameter(c(2))], 1.0)
nn.utils.parameters_to_vector([nn.Parameter(g(2)), nn.Parameter(c(2))])
nn.utils.vector_to_parameters(c(2), [nn.Parameter(g(2))])
prune.l1_unstructured(nn.Linear(2, 2).cuda(), "weight", 1)(g(1, 2))
prune.custom_from_mask(nn.Linear(2, 2).cuda(), "weight", c(2, 2))(g(1, 2))
nn.utils.fusion.fuse_conv_bn_eval(nn.Conv2d(1, 1, 1).cuda().eval(), nn.BatchNorm2d(1).eval())
