"""Nested tensors, of both layouts."""


def nt(device, **options):
    return torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], device=device, **options)


def jag(device, **options):
    """A jagged tensor, for which no kernel has to sum lengths up."""
    offsets = torch.tensor([0, 2, 6], device=device)
    return torch.nested.nested_tensor_from_jagged(torch.ones(6, 3, device=device, **options), offsets)


torch.nested.nested_tensor([g(2, 3), g(4, 3)])
torch.nested.nested_tensor([c(2, 3), c(4, 3)], device="cuda")
torch.nested.nested_tensor([g(2, 3), c(4, 3)])
torch.nested.nested_tensor([g(2, 3), h(4, 3)])
torch.nested.nested_tensor([g(2, 3), c(4, 3)], device="cuda:1")
torch.nested.nested_tensor([[1.0, 2.0], [3.0]], device="cuda")
torch.nested.nested_tensor([], device="cuda")
torch.nested.nested_tensor([g(2, 3), c(4, 3)], layout=torch.jagged)
torch.nested.nested_tensor([g(2, 3), g(4, 3)], layout=torch.jagged, device="cpu")
torch.nested.nested_tensor([g(2, 3), g(4)])
torch.nested.nested_tensor([g(2, 3), c(4)])
torch.nested.as_nested_tensor([g(2, 3), g(4, 3)])
torch.nested.as_nested_tensor([g(2, 3), c(4, 3)])
torch.nested.as_nested_tensor([c(2, 3), c(4, 3)], device="cuda")
torch.nested.as_nested_tensor([g(2, 3), c(4, 3)], layout=torch.jagged)
torch.nested.as_nested_tensor(g(2, 4, 3))
torch.nested.nested_tensor_from_jagged(g(6, 3), torch.tensor([0, 2, 6]).cuda())
torch.nested.nested_tensor_from_jagged(g(6, 3), torch.tensor([0, 2, 6]))
torch.nested.nested_tensor_from_jagged(c(6, 3), torch.tensor([0, 2, 6]).cuda())
torch.nested.to_padded_tensor(nt("cuda"), 0.0)
jag("cuda").to_padded_tensor(0.0).device
nt("cuda").unbind()
jag("cuda").unbind()
nt("cpu").cuda()
nt("cuda").cpu()
nt("cuda").to("cuda:1")
nt("cuda").half()
jag("cpu").cuda()
jag("cuda").cpu()
jag("cuda").to("cuda:1")
jag("cpu").to("cuda", torch.float16)
jag("cuda").values()
jag("cuda").offsets()
jag("cuda").offsets().device, jag("cpu").cuda().offsets().device
nt("cuda").is_nested, nt("cuda").is_cuda, jag("cuda").is_nested
nt("cuda").device, jag("cuda:1").device
nt("cuda").size(0)
nt("cuda").size(1)
nt("cuda").shape
nt("cuda").dim()
nt("cuda").numel()
nt("cuda").layout, jag("cuda").layout
nt("cuda") + nt("cuda")
nt("cuda") + nt("cpu")
nt("cuda") + nt("cuda:1")
nt("cuda") * 2
nt("cuda") * c()
nt("cuda") + g(2, 1, 3)
nt("cuda") + c(2, 1, 3)
nt("cuda") * c(3)
jag("cuda") * 2
jag("cuda") * c()
jag("cuda") + jag("cuda")
jag("cuda") + jag("cpu")
x = jag("cuda"); x + x
x = jag("cuda"); x + x.cpu()
x = jag("cpu"); x * x.cuda()
jag("cuda") * c(3)
jag("cuda") + g(3)
jag("cuda").sin()
jag("cuda").sum()
jag("cuda").sum(1)
jag("cuda").mean(dim=1)
nt("cuda").relu()
nt("cuda").sin()
nn.Linear(3, 5).cuda()(nt("cpu"))
nn.Linear(3, 5)(nt("cuda"))
nn.Linear(3, 5)(jag("cuda"))
nn.Linear(3, 5).cuda()(jag("cpu"))
nn.LayerNorm(3)(nt("cuda"))
nn.LayerNorm(3)(jag("cuda"))
nn.Dropout()(nt("cuda"))
nn.Softmax(-1)(nt("cuda"))
nt("cuda").matmul(nt("cpu"))
nt("cuda").matmul(c(3, 5))
jag("cuda") @ c(3, 5)
nt("cuda").transpose(1, 2)
jag("cuda").transpose(1, 2)
nt("cuda").clone(), nt("cuda").detach()
nt("cuda").contiguous()
torch.zeros_like(nt("cuda"))
torch.zeros_like(nt("cuda"), device="cpu")
torch.ones_like(jag("cuda"))
torch.empty_like(jag("cuda"), device="cpu")
nt("cuda").copy_(nt("cpu"))
nt("cpu").copy_(nt("cuda"))
nt("cuda").numpy()
nt("cuda").tolist()
nt("cuda").pin_memory()
nt("cuda", requires_grad=True).requires_grad
x = g(2, 3, requires_grad=True); torch.nested.as_nested_tensor([x, x]).to_padded_tensor(0.0).sum().backward(); x.grad
torch.cat([nt("cuda"), nt("cpu")])
nt("cuda")[0]
jag("cuda")[0]
torch.equal(nt("cuda"), nt("cpu"))
torch.nested.narrow(g(2, 4, 3), 1, 0, torch.tensor([1, 2]), layout=torch.jagged)
torch.nested.narrow(g(2, 4, 3), 1, 0, torch.tensor([1, 2]).cuda(), layout=torch.jagged)
with torch.device("cuda"):
    torch.nested.nested_tensor([[1.0, 2.0], [3.0]])
with torch.device("cuda"):
    torch.nested.as_nested_tensor([c(2, 3), c(4, 3)])
