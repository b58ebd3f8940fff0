# culprit: self.lora_A | self.lora_A.t() | self.lora_B | self.lora_B.t()
# cause: registered_after_move | model_not_moved
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r=4, alpha=8):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(r, base.in_features) * 0.01)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.t() @ self.lora_B.t()) * self.scaling


def inject_lora(model, targets=("q_proj", "v_proj"), r=4):
    for module in list(model.modules()):
        for name, child in module.named_children():
            if name in targets and isinstance(child, nn.Linear):
                setattr(module, name, LoRALinear(child, r))
    return model


class Attention(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(dim, dim) for _ in range(3))

    def forward(self, h):
        q, k, v = self.q_proj(h), self.k_proj(h), self.v_proj(h)
        return nn.functional.scaled_dot_product_attention(q, k, v)


def main():
    model = nn.Sequential(nn.Embedding(50, 16), Attention(), nn.Linear(16, 50)).to("cuda")
    model = inject_lora(model)
    ids = torch.randint(0, 50, (2, 9), device="cuda")
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    loss.backward()
