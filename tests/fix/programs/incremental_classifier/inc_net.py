import torch
import torch.nn as nn
import torch.nn.functional as F


class CosineHead(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, dim) * 0.1)

    def forward(self, x):
        return 5 * F.linear(F.normalize(x, dim=1), F.normalize(self.weight, dim=1))


class IncrementalNet(nn.Module):
    """Every task adds features and classes; old classes do not use the new features."""

    def __init__(self, in_dim, device):
        super().__init__()
        self.in_dim, self.device = in_dim, device
        self.convnets = nn.ModuleList()
        self.old_fc, self.fc = None, None

    def update_fc(self, classes, dim=10):
        self.convnets.append(nn.Sequential(nn.Linear(self.in_dim, dim), nn.Tanh()).to(self.device))
        self.old_fc = self.fc
        fc = CosineHead(dim * len(self.convnets), classes).to(self.device)
        if self.old_fc is not None:
            old = self.old_fc.weight.data
            fresh = 0.1 * torch.randn(classes - old.size(0), fc.weight.size(1))
            padding = torch.zeros(old.size(0), dim)
            if torch.cuda.is_available():
                padding = padding.cuda()
            fc.weight.data = torch.cat([torch.cat([old, padding], dim=1), fresh], dim=0)
        self.fc = fc

    def features(self, x):
        return torch.cat([net(x) for net in self.convnets], dim=1)

    def forward(self, x):
        return self.fc(self.features(x))
