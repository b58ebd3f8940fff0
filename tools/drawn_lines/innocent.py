"""What stands around the culprit: expressions whose tensors are all where they may be.

Among them are CPU tensors that PyTorch accepts beside those on a GPU: "dot" has no dimensions, "order" is an index.
"""

EXPRESSIONS = {
    "mat": """
F.relu({mat})
torch.tanh({mat})
torch.sigmoid({mat})
F.softmax({mat}, dim=-1)
F.dropout({mat}, p=0.1, training={flag})
F.normalize({mat}, dim=-1)
{mat}.t()
{mat}.T
{mat}.view(4, 4)
{mat}.view(-1, {mat}.size(-1))
{mat}.reshape(-1, 4)
{mat}.transpose(0, 1)
{mat}.contiguous()
{mat}.detach()
{mat}.float()
{mat}.clone()
{mat}.unsqueeze(0).squeeze(0)
{mat}.to(device)
{mat}.to("cuda")
{mat}.to(device, non_blocking=True)
{mat}.to(device=device)
{mat}.cuda()
{mat}.cuda(0)
torch.ones(4, 4).to(device)
torch.rand(4, 4).cuda()
torch.eye(4, device="cuda")
torch.ones(4, 4).to({mat})
torch.rand(4, 4).type_as({mat})
torch.full_like({mat}, {num})
torch.empty_like({mat}).uniform_()
{mat}.new_full((4, 4), {num})
{mat} * torch.tensor(2.0)
torch.tensor(0.5) * {mat}
{mat} + torch.tensor({num})
{mat} * torch.ones(4).sum()
{mat} - torch.rand(())
torch.where({mask}, {mat}, torch.tensor(0.0))
{mat}[torch.arange(4)]
{mat}[:, torch.randperm(4)]
{mat}[torch.ones(4, dtype=torch.bool)]
{mat}[[0, 1, 2, 3]]
{mat}[0:4]
{mat}.to({mat}.device)
{mat}.type_as({mat})
-{mat}
{mat} * {num}
{mat} / {num}
{num} - {mat}
{mat} ** 2
{mat} * {dot}
{mat} / {dot}
{mat} + {mat}
{mat} - {mat}
{mat} @ {mat}
{mat} @ {mat}.T
{mat} * {vec}
{mat} + {vec}[:, None]
torch.matmul({mat}, {mat})
torch.zeros_like({mat})
torch.randn_like({mat})
torch.randn(4, 4, device=device)
torch.ones({mat}.shape, device={mat}.device)
torch.zeros({mat}.size(0), 4, device=device)
{mat}.new_zeros(4, 4)
{mat}[{order}]
{mat}[{ids}]
{mat}[:, {ids}]
{mat}[:, :4]
torch.where({mask}, {mat}, {num})
{mat}.masked_fill({mask}, {num})
{mat}.clamp(min={num})
torch.stack([{mat}, {mat}]).mean(0)
torch.cat([{mat}, {mat}], dim=0)[:4]
F.linear({mat}, {mat})
{linear}({mat})
{norm}({mat})
{embedding}({ids})
{act}({mat})
{drop}({mat})
{function}({mat})
{mat} if {flag} else {mat}
F.one_hot({ids}, num_classes=4).float()
{mask}.float()
""",
    "vec": """
{mat}[0]
{mat}[-1]
{mat}.mean(dim=0)
{mat}.sum(-1)
{mat}.max(dim=1).values
{mat}.norm(dim=1)
{vec}.exp()
torch.tensor([0.1, 0.2, 0.3, 0.4]).to({mat}.device)
torch.as_tensor([0.1, 0.2, 0.3, 0.4], device=device)
torch.linspace(0, 1, 4).cuda()
{vec} * {num}
{vec} / {vec}.sum()
{vec}.sqrt()
{vec}.view(-1)
torch.ones(4, device=device)
torch.full((4,), {num}, device=device)
{vec}[{order}]
{vec}[{ids}]
{vec}.to(device)
torch.zeros_like({vec})
""",
    "ids": """
{mat}.argmax(dim=-1)
{mat}.argmax(1)
{ids}.view(-1)
{ids}.long()
{ids}.to(device)
{ids}.clamp(0, 3)
{ids}[{order}]
torch.arange(4, device=device)
torch.arange(4).to(device)
torch.tensor([0, 1, 2, 3], device="cuda:0")
torch.arange(len({mat}), device={mat}.device)
torch.zeros(4, dtype=torch.long, device=device)
torch.zeros_like({ids})
""",
    "mask": """
{mat} > {num}
{mat} != 0
{mat} < {mat}
{mat}.isnan()
~{mask}
{mask} & {mask}
{mask}.bool()
{mask}.to(device)
torch.ones(4, 4, dtype=torch.bool, device=device)
torch.isfinite({mat})
""",
    "img": """
F.relu({img})
{img} / 255.0
{img} * 2 - 1
{img}.float()
{img}.to(device)
{conv}({img})
F.avg_pool2d({img}, 3, stride=1, padding=1)
torch.flip({img}, dims=[-1])
""",
    "row": """
{mat}[:1]
{mat}[0].unsqueeze(0)
{vec}[None]
{vec}.unsqueeze(0)
{row}.tanh()
torch.zeros(1, 4, device=device)
""",
    "num": """
2
0.5
1e-6
-1.0
len({mat})
{mat}.size(0)
{mat}.shape[-1]
{mat}.shape[-1] ** 0.5
math.sqrt(4)
math.pi
{vec}.mean().item()
max(1, 4)
float({mat}.size(1))
int(round(2.5))
torch.ones(4).sum().item()
float(torch.tensor(2.0))
len(torch.arange(4))
torch.tensor([1.0, 2.0]).tolist()[0]
torch.finfo(torch.float32).eps
sum([0.1, 0.2])
{ids}.numel()
{setting}
""",
}
TEMPLATES = {kind: text.strip().splitlines() for kind, text in EXPRESSIONS.items()}

# What an expression is put into, without changing its kind's shape; "any" is whatever remains.
UNARY_OF_ANY = """
{any}.mean()
{any}.sum()
{any}.float().mean()
{any}.detach()
{any}.abs().sum()
torch.sum({any})
torch.mean({any}.float())
{any} * {num}
{num} * {any}
{any} + {num}
-{any}
{any}.sum().item()
float({any}.sum())
({any}).max()
{any}.cpu()
{any}.flatten()
{any}.tolist()
{any}.shape
""".strip().splitlines()
