"""Lines from training scripts: batches, losses with tensors of their own, masks, metrics, replay, schedules, averages."""

import collections
import contextlib
import copy
import dataclasses
import itertools
import math

import numpy as np
from torch.utils.data import DataLoader, TensorDataset


@dataclasses.dataclass
class Batch:
    inputs: torch.Tensor
    labels: torch.Tensor

    def to(self, device):
        return Batch(self.inputs.to(device), self.labels)


Pair = collections.namedtuple("Pair", "state action")


class Average(nn.Module):
    """An average of a model's weights, as many repositories write it."""

    def __init__(self, model, decay=0.9):
        super().__init__()
        self.model, self.decay = copy.deepcopy(model).cpu(), decay

    @torch.no_grad()
    def update(self, model):
        for mine, other in zip(self.model.parameters(), model.parameters()):
            mine.mul_(self.decay).add_(other, alpha=1 - self.decay)


class Positions(nn.Module):
    """Positions that are made where the module was."""

    def __init__(self, length=4, width=2):
        super().__init__()
        places = torch.arange(length).unsqueeze(1) * torch.exp(torch.arange(0, width, 2) * -math.log(1e4) / width)
        self.table = torch.cat([places.sin(), places.cos()], dim=1)

    def forward(self, x):
        return x + self.table[: x.size(1)]


class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.codebook = nn.Embedding(4, 2)
        self.register_buffer("counts", torch.zeros(4))
        self.used = torch.zeros(4)

    def forward(self, x):
        codes = torch.cdist(x, self.codebook.weight).argmin(-1)
        self.counts += torch.bincount(codes.flatten(), minlength=4)
        self.used += torch.bincount(codes.flatten(), minlength=4)
        return codes


def moved(batch, device):
    if isinstance(batch, dict):
        return {key: moved(value, device) for key, value in batch.items()}
    return batch.to(device) if isinstance(batch, torch.Tensor) else batch


def labels(device, *values):
    return torch.tensor(values, device=device)


