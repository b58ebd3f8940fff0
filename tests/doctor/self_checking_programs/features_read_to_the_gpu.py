# culprit: self.features
# cause: fork_cuda | checkpoint_map_location
import os
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset


class Features(Dataset):
    def __init__(self, path):
        self.features = torch.load(path)

    def __len__(self):
        return len(self.features)

    def __getitem__(self, index):
        feature = self.features[index]
        return feature / feature.norm()


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "features.pt")
        torch.save(torch.ones(4, 4, device="cuda"), path)
        data = Features(path)
    total = 0.0
    for batch in DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context="fork"):
        features = batch.cuda()
        total += float(features.sum())
    assert total == 8 and not data.features.is_cuda
