import torch
import torch.nn as nn
from data import make_loader
from trainer import Trainer

if __name__ == "__main__":
    torch.manual_seed(2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader = make_loader(60, device, shuffle=True)
    val_loader = make_loader(30, device)
    net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 3))
    trainer = Trainer(net, device)
    for epoch in range(3):
        loss = trainer.run_epoch(train_loader, "train")
        val_loss = trainer.run_epoch(val_loader, "val")
        print(f"epoch {epoch} loss {loss:.4f} val {val_loss:.4f}", {k: round(m.compute(), 4) for k, m in trainer.metrics.items()})
