# culprit: idx_base
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


def knn(x, k):
    inner = -2 * torch.matmul(x.transpose(2, 1), x)
    xx = (x**2).sum(1, keepdim=True)
    return (-xx - inner - xx.transpose(2, 1)).topk(k=k, dim=-1)[1]


def get_graph_feature(x, k=4):
    b, c, n = x.shape
    idx = knn(x, k)
    idx_base = torch.arange(0, b).view(-1, 1, 1) * n
    idx = (idx + idx_base).view(-1)
    pts = x.transpose(2, 1).contiguous()
    neighbours = pts.view(b * n, -1)[idx].view(b, n, k, c)
    centre = pts.view(b, n, 1, c).expand(-1, -1, k, -1)
    return torch.cat((neighbours - centre, centre), dim=3).permute(0, 3, 1, 2)


class DGCNN(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv2d(6, 8, 1), nn.LeakyReLU(0.2))
        self.conv2 = nn.Sequential(nn.Conv2d(16, 16, 1), nn.LeakyReLU(0.2))
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        x = self.conv1(get_graph_feature(x)).max(-1).values
        x = self.conv2(get_graph_feature(x)).max(-1).values
        return self.head(x.max(-1).values)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = DGCNN().to(device)
    points = torch.randn(2, 3, 20).to(device)
    return model(points)
