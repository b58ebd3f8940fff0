import torch
import torch.nn as nn
import torch.nn.functional as F
from metrics import ConfusionMatrix, MetricLogger
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    def __init__(self, n, size=12):
        self.images = torch.randn(n, 3, size, size)
        self.masks = (self.images[:, 0] > 0).long() + (self.images[:, 1] > 0.8).long()
        self.border = torch.ones(size, size)
        self.border[0] = self.border[-1] = self.border[:, 0] = self.border[:, -1] = 0

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return {"image": self.images[i], "mask": self.masks[i], "valid": self.border}


def criterion(logits, batch):
    loss = F.cross_entropy(logits, batch["mask"], reduction="none")
    return (loss * batch["valid"]).sum() / batch["valid"].sum()


def train_one_epoch(model, optimizer, loader, device, epoch):
    model.train()
    logger = MetricLogger()
    for batch in logger.log_every(loader, 4, f"Epoch: [{epoch}]"):
        image, batch["mask"] = batch["image"].to(device), batch["mask"].to(device)
        loss = criterion(model(image), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logger.update(loss=loss.detach(), pixel=image.mean())


def evaluate(model, loader, device):
    model.eval()
    confmat = ConfusionMatrix(3)
    with torch.inference_mode():
        for batch in loader:
            output = model(batch["image"].to(device))
            confmat.update(batch["mask"].to(device).flatten(), output.argmax(1).flatten())
    return confmat


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    train_loader, test_loader = DataLoader(Shapes(32), batch_size=4), DataLoader(Shapes(10), batch_size=4)
    for epoch in range(2):
        train_one_epoch(model, optimizer, train_loader, device, epoch)
    acc, iou = evaluate(model, test_loader, device).compute()
    print(f"acc {acc.item():.4f} iou {[round(v, 4) for v in iou.tolist()]}")


if __name__ == "__main__":
    main()
