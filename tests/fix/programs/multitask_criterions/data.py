import torch
from torch.utils.data import Dataset


class People(Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 12)
        self.sex = (self.x[:, 0] + 0.3 * torch.randn(n) > 0.5).long()
        self.age = 0.4 * self.x[:, 1] - 0.2 * self.x[:, 2]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"image": self.x[i], "targets": {"sex": self.sex[i], "age": self.age[i]}, "id": f"person{i}"}
