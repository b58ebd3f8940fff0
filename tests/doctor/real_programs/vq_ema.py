# culprit: self.cluster_size | self.cluster_size * self.decay
# cause: unregistered_tensor_attribute | metric_or_accumulator_state
import torch
import torch.nn.functional as F
from torch import nn


class VectorQuantizerEMA(nn.Module):
    def __init__(self, num_codes=16, dim=4, decay=0.99):
        super().__init__()
        self.num_codes, self.decay = num_codes, decay
        embed = torch.randn(num_codes, dim)
        self.register_buffer("embed", embed)
        self.cluster_size = torch.zeros(num_codes)
        self.embed_avg = embed.clone()

    def forward(self, z):
        flat = z.reshape(-1, z.size(-1))
        codes = torch.cdist(flat, self.embed).argmin(1)
        onehot = F.one_hot(codes, self.num_codes).type_as(flat)
        quantized = F.embedding(codes, self.embed).view_as(z)
        if self.training:
            self.cluster_size = self.cluster_size * self.decay + onehot.sum(0) * (1 - self.decay)
            self.embed_avg = self.embed_avg * self.decay + (onehot.t() @ flat).detach() * (1 - self.decay)
            self.embed = self.embed_avg / (self.cluster_size.unsqueeze(1) + 1e-5)
        commit = F.mse_loss(z, quantized.detach())
        return z + (quantized - z).detach(), commit


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.vq, self.dec = nn.Linear(10, 4), VectorQuantizerEMA(), nn.Linear(4, 10)

    def forward(self, x):
        q, commit = self.vq(self.enc(x))
        return F.mse_loss(self.dec(q), x) + 0.25 * commit


def main():
    model = VQVAE().to("cuda").train()
    model(torch.randn(8, 10, device="cuda")).backward()
