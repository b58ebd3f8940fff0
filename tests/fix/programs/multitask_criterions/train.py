import torch
from data import People
from tasks import MultiTaskNet
from torch.utils.data import DataLoader


def to_device(batch, device):
    return {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in batch.items()}


@torch.no_grad()
def validate(model, loader, device):
    model.eval()
    confusion = torch.zeros(2, 2)
    for batch in loader:
        batch = to_device(batch, device)
        pred = model(batch["image"])["sex"].argmax(dim=1)
        confusion.index_put_((batch["targets"]["sex"], pred), torch.ones_like(pred, dtype=torch.float), accumulate=True)
    return confusion


def main():
    torch.manual_seed(21)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MultiTaskNet().to(device)
    params = [{"params": list(model.trunk.parameters()) + list(model.heads.parameters())}, {"params": list(model.log_vars), "lr": 0.05}]
    optimizer = torch.optim.SGD(params, lr=0.1)
    loader = DataLoader(People(150), batch_size=40, shuffle=True)
    val_loader = DataLoader(People(50), batch_size=20)
    for epoch in range(4):
        for batch in loader:
            batch = to_device(batch, device)
            loss, parts = model.loss(model(batch["image"]), batch["targets"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.train()
        print(f"epoch {epoch}", {name: round(part.item(), 4) for name, part in parts.items()}, [round(v.item(), 4) for v in model.log_vars])
    print("confusion", validate(model, val_loader, device).tolist())


if __name__ == "__main__":
    main()
