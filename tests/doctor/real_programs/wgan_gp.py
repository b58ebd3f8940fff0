# culprit: torch.ones(d_interpolates.size())
# cause: grad_device | tensor_created_in_forward_without_device
import torch
from torch import autograd, nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)


def gradient_penalty(critic, real, fake, lambda_gp=10):
    alpha = torch.rand(real.size(0), 1, device=real.device)
    interpolates = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    d_interpolates = critic(interpolates)
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=torch.ones(d_interpolates.size()),
        create_graph=True,
        retain_graph=True,
    )[0]
    return lambda_gp * ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def main():
    device = torch.device("cuda")
    critic, generator = Critic().to(device), nn.Linear(4, 10).to(device)
    opt_d = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
    for _ in range(2):
        real = torch.randn(8, 10).to(device)
        fake = generator(torch.randn(8, 4, device=device)).detach()
        d_loss = critic(fake).mean() - critic(real).mean() + gradient_penalty(critic, real, fake)
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
