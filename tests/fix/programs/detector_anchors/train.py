import argparse

import torch
from models.yolo import Model
from utils.loss import ComputeLoss

ANCHORS = [[1.25, 1.625], [2.0, 3.75], [4.125, 2.875]]


def batches(n, size):
    for i in range(n):
        imgs = torch.randn(size, 3, 16, 16)
        k = 3 * size
        targets = torch.cat(
            [torch.arange(k)[:, None] % size, torch.randint(0, 3, (k, 1)), torch.rand(k, 2) * 0.9, 0.2 + torch.rand(k, 2) * 0.4], dim=1
        )
        yield imgs, targets


def train(opt):
    torch.manual_seed(opt.seed)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = Model(nc=3, anchors=ANCHORS).to(device)
    compute_loss = ComputeLoss(model, cls_weights=[1.0, 2.0, 0.5])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(opt.epochs):
        mloss, counts = 0.0, torch.zeros(3, dtype=torch.long)
        for imgs, targets in batches(5, 4):
            imgs, targets = imgs.to(device), targets.to(device)
            loss, which = compute_loss(model(imgs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            mloss += loss.item() / 5
            counts += torch.bincount(which.cpu(), minlength=3)
        print(f"{epoch}/{opt.epochs - 1} loss {mloss:.4f} matched {counts.tolist()}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    train(parser.parse_args())
