# culprit: param_k.data | self.tau * param_k.data | param_k
# cause: model_not_moved
import copy

import torch
import torch.nn.functional as F
from torch import nn


class BYOL:
    def __init__(self, backbone, device, tau=0.99):
        self.tau = tau
        self.target = copy.deepcopy(backbone)
        self.online = backbone.to(device)
        self.predictor = nn.Linear(8, 8).to(device)
        for p in self.target.parameters():
            p.requires_grad = False

    @torch.no_grad()
    def update_target(self):
        for param_q, param_k in zip(self.online.parameters(), self.target.parameters()):
            param_k.data = self.tau * param_k.data + (1 - self.tau) * param_q.data

    def loss(self, v1, v2):
        p = F.normalize(self.predictor(self.online(v1)), dim=-1)
        with torch.no_grad():
            z = F.normalize(self.target(v2), dim=-1)
        return 2 - 2 * (p * z).sum(-1).mean()


def main():
    device = torch.device("cuda")
    learner = BYOL(nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8)), device)
    opt = torch.optim.Adam([*learner.online.parameters(), *learner.predictor.parameters()], lr=3e-4)
    for _ in range(2):
        x = torch.randn(8, 16, device=device)
        learner.update_target()
        loss = learner.loss(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
        opt.zero_grad()
        loss.backward()
        opt.step()
