# culprit: slow | self.slow
# cause: optimizer_state_device | cached_before_move
import torch
from torch import nn


class Lookahead:
    """k steps forward, one step back."""

    def __init__(self, optimizer, k=3, alpha=0.5):
        self.optimizer, self.k, self.alpha = optimizer, k, alpha
        self.params = [p for group in optimizer.param_groups for p in group["params"]]
        self.slow = [p.detach().clone() for p in self.params]
        self.count = 0

    def zero_grad(self):
        self.optimizer.zero_grad()

    @torch.no_grad()
    def step(self):
        self.optimizer.step()
        self.count += 1
        if self.count % self.k:
            return
        for slow, fast in zip(self.slow, self.params):
            slow.add_(fast - slow, alpha=self.alpha)
            fast.copy_(slow)


class CharCNN(nn.Module):
    def __init__(self, chars=40, dim=16, classes=4):
        super().__init__()
        self.embed = nn.Embedding(chars, dim)
        self.convs = nn.ModuleList(nn.Conv1d(dim, dim, k, padding=k // 2) for k in (3, 5))
        self.head = nn.Linear(2 * dim, classes)

    def forward(self, ids):
        x = self.embed(ids).transpose(1, 2)
        return self.head(torch.cat([conv(x).relu().amax(-1) for conv in self.convs], 1))


def configure(model, lr=0.01):
    return Lookahead(torch.optim.RAdam(model.parameters(), lr=lr))


def main():
    device = torch.device("cuda")
    model = CharCNN()
    optimizer = configure(model)
    model.to(device)
    for _ in range(6):
        ids, labels = torch.randint(0, 40, (8, 20)).to(device), torch.randint(0, 4, (8,)).to(device)
        loss = nn.functional.cross_entropy(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
