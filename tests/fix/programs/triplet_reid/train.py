import torch
import torch.nn as nn
from evaluate import cmc
from loss.center import CenterLoss
from loss.triplet import batch_hard_triplet_loss

IDS, DIM = 8, 16


def batches(n, size, centers):
    out = []
    for _ in range(n):
        y = torch.arange(size) % IDS
        out.append((centers[y] + 0.7 * torch.randn(size, DIM), y))
    return out


def main():
    torch.manual_seed(14)
    use_cuda = torch.cuda.is_available()
    centers = torch.randn(IDS, DIM)
    model = nn.Sequential(nn.Linear(DIM, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
    center_loss = CenterLoss(IDS, 8)
    if use_cuda:
        model = model.cuda()
        center_loss = center_loss.cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(3):
        for x, y in batches(6, 24, centers):
            if use_cuda:
                x, y = x.cuda(), y.cuda()
            feat = model(x)
            triplet, center = batch_hard_triplet_loss(y, feat), center_loss(feat, y)
            loss = triplet + 0.01 * center
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} triplet {triplet.item():.4f} center {center.item():.4f}")
    ranks, mean = cmc(model, batches(2, 8, centers), batches(3, 16, centers), use_cuda)
    print("cmc", [round(r, 4) for r in ranks], f"mean distance {mean:.4f} centers {center_loss.centers.norm().item():.4f}")


if __name__ == "__main__":
    main()
