import torch.nn as nn


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.2)
        nn.init.zeros_(m.bias)


class Generator(nn.Module):
    def __init__(self, nz, nf=16):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(nz, nf), nn.BatchNorm1d(nf), nn.ReLU(True), nn.Linear(nf, 2))
        self.apply(weights_init)

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self, nf=16):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, nf), nn.LeakyReLU(0.2), nn.Linear(nf, 1))
        self.apply(weights_init)

    def forward(self, x):
        return self.main(x).view(-1)
