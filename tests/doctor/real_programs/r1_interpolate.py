# culprit: torch.ones(scores.size()) | grad_outputs
# cause: grad_device
import torch
from torch import nn


def gradient_penalty(critic, real, fake, weight=10.0):
    eps = torch.rand(real.size(0), 1, device=real.device)
    mixed = (eps * real + (1 - eps) * fake.detach()).requires_grad_(True)
    scores = critic(mixed)
    grads = torch.autograd.grad(
        outputs=scores,
        inputs=mixed,
        grad_outputs=torch.ones(scores.size()),
        create_graph=True,
        retain_graph=True,
    )[0]
    return weight * (grads.norm(2, dim=1) - 1).pow(2).mean()


class Gan:
    def __init__(self, device, z_dim=4):
        self.device, self.z_dim = device, z_dim
        self.gen = nn.Sequential(nn.Linear(z_dim, 16), nn.ReLU(), nn.Linear(16, 6)).to(device)
        self.critic = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)).to(device)
        self.opt_d = torch.optim.Adam(self.critic.parameters(), lr=1e-4, betas=(0.0, 0.9))

    def critic_step(self, real):
        real = real.to(self.device)
        fake = self.gen(torch.randn(len(real), self.z_dim, device=self.device))
        loss = self.critic(fake.detach()).mean() - self.critic(real).mean()
        loss = loss + gradient_penalty(self.critic, real, fake)
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        return loss.item()


def main():
    gan = Gan(torch.device("cuda"))
    for _ in range(2):
        gan.critic_step(torch.randn(8, 6))
