# culprit: z | self.features | self.features[index]
# cause: written_values_on_wrong_device | unregistered_tensor_attribute | metric_or_accumulator_state
import torch
import torch.nn.functional as F
from torch import nn


class FeatureBank:
    def __init__(self, n, dim):
        self.features = torch.zeros(n, dim)
        self.epoch = torch.full((n,), -1)

    def update(self, index, z, epoch):
        self.features[index] = z
        self.epoch[index] = epoch

    def nearest(self, z, k):
        return (z @ self.features.to(z.device).t()).topk(k, dim=1).indices


class IndexedDataset(torch.utils.data.Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 6)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return i, self.x[i]


def main():
    device = torch.device("cuda")
    encoder = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)).to(device)
    dataset = IndexedDataset(20)
    bank = FeatureBank(len(dataset), 4)
    for epoch in range(2):
        for index, x in torch.utils.data.DataLoader(dataset, batch_size=5, shuffle=True):
            with torch.no_grad():
                z = F.normalize(encoder(x.to(device)), dim=1)
            bank.update(index, z, epoch)
    return bank.nearest(z, 3)
