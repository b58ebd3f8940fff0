"""Nested tensors in programs: what batches sequences of several lengths, in both layouts, and the layers over them."""


def nest(device, *lengths, width=4, **options):
    return torch.nested.nested_tensor([torch.ones(n, width) for n in lengths or (2, 3)], device=device, **options)


def jagged(device, lengths=(2, 3), width=4, **options):
    """A jagged tensor, for which no kernel has to sum lengths up."""
    offsets = torch.tensor([0, lengths[0], sum(lengths)], device=device)
    values = torch.ones(sum(lengths), width, device=device, **options)
    return torch.nested.nested_tensor_from_jagged(values, offsets, min_seqlen=min(lengths), max_seqlen=max(lengths))


torch.nested.nested_tensor([g(2), g(3)], dtype=torch.half)
torch.nested.nested_tensor([g(2), h(3)], device="cuda:1")
torch.nested.nested_tensor([g(2), g(3)], device="cuda:7")
torch.nested.nested_tensor(g(2, 3))
torch.nested.nested_tensor([g(2, 3), g(3, 4)], layout=torch.jagged)
torch.nested.nested_tensor([c(2, 4), g(3, 4)], layout=torch.jagged, device="cuda")
torch.nested.nested_tensor([g(2), g(3, dtype=torch.double)])
torch.nested.nested_tensor([g(2), c(3, dtype=torch.double)])
torch.nested.nested_tensor([g(2), g(3)], pin_memory=True)
torch.nested.nested_tensor([g(), g()])
torch.nested.as_nested_tensor([g(2), g(3)], dtype=torch.half)
torch.nested.as_nested_tensor([h(2), g(3)], device="cuda")
torch.nested.as_nested_tensor(nest("cuda"))
torch.nested.as_nested_tensor(nest("cuda"), device="cpu")
torch.nested.as_nested_tensor(g(2, 4, 3), device="cpu")
torch.nested.as_nested_tensor(g(2, 4, 3), layout=torch.jagged)
torch.nested.as_nested_tensor([g(2, 4), h(3, 4)], layout=torch.jagged)
torch.nested.nested_tensor_from_jagged(g(5, 4), offsets=torch.tensor([0, 2, 5]), lengths=torch.tensor([2, 2]).cuda())
torch.nested.nested_tensor_from_jagged(g(5, 4), torch.tensor([0, 2, 5]).to("cuda:1"))
torch.nested.nested_tensor_from_jagged(g(5, 4))
torch.nested.nested_tensor_from_jagged(nest("cuda"), torch.tensor([0, 2, 5]).cuda())
torch.nested.nested_tensor_from_jagged(g(5, 4), torch.tensor([0, 2, 5]).cuda(), lengths=torch.tensor([2, 2]))
torch.nested.nested_tensor_from_jagged(g(5, 4), torch.tensor([0, 2, 5]).cuda(), jagged_dim=2)
torch.nested.masked_select(g(2, 3), c(2, 3).bool())
torch.nested.to_padded_tensor(jagged("cuda"), 0.0, output_size=(2, 3, 4))
torch.nested.to_padded_tensor(nest("cuda"), 0.0, (2, 5, 4))
torch.nested.to_padded_tensor(nest("cuda"), 0.0, (2, 2, 4))
torch.nested.to_padded_tensor(g(2, 3), 0.0)
nest("cuda").to_padded_tensor(0.0).cpu() + c(2, 3, 4)
nest("cuda").to_padded_tensor(0.0) + c(2, 3, 4)
nest("cuda").is_contiguous(), nest("cuda").requires_grad, nest("cuda").is_leaf
nest("cuda").stride()
nest("cuda").get_device(), nest("cpu").get_device(), jagged("cuda:1").get_device()
nest("cuda").element_size(), nest("cuda").dtype, nest("cuda").type()
nest("cuda")._nested_tensor_size()
nest("cuda").size(-1)
nest("cuda").size()
len(nest("cuda"))
nest("cuda").item()
nest("cuda").view(2, -1, 2, 2)
nest("cuda").reshape(2, -1, 2, 2)
nest("cuda").select(0, 1)
nest("cuda")[1].device
nest("cuda")[:, 0]
nest("cuda")[c(2).bool()]
nest("cuda").chunk(2, -1)
nest("cuda").split(2, -1)
nest("cuda").unsqueeze(-1)
nest("cuda").squeeze(0)
nest("cuda").sum(-1)
nest("cuda").sum()
nest("cuda").mean(-1)
nest("cuda").softmax(-1)
nest("cuda").exp(), nest("cuda").abs()
nest("cuda").tanh(), nest("cuda").sigmoid()
F.gelu(nest("cuda")), F.silu(h(2))
F.dropout(nest("cuda:1"), 0.5)
F.layer_norm(nest("cuda"), (4,), g(4), g(4))
F.layer_norm(nest("cuda"), (4,), c(4), c(4))
F.layer_norm(nest("cpu"), (4,), g(4), g(4))
F.linear(nest("cuda"), g(5, 4))
F.linear(nest("cuda"), c(5, 4))
F.linear(nest("cuda"), g(5, 4), c(5))
F.linear(nest("cpu"), g(5, 4), g(5))
F.linear(nest("cuda"), h(5, 4))
F.linear(nest("cuda"), g(5, 3))
nest("cuda").bmm(nest("cuda").transpose(1, 2))
torch.bmm(nest("cuda"), nest("cpu").transpose(1, 2))
torch.bmm(nest("cuda"), g(2, 4, 3))
torch.matmul(nest("cuda"), g(4, 5))
torch.matmul(nest("cuda"), nest("cuda:1").transpose(1, 2))
nest("cuda") - nest("cuda")
nest("cuda") - nest("cpu")
nest("cuda") / 2
nest("cuda") / nest("cpu")
nest("cuda") + 1
2 * nest("cuda")
1 - nest("cuda")
nest("cuda") ** 2
nest("cuda") * nest("cpu")
nest("cpu") * nest("cuda")
nest("cuda") * nest("cuda", 2, 5)
nest("cuda") + nest("cuda", 2, 3, 4)
nest("cuda") + nest("cuda", width=5)
nest("cpu") + nest("cuda", width=5)
nest("cuda") + c()
nest("cuda") * g()
nest("cuda") + h()
nest("cuda") * g(4)
nest("cuda") * h(2, 1, 4)
c() * nest("cuda")
c(4) * nest("cuda")
g(2, 1, 4) + nest("cuda")
nest("cuda").add_(nest("cpu"))
nest("cuda").mul_(2)
nest("cuda").mul_(nest("cpu"))
nest("cuda").sub_(nest("cpu"))
nest("cuda").fill_(c())
nest("cuda").zero_()
nest("cuda").relu_()
nest("cuda").masked_fill(nest("cpu").bool(), 0.0)
nest("cuda").masked_fill(nest("cuda").bool(), 0.0)
nest("cuda") == nest("cuda")
nest("cuda") == nest("cpu")
nest("cuda") > 0
nest("cuda").ge(0.0), nest("cuda").eq(1.0)
torch.where(nest("cuda").bool(), nest("cuda"), 0.0)
torch.stack([nest("cuda"), nest("cuda")])
torch.cat([nest("cuda"), nest("cuda")])
torch.cat([nest("cuda"), g(2, 3, 4)])
torch.full_like(nest("cuda"), 2.0)
torch.randn_like(nest("cuda"))
torch.empty_like(nest("cuda"), device="cuda:1")
torch.zeros_like(nest("cpu"), device="cuda")
nest("cuda").new_zeros(3)
nest("cuda").to(torch.half).dtype
nest("cuda").to("cpu", torch.double)
nest("cuda").float().device
nest("cuda").cuda(1)
nest("cuda").type(torch.cuda.HalfTensor)
nest("cuda").clone().device, nest("cuda").detach().is_nested
nest("cuda").cpu().unbind()[0]
torch.unbind(nest("cuda:1"))
torch.unbind(nest("cuda"), 1)
nest("cuda").contiguous().is_contiguous()
nest("cuda").is_pinned()
nest("cuda").storage()
nest("cuda").untyped_storage().device
nest("cuda").share_memory_()
nest("cuda").sparse_mask(nest("cuda"))
nest("cuda").to_sparse()
nest("cuda").argmax()
nest("cuda").flatten(1)
nest("cuda").numel(), nest("cuda").nelement()
nest("cuda").expand(2, 3, 4)
copied = __import__("copy").deepcopy(nest("cuda")); copied.device, copied.is_nested
nn.Linear(4, 5).cuda()(nest("cuda"))
nn.Linear(4, 5, bias=False)(nest("cuda"))
nn.Linear(4, 5).to("cuda:1")(nest("cuda"))
nn.Linear(3, 5).cuda()(nest("cuda"))
nn.LayerNorm(4).cuda()(nest("cuda"))
nn.LayerNorm(4).cuda()(nest("cpu"))
nn.ReLU()(nest("cuda")), nn.GELU()(nest("cuda:1"))
nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()(nest("cpu"))
nn.Embedding(4, 2).cuda()(nest("cuda").long())
nn.Embedding(4, 2)(nest("cuda").long())
nn.BatchNorm1d(4).cuda()(nest("cuda"))
nn.Conv1d(4, 2, 1).cuda()(nest("cuda"))
nn.MSELoss()(nest("cuda"), nest("cpu"))
nn.MultiheadAttention(4, 2, batch_first=True).cuda().eval()(nest("cuda"), nest("cuda"), nest("cuda"), need_weights=False)[0]
nn.MultiheadAttention(4, 2, batch_first=True).eval()(nest("cuda"), nest("cuda"), nest("cuda"))
F.scaled_dot_product_attention(nest("cuda"), nest("cpu"), nest("cuda"))
with torch.no_grad():
    nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).cuda().eval()(nest("cpu"))
