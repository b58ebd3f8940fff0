# culprit: loader | generator
# cause: generator_device
import torch
from torch.utils.data import DataLoader


def main():
    rows = torch.arange(6)
    torch.set_default_device("cuda")
    try:
        loader = DataLoader(rows, batch_size=2, shuffle=True)
        seen = []
        for batch in loader:
            seen += batch.tolist()
        assert sorted(seen) == [0, 1, 2, 3, 4, 5]
    finally:
        torch.set_default_device(None)
