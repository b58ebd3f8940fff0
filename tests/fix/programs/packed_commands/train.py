import torch
import torch.nn.functional as F
from data import Commands, collate
from model import CommandNet
from torch.utils.data import DataLoader


def to(batch, device):
    return {key: value.to(device) for key, value in batch.items()}


def evaluate(model, loader, device):
    model.eval()
    wrong, seen = torch.zeros(10), torch.zeros(10)
    with torch.no_grad():
        for batch in loader:
            batch = to(batch, device)
            pred = model(batch["features"], batch["lengths"]).argmax(dim=1)
            wrong.index_add_(0, batch["lengths"], (pred != batch["labels"]).float())
            seen.index_add_(0, batch["lengths"], torch.ones_like(pred, dtype=torch.float))
    return (wrong / seen.clamp(min=1))[4:].tolist()


def main():
    torch.manual_seed(16)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader = DataLoader(Commands(80, 0), batch_size=16, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(Commands(30, 1), batch_size=16, collate_fn=collate)
    model = CommandNet().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(4):
        model.train()
        total = 0.0
        for batch in train_loader:
            batch = to(batch, device)
            loss = F.cross_entropy(model(batch["features"], batch["lengths"]), batch["labels"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train_loader):.4f}")
    print("error by length", [round(e, 3) for e in evaluate(model, test_loader, device)])


if __name__ == "__main__":
    main()
