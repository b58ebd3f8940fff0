# culprit: self.prototypes | self.prototypes.t()
# cause: unregistered_tensor_attribute
import torch
import torch.nn.functional as F
from torch import nn


class LitPrototypeNet(nn.Module):
    def __init__(self, n_classes=5, dim=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, dim))
        self.prototypes = F.normalize(torch.randn(n_classes, dim), dim=1)

    def training_step(self, batch, batch_idx):
        z, y = F.normalize(self.encoder(batch[0]), dim=1), batch[1]
        return F.cross_entropy(z @ self.prototypes.t() / 0.1, y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


class Trainer:
    def __init__(self, accelerator="cuda"):
        self.device = torch.device(accelerator)

    def fit(self, module, loader):
        module.to(self.device)
        optimizer = module.configure_optimizers()
        for i, batch in enumerate(loader):
            batch = tuple(t.to(self.device) for t in batch)

            def closure():
                optimizer.zero_grad()
                loss = module.training_step(batch, i)
                loss.backward()
                return loss

            optimizer.step(closure)


def main():
    Trainer().fit(LitPrototypeNet(), [(torch.randn(4, 12), torch.randint(0, 5, (4,)))])
