import torch
import torch.nn as nn
from moe import MoE


class Regressor(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.moe1, self.moe2 = MoE(dim), MoE(dim)
        self.head = nn.Linear(dim, 1)

    def parameters_of_experts(self):
        for moe in (self.moe1, self.moe2):
            for expert in moe.experts:
                yield from expert.parameters()

    def forward(self, x):
        h, aux1 = self.moe1(x)
        h, aux2 = self.moe2(x + h)
        return self.head(h).squeeze(-1), aux1 + aux2


def main():
    torch.manual_seed(11)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Regressor().to(device)
    seen = {id(p) for p in model.parameters()}
    params = list(model.parameters()) + [p for p in model.parameters_of_experts() if id(p) not in seen]
    optimizer = torch.optim.SGD(params, lr=0.05)
    for step in range(1, 31):
        x = torch.randn(32, 8)
        y = torch.where(x[:, 0] > 0, x[:, 1], -x[:, 2]).to(device)
        pred, aux = model(x.to(device))
        loss = (pred - y).pow(2).mean() + 0.01 * aux
        optimizer.zero_grad()
        loss.backward()
        grad_norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in params if p.grad is not None))
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.5f} grad {grad_norm.item():.5f}")
    print("usage", model.moe1.usage.tolist(), model.moe2.usage.tolist())


if __name__ == "__main__":
    main()
