import torch
import torch.nn.functional as F
from ensemble import Ensemble, Member


def pick_devices(n):
    count = torch.cuda.device_count()
    return [torch.device(f"cuda:{i % count}") if count else torch.device("cpu") for i in range(n)]


def train_ensemble(ensemble, x, y, epochs=3):
    optimizers = [torch.optim.Adam(m.parameters(), lr=1e-2) for m in ensemble.members]
    for epoch in range(epochs):
        losses = [0.0] * len(optimizers)
        for xb, yb in zip(x.split(25), y.split(25)):
            xb, yb = xb.to(ensemble.devices[0]), yb.to(ensemble.devices[0])
            for i, (member, optimizer) in enumerate(zip(ensemble.members, optimizers)):
                loss = F.cross_entropy(member(xb), yb)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses[i] += loss.item()
        print(f"epoch {epoch}", [round(v / 4, 5) for v in losses])


def main():
    torch.manual_seed(31)
    x = torch.randn(150, 7)
    y = (x[:, 0] + x[:, 1] ** 2 > 0.7).long() + (x[:, 2] > 1).long()
    ensemble = Ensemble([Member(7, 3, h) for h in (12, 20)], pick_devices(2))
    train_ensemble(ensemble, x[:100], y[:100])
    for member in ensemble.members:
        member.calibrate(x[100:125], y[100:125])
    probs = ensemble.predict(x[125:])
    print("temperatures", [round(m.temperature.item(), 4) for m in ensemble.members])
    nll = F.nll_loss(probs.log().cpu(), y[125:]).item()
    print(f"correct {int((probs.argmax(1).cpu() == y[125:]).sum())}/25 nll {nll:.5f}")


if __name__ == "__main__":
    main()