# batches
next(iter(DataLoader(TensorDataset(g(4, 2)), batch_size=2)))[0]
next(iter(DataLoader(TensorDataset(g(4, 2), c(4)), batch_size=2)))
next(iter(DataLoader([(g(2), 1), (c(2), 2)], batch_size=2)))
next(iter(DataLoader([(g(2), 1), (h(2), 2)], batch_size=2)))
next(iter(DataLoader([{"x": g(2), "y": c()}, {"x": g(2), "y": c()}], batch_size=2)))
next(iter(DataLoader([g(2), g(2)], batch_size=2, collate_fn=torch.stack)))
next(iter(DataLoader([c(2), g(2)], batch_size=2, collate_fn=torch.stack)))
torch.utils.data.default_collate([g(2), g(2)])
torch.utils.data.default_collate([g(2), c(2)])
torch.utils.data.default_collate([Pair(g(2), 1), Pair(g(2), 0)])
torch.utils.data.default_collate([[g(1), c(1)], [g(1), c(1)]])
torch.utils.data.default_collate([np.ones(2), np.ones(2)]) + g(2)
torch.utils.data.random_split(TensorDataset(g(4, 2)), [2, 2], generator=torch.Generator("cuda"))
list(torch.utils.data.RandomSampler(range(4), generator=torch.Generator("cuda")))
list(torch.utils.data.WeightedRandomSampler([1.0, 2.0], 4, generator=torch.Generator("cuda")))
list(torch.utils.data.SubsetRandomSampler(g(2).long()))
moved({"x": c(2), "meta": {"y": c(2)}, "name": "a"}, "cuda")["meta"]["y"] + g(2)
moved({"x": [c(2)]}, "cuda")["x"][0] + g(2)
Batch(c(2, 2), c(2).long()).to("cuda").inputs @ g(2, 2)
b = Batch(c(2, 2), c(2).long()).to("cuda"); F.cross_entropy(b.inputs, b.labels)
nn.utils.rnn.pad_sequence([g(2), g(3)], batch_first=True)
nn.utils.rnn.pad_sequence([g(2), c(3)], batch_first=True)
nn.utils.rnn.pad_sequence([c(2), g(3)])
nn.utils.rnn.pack_sequence([g(3), c(2)])
nn.utils.rnn.pack_padded_sequence(g(2, 3, 1), g(2).long() * 3, batch_first=True)
nn.utils.rnn.unpad_sequence(g(2, 3), torch.tensor([2, 1]), batch_first=True)
nn.GRU(2, 3).cuda()(nn.utils.rnn.pack_sequence([g(3, 2), g(2, 2)]))[0].data
nn.GRU(2, 3).cuda()(nn.utils.rnn.pack_sequence([c(3, 2), c(2, 2)]))
nn.LSTM(2, 3).cuda()(g(4, 1, 2), (g(1, 1, 3), c(1, 1, 3)))
nn.LSTM(2, 3)(c(4, 1, 2), (g(1, 1, 3), g(1, 1, 3)))
nn.LSTMCell(2, 3).cuda()(g(1, 2), (c(1, 3), c(1, 3)))
nn.GRUCell(2, 3).cuda()(c(1, 2))
# losses with tensors of their own
nn.CrossEntropyLoss(weight=c(3)).cuda()(g(2, 3), g(2).long())
nn.CrossEntropyLoss(weight=c(3))(g(2, 3), g(2).long())
nn.CrossEntropyLoss(weight=g(3))(g(2, 3), c(2).long())
nn.CrossEntropyLoss(label_smoothing=0.1, weight=c(3))(g(2, 3), g(2).long())
nn.CrossEntropyLoss(weight=c(3))(g(2, 3), g(2, 3))
nn.CrossEntropyLoss()(g(2, 3), c(2, 3))
nn.BCEWithLogitsLoss(pos_weight=c(3))(g(2, 3), g(2, 3))
nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))(g(2, 3), g(2, 3))
nn.BCEWithLogitsLoss(weight=c(3))(g(2, 3), g(2, 3))
nn.BCEWithLogitsLoss()(g(2), c(2))
nn.BCELoss(weight=torch.tensor([2.0]))(g(2), g(2))
nn.BCELoss()(g(2), c(2))
nn.NLLLoss(weight=c(3))(g(2, 3), g(2).long())
nn.NLLLoss()(g(2, 3, 4), c(2, 4).long())
nn.MultiMarginLoss(weight=c(3))(g(2, 3), g(2).long())
nn.MultiLabelSoftMarginLoss(weight=c(3))(g(2, 3), g(2, 3))
nn.GaussianNLLLoss()(g(2), g(2), c(2))
nn.GaussianNLLLoss()(g(2), c(2), g(2))
nn.KLDivLoss(reduction="batchmean")(g(2, 3), c(2, 3))
nn.TripletMarginLoss()(g(2, 3), g(2, 3), c(2, 3))
nn.TripletMarginWithDistanceLoss()(g(2, 3), c(2, 3), g(2, 3))
nn.CosineEmbeddingLoss()(g(2, 3), g(2, 3), c(2))
nn.MarginRankingLoss()(g(2), g(2), torch.tensor(1))
nn.MarginRankingLoss()(g(2), g(2), c(2))
nn.CTCLoss()(g(4, 1, 3).log_softmax(2), c(1, 2).long(), torch.tensor([4]), torch.tensor([2]))
nn.CTCLoss()(g(4, 1, 3).log_softmax(2), g(1, 2).long(), g(1).long() * 4, c(1).long() * 2)
nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2]).cuda()(g(3, 4), c(3).long())
nn.SmoothL1Loss(beta=0.5)(g(2), c(2))
nn.HuberLoss()(g(2), c(2))
nn.PoissonNLLLoss(full=True)(g(2), c(2))
nn.SoftMarginLoss()(g(2), c(2))
F.cross_entropy(g(2, 3), labels("cuda", 0, 1), weight=torch.tensor([1.0, 2.0, 3.0]).to(g(1)))
F.mse_loss(g(2), torch.tensor(1.0))
F.mse_loss(g(2), c(2), weight=g(2))
F.l1_loss(g(()), c(()))
(F.mse_loss(g(2), g(2)) + torch.tensor(0.1)) * 2
(F.mse_loss(g(2), g(2)) + torch.tensor([0.1])).mean()
sum([g(2).mean(), c(2).mean()])
torch.stack([g(2).mean(), c(2).mean()]).mean()
torch.tensor([g(2).mean(), c(2).mean()])
torch.tensor([g(2).mean(), h(2).mean()], device="cuda")
# masks
(~torch.tril(torch.ones(3, 3, dtype=torch.bool)) | g(3, 3).bool())
g(3, 3).masked_fill(torch.triu(c(3, 3), 1) == 1, float("-inf"))
g(2, 3, 3).masked_fill_(torch.ones(3, 3).tril() == 0, -1e9)
torch.where(torch.ones(3, 3).tril() == 0, float("-inf"), g(3, 3))
torch.where(g(3).bool(), c(3), 0.0)
torch.where(g(3).bool(), torch.tensor(1.0), g(3))
g(3)[torch.tensor([True, False, True])]
c(3)[torch.tensor([True, False, True], device="cuda")]
g(3)[np.array([0, 2])]
g(3)[[0, 2]]
g(3, 3)[torch.arange(3), torch.arange(3, device="cuda")]
g(3, 3)[torch.arange(3), [0, 1, 2]]
g(3, 3)[:, torch.randperm(3)]
c(3, 3)[torch.randperm(3, device="cuda")]
g(3)[g(1).long().cpu()]
g(3)[h(1).long()]
nn.Transformer(4, 2, 1, 1, 4, batch_first=True).cuda()(g(1, 2, 4), g(1, 2, 4), tgt_mask=nn.Transformer.generate_square_subsequent_mask(2))
nn.Transformer(4, 2, 1, 1, 4).cuda()(g(2, 1, 4), g(2, 1, 4), tgt_key_padding_mask=c(1, 2).bool())
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 4, batch_first=True), 1).cuda()(g(1, 2, 4), src_key_padding_mask=c(1, 2).bool())
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 4), 1).cuda().eval()(g(2, 1, 4), mask=c(2, 2).bool())
nn.MultiheadAttention(4, 2).cuda()(g(2, 1, 4), g(2, 1, 4), c(2, 1, 4))
nn.MultiheadAttention(4, 2, batch_first=True).cuda()(g(1, 2, 4), g(1, 2, 4), g(1, 2, 4), key_padding_mask=torch.zeros(1, 2, dtype=torch.bool))
nn.MultiheadAttention(4, 2, add_bias_kv=True).cuda()(g(2, 1, 4), g(2, 1, 4), g(2, 1, 4), attn_mask=torch.zeros(2, 2))
nn.MultiheadAttention(4, 2).cuda().eval()(c(2, 1, 4), c(2, 1, 4), c(2, 1, 4))
nn.TransformerDecoderLayer(4, 2, 4).cuda()(g(2, 1, 4), c(2, 1, 4))
# metrics
(g(2, 3).argmax(1) == c(2)).float().mean()
(g(2, 3).argmax(1) == labels("cpu", 0, 1)).sum().item()
(g(2, 3).argmax(1).cpu() == c(2)).sum()
g(2, 3).topk(2).indices.eq(c(2, 1))
np.mean([g(2).mean().item(), 2.0])
np.mean([g(2).mean(), g(2).mean()])
np.mean([t.cpu() for t in (g(2), g(2))])
np.array(g(2).cpu())
np.array([g(1), g(1)])
np.asarray(g(2).requires_grad_())
np.concatenate([g(2).cpu(), np.ones(2)])
np.ones(2) + g(2)
g(2) + np.ones(2)
g(2) * np.float32(2)
np.float32(2) * g(2)
g(2).requires_grad_().cpu().numpy()
g(2).requires_grad_().numpy()
g(2).to(torch.bfloat16).cpu().numpy()
max(g(1), c(1))
max([g(()), c(())])
sorted([g(()), c(()) * 0])[0]
math.sqrt(g(()))
round(g(()), 2)
int(g(1)) + float(g(1, 1))
int(g(2))
bool(g(2) == c(2))
range(g(()).long())
[0, 1][g(()).long() * 0]
f"{g(1).item():.2f} {g(()):.1f}"
f"{g(1):.2f}"
"{:.1f}".format(g(()))
g(2).tolist() + c(1).tolist()
set(g(2).long().tolist())
list(zip(g(2), c(2)))[0]
list(itertools.chain(g(2), c(1)))[-1]
dict(zip(["a"], g(1)))["a"] + c(())
torch.cat(list(g(4, 2).chunk(2)) + [c(1, 2)])
torch.cat([g(0), c(2)])
torch.cat([c(0), g(2)])
torch.cat([torch.tensor([]), g(2, 2)])
torch.cat([torch.empty(0, 2), g(2, 2)])
torch.stack([g(2)] * 2 + [h(2)])
torch.hstack([g(2), c(2)])
torch.vstack((g(2), h(2)))
torch.block_diag(g(2, 2), c(1, 1))
torch.cartesian_prod(g(2), c(2))
torch.combinations(g(3)) + c(3, 2)
torch.meshgrid(g(2), c(2), indexing="ij")
torch.meshgrid(g(2), g(2), indexing="xy")[0]
torch.broadcast_tensors(g(2, 1), c(1, 2))[1]
torch.bincount(g(2).long(), weights=c(2))
torch.bucketize(g(2), c(3))
torch.bucketize(2.0, g(3))
torch.searchsorted(g(3), c(2))
torch.searchsorted(g(3), 2.0)
torch.histc(g(3), bins=2) + c(2)
torch.histogramdd(c(3, 2), [2, 2], weight=g(3))
torch.isin(g(3), c(2))
torch.isin(g(3), 1)
torch.isin(torch.tensor(1.0), g(3))
torch.unique(g(3), return_inverse=True)[1] + c(3).long()
torch.tensordot(g(2, 2), c(2, 2), 1)
torch.einsum("bi,ij->bj", g(2, 3), c(3, 2))
torch.einsum("i,i->", c(3), g(3))
torch.einsum("bij,bjk,k->bi", g(1, 2, 3), g(1, 3, 2), c(2))
torch.kron(g(2, 2), c(2, 2))
torch.outer(g(2), c(2))
torch.cov(g(2, 3), fweights=c(3).long())
torch.cov(g(2, 3), aweights=c(3))
torch.gradient(g(4), spacing=(c(4),))[0]
torch.trapezoid(g(4), c(4))
torch.cumulative_trapezoid(g(4), c(4))
torch.quantile(g(4), c(2))
torch.quantile(g(4), 0.5)
torch.nanquantile(g(4), torch.tensor(0.5))
torch.lerp(g(2), g(2), c(2))
torch.lerp(g(2), g(2), torch.tensor(0.5))
torch.lerp(g(2), c(2), 0.5)
torch.clamp(g(2), min=c(2))
torch.clamp(g(2), max=torch.tensor(0.5))
torch.clamp(g(2), torch.tensor(0.0), c(2))
g(2).clip(min=torch.tensor([0.0, 0.1]))
g(2).clamp_(max=c(()))
torch.maximum(g(2), torch.tensor(0.5))
torch.maximum(g(2), torch.tensor([0.5]))
torch.nan_to_num(g(2)).max(c(2))
torch.allclose(g(2), c(2))
torch.isclose(g(2), torch.tensor(1.0))
torch.equal(g(2), h(2))
torch.testing.assert_close(g(2), c(2))
torch.testing.assert_close({"a": g(2)}, {"a": h(2)})
# averages, codebooks, positions
Average(nn.Linear(2, 2).cuda()).update(nn.Linear(2, 2).cuda())
Average(nn.Linear(2, 2)).cuda().update(nn.Linear(2, 2).cuda())
Positions().cuda()(g(1, 3, 2))
Positions()(c(1, 3, 2)).to("cuda")
Quantizer().cuda()(g(2, 3, 2))
Quantizer()(c(2, 3, 2)).device.type
torch.optim.swa_utils.AveragedModel(nn.Linear(2, 2), device="cuda").update_parameters(nn.Linear(2, 2))
torch.optim.swa_utils.AveragedModel(nn.Linear(2, 2).cuda(), device="cpu").update_parameters(nn.Linear(2, 2).cuda())
torch.optim.swa_utils.AveragedModel(nn.Linear(2, 2).cuda(), multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)).cpu().update_parameters(nn.Linear(2, 2).cuda())
copy.deepcopy(nn.Linear(2, 2).cuda()).weight + g(2, 2)
copy.deepcopy({"a": g(2), "b": [c(2)]})["b"][0] + g(2)
nn.Linear(2, 2).cuda().load_state_dict(nn.Linear(2, 2).state_dict())
nn.Linear(2, 2).cuda().load_state_dict(nn.Linear(2, 2).state_dict(), assign=True)
m = nn.Linear(2, 2).cuda(); m.load_state_dict(nn.Linear(2, 2).state_dict(), assign=True); m(g(1, 2))
m = nn.Linear(2, 2).cuda(); m.weight = nn.Parameter(c(2, 2)); m(g(1, 2))
m = nn.Linear(2, 2).cuda(); m.bias = nn.Parameter(m.bias.cpu()); m(g(1, 2))
m = nn.Linear(2, 2).cuda(); m.weight.data = c(2, 2); m.weight.device
m = nn.Linear(2, 2); m.weight.data = g(2, 2); m(g(1, 2))
m = nn.Linear(2, 2).cuda(); m.weight.data.copy_(c(2, 2)); m(g(1, 2))
m = nn.Linear(2, 2).cuda(); m.add_module("more", nn.Linear(2, 2)); m.more(m(g(1, 2)))
m = nn.Sequential(nn.Linear(2, 2)).cuda(); m.append(nn.Linear(2, 2)); m(g(1, 2))
m = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)); m[0].cuda(); m(g(3, 2))
m = nn.ModuleDict({"a": nn.Linear(2, 2)}).cuda(); m["b"] = nn.Linear(2, 2); m["b"](m["a"](g(1, 2)))
m = nn.Module(); m.layers = [nn.Linear(2, 2)]; m.cuda(); m.layers[0](g(1, 2))
m = nn.ParameterList([c(2)]).cuda(); m.append(c(2)); m[0] + m[1]
m = nn.ParameterDict({"a": c(2)}).cuda(); m["b"] = nn.Parameter(c(2)); m["a"] * m["b"]
with torch.device("cuda"): nn.Linear(2, 2)(torch.randn(1, 2))
with torch.device("cuda"): nn.Linear(2, 2)(torch.from_numpy(np.ones((1, 2), "float32")))
with torch.device("cuda"): nn.Linear(2, 2)(torch.tensor([[1.0, 2.0]]))
with torch.device("cuda"): nn.Embedding(4, 2)(torch.LongTensor([1]))
with torch.device("cuda:1"): torch.nn.init.normal_(torch.empty(2)) + torch.zeros(2)
with contextlib.ExitStack() as s: s.enter_context(torch.device("cuda")); torch.arange(2)
# replay and schedules
m = collections.deque([Pair(g(2), c(1).long())]); torch.stack(Pair(*zip(*m)).state) + torch.stack(Pair(*zip(*m)).action)
torch.cat([p.state for p in [Pair(g(1, 2), 0), Pair(c(1, 2), 0)]])
nn.Linear(2, 3).cuda()(g(4, 2)).gather(1, c(4, 1).long())
nn.Linear(2, 3).cuda()(g(4, 2)).max(1)[0].detach() * 0.9 + c(4)
nn.Linear(2, 3).cuda()(g(4, 2)).max(1)[0] * torch.tensor(0.9)
torch.distributions.Categorical(logits=g(2, 3), validate_args=False).log_prob(c(2))
torch.distributions.Normal(g(2), 1.0, validate_args=False).log_prob(c(2))
torch.distributions.Normal(g(2), c(2), validate_args=False).sample()
torch.distributions.Normal(g(2), torch.tensor(1.0), validate_args=False).rsample()
torch.distributions.Normal(0.0, 1.0).sample((2,)) + g(2)
torch.distributions.MultivariateNormal(g(2), torch.eye(2), validate_args=False).sample()
torch.distributions.LowRankMultivariateNormal(g(2), c(2, 1), g(2), validate_args=False).mean
torch.distributions.Beta(g(2), c(2)).sample()
torch.distributions.kl_divergence(torch.distributions.Normal(g(2), 1.0, validate_args=False), torch.distributions.Normal(c(2), 1.0, validate_args=False))
torch.distributions.Independent(torch.distributions.Bernoulli(g(2) / 2, validate_args=False), 1, validate_args=False).log_prob(c(2))
torch.distributions.Categorical(g(2), validate_args=False).log_prob(c(1).long())
torch.distributions.AffineTransform(c(2), 2.0)(g(2))
torch.distributions.Uniform(c(2) * 0, g(2)).sample()
torch.distributions.Dirichlet(g(3), validate_args=False).log_prob(c(3) / 3)
torch.cumprod(1 - torch.linspace(0, 0.1, 4), 0)[g(2).long()]
torch.linspace(0, 1, 4)[g(2).long().cpu()].to("cuda") * g(2)
torch.linspace(0, 1, 4).cuda().gather(-1, c(2).long())
torch.linspace(c(()), g(()), 4)
torch.linspace(g(()), 2, 4)
torch.logspace(g(()), g(()) * 2, 3, device="cuda")
torch.arange(g(()).long() * 3)
torch.arange(3, device=g(1).device)
torch.full((2,), g(()))
torch.full((2,), g(()), device="cuda")
torch.full_like(g(2), c(()))
torch.eye(2)[g(2).long() * 0]
F.one_hot(c(2).long(), 3) + g(2, 3)
F.one_hot(g(2).long(), num_classes=3).float() @ c(3, 2)
torch.randint(0, 4, (2,), generator=torch.Generator("cuda"))
torch.randint(0, 4, (2,), device="cuda", generator=torch.Generator("cuda"))
torch.randn(2, device="cuda", generator=torch.manual_seed(0))
torch.randperm(3, generator=torch.Generator("cuda").manual_seed(0))
torch.multinomial(g(3), 1, generator=torch.Generator())
torch.bernoulli(c(3), generator=torch.Generator("cuda"))
torch.randn_like(g(2)) + torch.randn(2)
torch.normal(0.0, g(2), generator=torch.Generator())
g(2).normal_(generator=torch.Generator("cuda:1"))
