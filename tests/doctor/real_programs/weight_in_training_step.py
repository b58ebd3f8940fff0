# culprit: self.w
# cause: unregistered_tensor_attribute | loss_weight_not_moved
import torch
from torch import nn


class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 3)
        self.w = torch.tensor([1.0, 2.0, 3.0])

    def training_step(self, batch):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y, weight=self.w)


class LitTrainer:
    def fit(self, module, loader):
        module.cuda()
        opt = torch.optim.Adam(module.parameters())
        for batch in loader:
            batch = [b.cuda() for b in batch]

            def closure():
                opt.zero_grad()
                loss = module.training_step(batch)
                loss.backward()
                return loss

            opt.step(closure)


def main():
    loader = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(2)]
    LitTrainer().fit(Module(), loader)
