import torch
import torch.nn as nn
from optim import Adan, Lookahead


class Standardizer:
    def fit(self, t):
        self.mean, self.std = t.mean(0), t.std(0)
        return self

    def transform(self, t):
        return (t - self.mean) / self.std

    def inverse(self, t):
        return t * self.std + self.mean


def main():
    torch.manual_seed(8)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(128, 5)
    y = 3 + 2 * (x[:, :2] * x[:, 2:4]).sum(1, keepdim=True)
    scaler = Standardizer().fit(y)
    target = scaler.transform(y).to(device)
    inputs = x.to(device)
    model = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 1)).to(device)
    optimizer = Lookahead(Adan(model.parameters(), lr=2e-2))
    for epoch in range(6):
        for idx in torch.randperm(128).split(32):
            loss = (model(inputs[idx]) - target[idx]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    model.eval()
    with torch.no_grad():
        pred = scaler.inverse(model(inputs))
    mae = (pred.cpu() - y).abs().mean().item()
    slow = sum(q.norm().item() for group in optimizer.slow for q in group)
    print(f"mae {mae:.4f} slow norm {slow:.4f}")


if __name__ == "__main__":
    main()
