# culprit: image | batch["image"]
# cause: in_place_or_copy | input_not_moved
import argparse

import torch
from torch import nn


def move_to_device(batch, device):
    for value in batch.values():
        if torch.is_tensor(value):
            value.to(device, non_blocking=True)
    return batch


class SegNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Conv2d(3, 8, 3, padding=1)
        self.dec = nn.Conv2d(8, 2, 1)

    def forward(self, image):
        return self.dec(torch.relu(self.enc(image)))


def run(args):
    model = SegNet().to(args.device)
    criterion = nn.CrossEntropyLoss(ignore_index=255)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    loader = [
        {"image": torch.rand(2, 3, 8, 8), "mask": torch.randint(0, 2, (2, 8, 8)), "name": ["a", "b"]} for _ in range(2)
    ]
    for batch in loader:
        batch = move_to_device(batch, args.device)
        logits = model(batch["image"])
        loss = criterion(logits, batch["mask"])
        loss.backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--lr", type=float, default=1e-3)
    run(parser.parse_args([]))