with torch.no_grad():
    nn.Linear(4, 5).cuda()(nest("cuda"))
with torch.inference_mode():
    nest("cuda") + nest("cpu")
with torch.device("cuda:1"):
    torch.nested.nested_tensor([[1.0], [2.0, 3.0]])
with torch.autocast("cuda"):
    nn.Linear(4, 5).cuda()(nest("cuda"))
# jagged
jagged("cuda").shape[0], jagged("cuda").shape[2], jagged("cuda").dim()
jagged("cuda").lengths()
jagged("cuda").is_cuda, jagged("cuda").is_cpu, jagged("cuda").dtype, jagged("cuda").is_leaf
jagged("cuda")._max_seqlen, jagged("cuda")._min_seqlen
jagged("cuda").numel()
jagged("cuda").cuda(1).values()
jagged("cuda").half().offsets()
jagged("cuda").to("cuda:1").offsets().device
jagged("cuda").double().device
jagged("cuda").clone(), jagged("cuda").detach()
jagged("cuda").contiguous().device
jagged("cuda").relu(), jagged("cuda:1").tanh()
jagged("cuda") + 1
jagged("cuda") / c()
jagged("cuda") * g()
jagged("cuda") * h()
jagged("cuda") * g(4)
jagged("cuda") + c(4)
jagged("cuda") + c(1, 1, 4)
jagged("cuda") + g(1, 1, 4)
jagged("cuda") + h(1, 1, 4)
x = jagged("cuda"); y = x * 2; x + y
x = jagged("cuda"); x - x.to("cuda:1")
x = jagged("cuda"); (x + c()).offsets() is x.offsets()
x = jagged("cuda"); torch.where(x > 0, x, x)
x = jagged("cuda"); torch.add(x, x.cpu())
x = jagged("cuda"); torch.cat([x, x], -1)
x = jagged("cuda"); torch.cat([x, x.cpu()], -1)
x = jagged("cuda"); torch.stack([x, x])
jagged("cuda").sum(-1)
jagged("cuda").mean(-1), jagged("cuda").amax(-1)
jagged("cuda").softmax(-1)
jagged("cuda").transpose(1, 2).shape[1]
jagged("cuda").unsqueeze(-1).dim()
jagged("cuda").flatten(2).dim()
jagged("cuda").view(2, -1, 2, 2).dim()
jagged("cuda").split(2, -1)
jagged("cuda").chunk(2, -1)
jagged("cuda")[..., 0]
jagged("cuda").to_padded_tensor(0.0)
jagged("cuda") @ g(4, 5)
jagged("cuda") @ h(4, 5)
jagged("cpu") @ g(4, 5)
F.linear(jagged("cuda"), g(5, 4), g(5))
F.linear(jagged("cuda"), g(5, 4), c(5))
F.linear(jagged("cpu"), g(5, 4))
F.layer_norm(jagged("cuda"), (4,), g(4))
F.layer_norm(jagged("cuda"), (4,), c(4))
F.dropout(jagged("cuda"))
F.relu(jagged("cuda")), F.gelu(jagged("cuda"))
F.embedding(torch.nested.nested_tensor_from_jagged(g(5).long(), torch.tensor([0, 2, 5]).cuda()), c(4, 2))
F.embedding(torch.nested.nested_tensor_from_jagged(c(5).long(), torch.tensor([0, 2, 5])), g(4, 2))
nn.Embedding(4, 2).cuda()(torch.nested.nested_tensor_from_jagged(g(5).long(), torch.tensor([0, 2, 5]).cuda()))
nn.Linear(4, 5).cuda()(jagged("cuda"))
nn.Linear(4, 5).cuda()(jagged("cuda:1"))
nn.Linear(4, 5).cuda().half()(jagged("cuda"))
nn.Linear(5, 5).cuda()(jagged("cuda"))
nn.LayerNorm(4).cuda()(jagged("cpu"))
nn.RMSNorm(4).cuda()(jagged("cuda"))
nn.RMSNorm(4)(jagged("cuda"))
nn.Sequential(nn.Linear(4, 4), nn.ReLU()).cuda()(jagged("cuda")).values()
torch.zeros_like(jagged("cuda")).values(), torch.empty_like(jagged("cuda:1")).device
torch.zeros_like(jagged("cuda"), device="cpu").offsets().device
torch.rand_like(jagged("cuda"))
torch.full_like(jagged("cuda"), 2.0).values().device
torch.ones_like(jagged("cuda"), dtype=torch.half).dtype
jagged("cuda").mul_(2)
jagged("cuda").numpy()
jagged("cuda").tolist()
jagged("cuda").requires_grad_().is_leaf
x = jagged("cuda", requires_grad=True); x.requires_grad
v = g(5, 4, requires_grad=True); torch.nested.nested_tensor_from_jagged(v, torch.tensor([0, 2, 5]).cuda()).sin().values().sum().backward(); v.grad
v = c(5, 4, requires_grad=True); torch.nested.nested_tensor_from_jagged(v.cuda(), torch.tensor([0, 2, 5]).cuda()).values().sum().backward(); v.grad
m = nn.Linear(4, 5).cuda(); m(jagged("cuda")).values().sum().backward(); m.weight.grad
torch.nested.narrow(g(2, 4, 3), 1, torch.tensor([0, 1]), torch.tensor([1, 2]), layout=torch.jagged)
torch.nested.narrow(g(2, 4, 3), 1, torch.tensor([0, 1]).cuda(), torch.tensor([1, 2]).cuda(), layout=torch.jagged)
torch.nested.narrow(g(2, 4, 3), 1, 0, 2, layout=torch.jagged)
torch.nested.narrow(g(2, 4, 3), 1, 0, 2)
torch.equal(jagged("cuda"), jagged("cpu"))
torch.allclose(jagged("cuda"), jagged("cuda"))
with torch.no_grad():
    nn.Linear(4, 5).cuda()(jagged("cpu"))
