import torch
import torch.nn.functional as F


class Accuracy:
    def __init__(self):
        self.correct, self.total = torch.zeros(1), torch.zeros(1)

    def to(self, device):
        self.correct, self.total = self.correct.to(device), self.total.to(device)
        return self

    def update(self, preds, target):
        self.correct += torch.sum(preds == target)
        self.total += target.numel()

    def compute(self):
        return (self.correct / self.total).item()


class Trainer:
    def __init__(self, model, device):
        self.model, self.device = model.to(device), device
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        self.metrics = {"train": Accuracy(), "val": Accuracy()}

    def run_epoch(self, loader, stage):
        self.model.train(stage == "train")
        total = 0.0
        for batch in loader:
            batch = batch.to(self.device)
            with torch.set_grad_enabled(stage == "train"):
                logits = self.model(batch.x).max(dim=1).values
                loss = (F.cross_entropy(logits, batch.y, reduction="none") * batch.weight).mean()
            if stage == "train":
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self.metrics[stage].update(logits.argmax(dim=1), batch.y)
            total += loss.item()
        return total / len(loader)
