# culprit: z | self.codes[i] | self.codes
# cause: unregistered_tensor_attribute
import torch
from torch import nn
import torch.nn.functional as F


class HyperNetwork(nn.Module):
    def __init__(self, code_dim, out_features, in_features):
        super().__init__()
        self.shape = (out_features, in_features)
        self.net = nn.Sequential(nn.Linear(code_dim, 16), nn.Tanh(), nn.Linear(16, out_features * in_features))

    def forward(self, z):
        return self.net(z).view(self.shape)


class PrimaryNet(nn.Module):
    def __init__(self, dim=8, depth=3, code_dim=4):
        super().__init__()
        self.hyper = HyperNetwork(code_dim, dim, dim)
        self.codes = [nn.Parameter(torch.randn(code_dim)) for _ in range(depth)]
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 2)

    def forward(self, x):
        for i in range(len(self.codes)):
            weight = self.hyper(self.codes[i])
            x = x + F.relu(F.linear(self.norm(x), weight))
        return self.head(x)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = PrimaryNet().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(2):
        x = torch.randn(4, 8).to(device)
        y = torch.randint(0, 2, (4,)).to(device)
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
