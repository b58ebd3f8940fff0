"""Random numbers, distributions, loaders of data, and quantized tensors."""

import contextlib

from torch import distributions
from torch.distributions import Normal as N
from torch.utils import data


@contextlib.contextmanager
def unchecked():
    """Inside, distributions do not check their values, which no kernel may have computed."""
    distributions.Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        distributions.Distribution.set_default_validate_args(True)


class Rows(data.Dataset):
    """A dataset whose rows are on a GPU."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.ones(2, device="cuda"), index


class Mixed(Rows):
    def __getitem__(self, index):
        return torch.ones(2, device="cuda" if index % 2 else "cpu")


# distributions
with unchecked():
    N(g(2), c(2))
with unchecked():
    N(g(2), c())
with unchecked():
    N(g(2), 1.0).log_prob(c(2))
with unchecked():
    N(g(2), 1.0).log_prob(g(2)), N(g(2), 1.0).mean, N(g(2), 1.0).entropy(), N(h(2), 1.0).cdf(h(2))
with unchecked():
    N(g(2), 1.0).log_prob(0.5), N(g(2), 1.0).icdf(g(2) * 0.5)
with unchecked():
    N(0.0, 1.0).log_prob(g(2))
with unchecked():
    N(torch.tensor(0.0), torch.tensor(1.0)).log_prob(g(2))
with unchecked():
    N(torch.zeros(1), torch.ones(1)).log_prob(g(2))
with unchecked():
    distributions.Categorical(probs=g(3)).sample(), distributions.Categorical(logits=g(2, 3)).entropy()
with unchecked():
    distributions.Categorical(logits=g(2, 3)).log_prob(torch.tensor([0, 1]))
with unchecked():
    distributions.Categorical(logits=g(2, 3)).log_prob(torch.tensor([0, 1]).cuda())
with unchecked():
    distributions.Categorical(logits=g(2, 3)).log_prob(torch.tensor(1))
with unchecked():
    distributions.Bernoulli(probs=g(2)).sample(), distributions.Bernoulli(logits=g(2)).log_prob(g(2))
with unchecked():
    distributions.Bernoulli(logits=g(2)).log_prob(c(2))
with unchecked():
    distributions.MultivariateNormal(g(2), torch.eye(2))
with unchecked():
    distributions.MultivariateNormal(c(2), scale_tril=torch.eye(2).cuda())
with unchecked():
    distributions.Uniform(c(2), g(2) * 2)
with unchecked():
    distributions.Uniform(torch.zeros(2).cuda(), g(2)).sample(), distributions.Uniform(0.0, g(2)).support
with unchecked():
    distributions.Beta(g(2), c(2))
with unchecked():
    distributions.Beta(g(2), g(2)).sample(), distributions.Gamma(g(2), g(2)).rsample(), distributions.Dirichlet(g(3)).sample()
with unchecked():
    distributions.Gamma(g(2), c(2))
with unchecked():
    distributions.Exponential(g(2)).sample((2,)), distributions.Laplace(g(2), g(2)).sample(), distributions.Poisson(g(2)).sample(), distributions.Cauchy(h(2), 1.0).sample()
with unchecked():
    distributions.StudentT(g(2), c(2))
with unchecked():
    distributions.kl_divergence(N(g(2), g(2)), N(g(2), g(2)))
with unchecked():
    distributions.kl_divergence(N(g(2), g(2)), N(c(2), c(2)))
with unchecked():
    distributions.kl_divergence(distributions.Categorical(g(3)), distributions.Categorical(c(3)))
with unchecked():
    distributions.Independent(N(g(2), 1.0), 1).log_prob(g(2))
with unchecked():
    distributions.Independent(N(g(2), 1.0), 1).log_prob(c(2))
with unchecked():
    distributions.MixtureSameFamily(distributions.Categorical(g(2)), N(c(2), c(2)))
with unchecked():
    distributions.MixtureSameFamily(distributions.Categorical(g(2)), N(c(2), c(2))).sample()
with unchecked():
    distributions.MixtureSameFamily(distributions.Categorical(g(2)), N(g(2), g(2))).mean
with unchecked():
    distributions.RelaxedOneHotCategorical(c(), logits=g(3)).rsample(), distributions.Gumbel(g(2), g(2)).sample()
with unchecked():
    distributions.LowRankMultivariateNormal(g(2), g(2, 1), c(2))
with unchecked():
    distributions.Normal(g(2), g(2), validate_args=False).log_prob(c(2))
with unchecked():
    distributions.Normal(g(2), g(3))
with unchecked():
    distributions.Normal("a", g(2))
with unchecked():
    distributions.Categorical(g(3)).enumerate_support(), distributions.Bernoulli(h(2)).enumerate_support()
with unchecked():
    distributions.VonMises(g(2), g(2)).mean, distributions.HalfNormal(g(2)).variance, distributions.LogNormal(h(2), h(2)).mean
with unchecked():
    distributions.Binomial(5, g(2) * 0.5).mean, distributions.Binomial(c(2), probs=g(2) * 0.5)
with unchecked():
    distributions.biject_to(distributions.constraints.positive)(g(2)), distributions.transform_to(distributions.constraints.simplex)(g(3))
with unchecked():
    distributions.biject_to(distributions.constraints.interval(c(2), c(2) * 2))(g(2))
with unchecked():
    distributions.constraints.positive.check(g(2)), distributions.constraints.interval(c(), g()).check(g(2))
with unchecked():
    N(g(2), g(2)).rsample((3,)), N(0.0, 1.0).sample(), N(g(2), 1.0).expand((3, 2)).rsample()
with unchecked():
    distributions.TransformedDistribution(N(g(2), 1.0), [distributions.transforms.AffineTransform(c(2), g(2))]).log_prob(g(2))
with unchecked():
    distributions.Multinomial(3, probs=g(3)).mean, distributions.Geometric(g(2)).mean
# random numbers
torch.rand_like(g(2), generator=torch.Generator())
torch.randn(2, device=g(2).device, generator=torch.Generator("cuda").manual_seed(1)), torch.randint(0, 3, (2,), device="cuda:1")
torch.randn(2, generator=torch.Generator("cuda"), device="cpu")
torch.rand(2, device="cuda", generator=5)
torch.normal(g(2), 1.0), torch.normal(0.0, 1.0, (2,), device="cuda:1")
torch.normal(g(2), 1.0, generator=torch.Generator())
torch.normal(0.0, c(2), generator=torch.Generator("cuda"))
torch.poisson(g(2)), torch.bernoulli(g(2)), torch.bernoulli(h(2), 0.5), torch.multinomial(g(2, 3), 2, replacement=True)
torch.poisson(g(2), generator=torch.Generator())
torch.binomial(g(2), c(2))
torch.binomial(g(2), g(2) * 0.5)
torch.bernoulli(g(2), out=c(2))
g(2).bernoulli_(g(2)), h(2).geometric_(0.5), g(2).cauchy_(), g(2).log_normal_(), g(2).random_(5), g(2).exponential_()
g(2).bernoulli_(c(2))
g(2).bernoulli_(c())
g(2).random_(0, 5, generator=torch.Generator())
h(2).normal_(c(), 1.0)
g(2).normal_(0.0, -1.0)
F.dropout(g(4), 0.5), F.alpha_dropout(g(4), 0.5, training=True), F.rrelu(g(4), training=True), nn.Dropout2d()(h(1, 2, 2, 2)), nn.Dropout().cuda()(c(2))
F.dropout(g(4), 1.5)
torch.manual_seed(g()) is not None
torch.manual_seed(3).device, torch.default_generator.device, torch.cuda.default_generators[1].device, torch.seed() is not None
torch.cuda.manual_seed(3), torch.cuda.seed(), len(torch.cuda.get_rng_state_all())
torch.cuda.set_rng_state(torch.cuda.get_rng_state("cuda:1"), "cuda:0"), torch.cuda.get_rng_state(torch.device("cuda"))
torch.cuda.set_rng_state(c(4, dtype=torch.uint8))
torch.cuda.set_rng_state(torch.cuda.get_rng_state()[:8])
torch.cuda.set_rng_state(torch.cuda.get_rng_state().float())
torch.cuda.set_rng_state(torch.cuda.get_rng_state(), "cuda:7")
torch.cuda.set_rng_state(torch.cuda.get_rng_state(), "cpu")
torch.cuda.set_rng_state(None)
torch.cuda.set_rng_state_all(torch.cuda.get_rng_state_all()), torch.cuda.set_rng_state_all([])
torch.set_rng_state(g(2)), 1
torch.get_rng_state().device, torch.get_rng_state().cuda()
torch.Generator("cuda").manual_seed("a")
torch.Generator("cuda").manual_seed(-1).initial_seed(), torch.Generator("cuda:1").manual_seed(2 ** 63).initial_seed()
torch.Generator("cpu:0").device, torch.Generator(device=None).device, torch.Generator(device=torch.device("cuda:1")).device
torch.Generator(1).device
torch.Generator("meta")
torch.Generator("cuda").set_state(torch.cuda.get_rng_state()).device, torch.Generator("cuda").get_state()
torch.Generator("cuda").set_state(torch.zeros(3, dtype=torch.uint8))
torch.Generator("cuda").set_state([1])
torch.Generator("cuda").set_offset(4).get_offset(), torch.Generator("cuda").set_offset(-4)
torch.Generator("cuda").graphsafe_set_state(torch.Generator("cuda").graphsafe_get_state()).device
torch.Generator().graphsafe_get_state()
torch.Generator("cuda") == torch.Generator("cuda"), torch.Generator("cuda").seed() is not None
g1 = torch.Generator("cuda").manual_seed(3); torch.rand(2, device="cuda", generator=g1); g1.get_offset(), g1.initial_seed()
g1 = torch.Generator("cuda:1").manual_seed(3); g2 = g1.clone_state(); g2.initial_seed(), g2.device
with torch.random.fork_rng([0, 1]):
    torch.manual_seed(1); torch.rand(2, device="cuda:1")
with torch.random.fork_rng(devices=[g(2)]):
    1
with torch.random.fork_rng(enabled=False):
    torch.rand(2, device="cuda")
with torch.random.fork_rng(device_type="gpu"):
    1
with torch.random.fork_rng(devices=["cpu"]):
    1
# loaders
next(iter(data.DataLoader(c(4, 2), batch_size=2)))
next(iter(data.DataLoader(g(4, 2), batch_size=2)))
next(iter(data.DataLoader(Rows(), batch_size=2)))
next(iter(data.DataLoader(Mixed(), batch_size=2)))
next(iter(data.DataLoader(Rows(), batch_size=2, pin_memory=True)))
[x.is_pinned() for x in data.DataLoader(c(2, 2), pin_memory=True)]
[x.is_pinned() for x in data.DataLoader(c(2, 2), pin_memory=True, pin_memory_device="cuda")]
next(iter(data.DataLoader(c(4, 2), batch_size=2, shuffle=True, generator=torch.Generator()))).cuda()
next(iter(data.DataLoader(c(4, 2), collate_fn=lambda rows: torch.stack(rows).cuda(1))))
next(iter(data.DataLoader(c(4, 2)))).to("cuda") @ c(2, 2)
next(iter(data.DataLoader(data.TensorDataset(g(4, 2), g(4)), batch_size=3)))
data.TensorDataset(g(4, 2), c(3))
data.TensorDataset(g(4, 2), c(4))[:2]
data.TensorDataset(g(4, 2), c(4))[torch.tensor([0, 1]).cuda()]
data.TensorDataset(g(4, 2))[torch.tensor([0, 1])], data.Subset(data.TensorDataset(g(4, 2)), [0, 1])[1]
data.Subset(g(4, 2), torch.tensor([0, 1]).cuda())[0], data.ConcatDataset([c(2, 1), g(2, 1)])[3]
data.default_collate([g(2), g(2)]), data.default_collate([{"x": g(2), "y": 1}, {"x": g(2), "y": 2}]), data.default_collate([(c(1), 0.5), (c(1), 0.5)])
data.default_collate([g(2), c(2)])
data.default_collate([g(2), h(2)])
data.default_collate([g(2), g(3)])
data.default_collate([g(), g()]), data.default_convert([__import__("numpy").ones(2), g(2)])
data.default_collate([None, g(2)])
data.random_split(g(4, 2), [1, 3])[1][0], data.random_split(range(4), [0.5, 0.5], generator=torch.Generator())[0].dataset
list(data.WeightedRandomSampler(c(3), 2, generator=torch.Generator("cuda")))
list(data.BatchSampler(data.SequentialSampler(g(4)), 2, False))
torch.utils.data._utils.pin_memory.pin_memory([c(2), {"x": c(2)}, "s"])
torch.utils.data._utils.pin_memory.pin_memory(g(2))
with torch.device("cuda"):
    next(iter(data.DataLoader([1.0, 2.0], batch_size=2)))
with torch.device("cuda"):
    next(iter(data.DataLoader(c(4, 2), batch_size=2, shuffle=True, generator=torch.Generator("cuda"))))
# quantized tensors
torch.ops.aten._to_copy(g(2), device="cpu"), torch.ops.aten.zeros_like.default(h(2), device="cpu")
torch.ao.nn.quantized.dynamic.Linear(2, 2)(g(1, 2))
torch.quantize_per_tensor(g(2), 0.1, 0, torch.quint8).device
torch.quantize_per_tensor(g(2), c(), torch.tensor(0), torch.quint8).device
torch.quantize_per_tensor(g(2), 0.1, 0, torch.qint8).dequantize()
torch.quantize_per_tensor(c(2), 0.1, 0, torch.quint8).cuda().device, torch.quantize_per_tensor(c(2), 0.1, 0, torch.quint8).cuda().int_repr()
torch.quantize_per_tensor(g(2), 0.1, 0, torch.quint8).cpu().q_scale(), torch.quantize_per_tensor(g(2), 0.1, 0, torch.quint8).dtype
torch.quantize_per_channel(g(2, 2), c(2), torch.zeros(2), 0, torch.qint8).device
torch.quantize_per_channel(g(2, 2), g(2), torch.zeros(2).cuda(), 0, torch.qint8).dequantize()
torch.quantize_per_tensor(g(2), 0.1, 0, torch.quint8) + torch.quantize_per_tensor(g(2), 0.1, 0, torch.quint8)
torch.fake_quantize_per_tensor_affine(g(2), 0.1, 0, 0, 255), torch.fake_quantize_per_tensor_affine(g(2), g(), torch.zeros((), dtype=torch.int32).cuda(), 0, 255)
torch.fake_quantize_per_tensor_affine(g(2), c(), torch.zeros((), dtype=torch.int32), 0, 255)
torch.fake_quantize_per_channel_affine(g(2, 2), c(2), torch.zeros(2, dtype=torch.int32), 0, 0, 255)
torch.fake_quantize_per_channel_affine(g(2, 2), g(2), torch.zeros(2, dtype=torch.int32).cuda(), 0, 0, 255)
torch.ao.quantization.MinMaxObserver().cuda()(g(2)), torch.ao.quantization.MinMaxObserver().cuda().min_val
torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(2, 2)).cuda(), {nn.Linear})(g(1, 2))
g(2).int_repr()
torch.dequantize(g(2)), 1
g(2).to(torch.float8_e4m3fn), g(2).to(torch.float8_e5m2).to(torch.half), c(2).to("cuda", torch.float8_e4m3fn)
torch._int_mm(g(32, 16).to(torch.int8), c(16, 8).to(torch.int8))
torch._scaled_mm(g(16, 16).to(torch.float8_e4m3fn), c(16, 16).to(torch.float8_e4m3fn).t(), g(), g())
