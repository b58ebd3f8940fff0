"""The forms of a culprit in a line, and what may stand around it before it meets the others.

`{c}` is the culprit itself. What is around it is still the same tensor for a reader: it is on the culprit's device.
"""

FORMS = ("attribute", "factory", "name", "name", "item", "call", "loop variable")

# `{d}` is an argument for the second GPU, or nothing. A factory without it can only be on the CPU.
FACTORIES = {
    "mat": """
torch.ones(4, 4{d})
torch.rand(4, 4{d})
torch.randn({mat}.shape{d})
torch.rand(*{mat}.shape{d})
torch.zeros({mat}.size(0), 4{d})
torch.randn(size=(4, 4){d})
torch.zeros(4, 4, dtype={mat}.dtype{d})
torch.full((4, 4), 0.5{d})
torch.eye(4{d})
torch.normal(0.0, 1.0, (4, 4){d})
""",
    "vec": """
torch.ones(4{d})
torch.rand(4{d})
torch.arange(4.0{d})
torch.linspace(0, 1, 4{d})
torch.linspace(0.1, 1.0, steps=len({mat}){d})
torch.tensor([0.1, 0.2, 0.3, 0.4]{d})
torch.as_tensor([0.1, 0.2, 0.3, 0.4]{d})
torch.ones({mat}.shape[-1]{d})
torch.hann_window(4{d})
torch.FloatTensor([0.1, 0.2, 0.3, 0.4])
torch.Tensor([1, 2, 3, 4])
""",
    "ids": """
torch.arange(4{d})
torch.arange({mat}.size(1){d})
torch.arange(len({mat}){d})
torch.randint(0, 4, (4,){d})
torch.randint(4, ({mat}.shape[0],){d})
torch.randperm(4{d})
torch.zeros(4, dtype=torch.long{d})
torch.tensor([0, 2, 1, 3]{d})
torch.LongTensor([0, 1, 2, 3])
""",
    "mask": """
torch.ones(4, 4, dtype=torch.bool{d})
torch.zeros({mat}.shape, dtype=torch.bool{d})
torch.randint(0, 2, (4, 4), dtype=torch.bool{d})
""",
    "img": """
torch.rand(2, 4, 4, 4{d})
torch.randn({img}.shape{d})
""",
    "row": """
torch.zeros(1, 4{d})
torch.zeros(1, {mat}.size(-1){d})
""",
}
AROUND = {
    ("mat", "mat"): """
{c}.t()
{c}.T
{c}.view(4, 4)
{c}.reshape(4, -1)
{c}.float()
{c}.detach()
{c}.clone()
{c}.contiguous()
{c}[:4]
{c}[:, :4]
{c}[..., :4]
{c}.expand(4, 4)
{c}.exp()
{c}.clamp(min=0)
torch.exp({c})
torch.abs({c})
torch.tril({c})
F.softmax({c}, dim=-1)
F.relu({c})
torch.zeros_like({c})
-{c}
{c} * {num}
{num} * {c}
1.0 - {c}
{c} / {c}.sum()
({c} - {c}.mean())
{c} if {flag} else {num}
{function}({c})
{act}({c})
""",
    ("vec", "mat"): """
{c}.expand(4, 4)
{c}.unsqueeze(1).expand(4, 4)
{c}[None, :].repeat(4, 1)
torch.diag({c})
""",
    ("ids", "mat"): "F.one_hot({c}, 4).float()\nF.one_hot({c}, num_classes=4).float()",
    ("mask", "mat"): "{c}.float()\n{c}.to(torch.float32)",
    ("vec", "vec"): """
{c}.exp()
{c}.log()
{c}.view(-1)
{c}.flatten()
{c}[:4]
{c} ** 0.5
{c} * {num}
{c} / {c}.sum()
torch.sqrt({c})
{c}.float()
1.0 / {c}
""",
    ("ids", "ids"): """
{c}.view(-1)
{c}.long()
{c}.squeeze()
{c} % 4
{c}.clamp(max=3)
{c}[:4]
{c}.reshape(-1)
""",
    ("mask", "mask"): "~{c}\n{c}.bool()\n{c}.view(4, 4)\n{c}[:4, :4]",
    ("mat", "mask"): "{c} > 0.5\n{c}.bool()\n{c} == 0\ntorch.isnan({c})",
    ("img", "img"): "{c}.float()\n{c} / 255.0\n{c}.contiguous()\n{c}.view(2, 4, 4, 4)",
    ("row", "row"): "{c}.contiguous()\n{c}.detach()\n{c}.view(1, 4)",
}