with torch.inference_mode():
    (jagged("cuda") * 2).values().is_inference()
with torch.device("cuda"):
    torch.nested.nested_tensor_from_jagged(torch.ones(5, 4), torch.tensor([0, 2, 5])).device
with torch.autocast("cuda"):
    nn.Linear(4, 5).cuda()(jagged("cuda"))
with torch.autocast("cuda"):
    jagged("cuda") @ g(4, 5)
m = nn.Linear(4, 5).cuda(); m(nest("cuda")).requires_grad
m = nn.Linear(4, 5).cuda(); m(nest("cuda")).is_leaf
m = nn.Linear(4, 5).cuda(); m(nest("cuda")).detach().requires_grad
m = nn.Linear(4, 5).cuda(); m(nest("cuda")).to_padded_tensor(0.0).sum().backward(); m.weight.grad
m = nn.Linear(4, 5).cuda(); m(nest("cuda")).cpu()
m = nn.Linear(4, 5).cuda(); m(nest("cuda"))[0]
m = nn.Linear(4, 5).cuda(); m(nest("cuda")).unbind()[1]
nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Dropout(), nn.Linear(8, 4), nn.LayerNorm(4)).cuda()(nest("cuda"))
nn.Sequential(nn.Linear(4, 8).cuda(), nn.GELU(), nn.Linear(8, 4))(nest("cuda"))
nest("cuda", requires_grad=True).relu().requires_grad
nest("cuda", requires_grad=True) + nest("cpu")
nest("cuda").requires_grad_().requires_grad
x = nest("cuda", requires_grad=True); x.is_leaf, x.grad, x.grad_fn
x = g(2, 4, requires_grad=True); torch.nested.as_nested_tensor([x, x]).requires_grad
x = g(2, 4, requires_grad=True); torch.nested.nested_tensor([x, x]).requires_grad
torch.nested.as_nested_tensor([g(2, 4, requires_grad=True), c(2, 4)])
nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).cuda()(nest("cuda"))
nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).cuda().eval()(nest("cuda"))
F.mse_loss(nest("cuda"), nest("cuda"))
F.cross_entropy(nest("cuda"), torch.tensor([0, 1]))
F.softmax(nest("cuda", requires_grad=True), -1)
F.normalize(jagged("cuda"), dim=-1)
F.scaled_dot_product_attention(jagged("cuda"), jagged("cuda"), jagged("cuda"))
F.softmax(jagged("cuda"), -1).device
F.mse_loss(jagged("cuda"), jagged("cuda"))
F.embedding(jagged("cuda").long(), g(4, 2))
jagged("cuda").sum((1, 2))
jagged("cuda").to_padded_tensor(0.0, (2, 3, 4)).device
torch.nested.nested_tensor_from_jagged(jagged("cuda"), torch.tensor([0, 2, 5]).cuda())
