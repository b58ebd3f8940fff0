# culprit: noise
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.hidden = hidden
        self.encoder = nn.Linear(size, 2 * hidden)
        self.decoder = nn.Sequential(nn.Linear(hidden, size), nn.Sigmoid())

    def sampled(self, mean, log_variance):
        noise = torch.randn(mean.shape)
        return mean + noise * (0.5 * log_variance).exp()

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, dim=-1)
        return self.decoder(self.sampled(mean, log_variance))

    def generate(self, batch_size=None):
        z = torch.randn((batch_size, self.hidden)) if batch_size else torch.randn(
            (1, self.hidden)
        )
        return self.decoder(z)


def main():
    vae = VAE(6, 2).to("cuda")
    assert vae(torch.rand(3, 6).to("cuda")).is_cuda
    assert vae.generate(4).shape == (4, 6)
    assert vae.generate().is_cuda
    assert not VAE(6, 2).generate(4).is_cuda
