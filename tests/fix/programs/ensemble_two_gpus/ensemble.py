import torch
import torch.nn as nn
import torch.nn.functional as F


class Member(nn.Module):
    def __init__(self, in_dim, classes, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(in_dim, hidden), nn.ReLU(), nn.Linear(hidden, classes))
        self.temperature = None

    @property
    def device(self):
        return self.net[0].weight.device

    def forward(self, x):
        logits = self.net(x)
        return logits if self.temperature is None else logits / self.temperature

    def calibrate(self, x, y, steps=10):
        """Fit the temperature on held-out data, after training."""
        with torch.no_grad():
            logits = self.net(x.to(self.device))
        log_t = torch.zeros(1)
        if torch.cuda.is_available():
            log_t = log_t.cuda()
        log_t.requires_grad_()
        optimizer = torch.optim.SGD([log_t], lr=0.1)
        for _ in range(steps):
            loss = F.cross_entropy(logits / log_t.exp(), y.to(self.device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        self.temperature = log_t.detach().exp()


class Ensemble:
    def __init__(self, members, devices):
        self.members = [m.to(d) for m, d in zip(members, devices)]
        self.devices = devices

    @torch.no_grad()
    def predict(self, x):
        total = 0
        for member in self.members:
            total = total + F.softmax(member(x.to(member.device)), dim=1)
        return total / len(self.members)
