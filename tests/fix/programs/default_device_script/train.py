import numpy as np
import torch
from report import regression_report
from torch import nn

if torch.cuda.is_available():
    torch.set_default_device("cuda")


def load():
    rng = np.random.default_rng(33)
    x = rng.normal(size=(150, 4))
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2]
    return x.astype(np.float32), y.astype(np.float32)


def fit(model, x, y, epochs=6, batch_size=25):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    g = torch.Generator()
    g.manual_seed(7)
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(x), generator=g).split(batch_size):
            loss = (model(x[idx]).squeeze(1) - y[idx]).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        print(f"epoch {epoch} loss {total / len(x):.5f}")


def main():
    torch.manual_seed(33)
    x, y = load()
    xt, yt = torch.from_numpy(x[:110]), torch.from_numpy(y[:110])
    model = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
    fit(model, xt, yt)
    model.eval()
    with torch.no_grad():
        pred = model(torch.tensor(x[110:])).squeeze(1).numpy()
    print({k: round(v, 4) for k, v in regression_report(y[110:], pred).items()})


if __name__ == "__main__":
    try:
        main()
    finally:
        torch.set_default_device(None)
