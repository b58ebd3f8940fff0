import torch
import torch.nn as nn
from losses import SSIM, EdgeAwareSmoothness
from warp import backwarp


def pairs(n, size=12):
    base = torch.nn.functional.avg_pool2d(torch.randn(n, 3, size + 6, size + 6), 3, stride=1)
    shift = torch.randint(0, 3, (n,))
    first = torch.stack([b[:, 2 : 2 + size, s : s + size] for b, s in zip(base, shift)])
    second = base[:, :, 2 : 2 + size, 2 : 2 + size]
    flow = torch.zeros(n, 2, size, size)
    flow[:, 0] = (shift - 2).float().view(n, 1, 1)
    return first.contiguous(), second.contiguous(), flow


def main():
    torch.manual_seed(50)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = nn.Sequential(nn.Conv2d(6, 12, 5, padding=2), nn.ReLU(), nn.Conv2d(12, 2, 5, padding=2)).to(device)
    ssim, smoothness = SSIM().to(device), EdgeAwareSmoothness()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(3):
        for _ in range(5):
            first, second, _ = (t.to(device) for t in pairs(8))
            flow = net(torch.cat([first, second], dim=1))
            warped = backwarp(second, flow)
            loss = (warped - first).abs().mean() + 0.5 * (1 - ssim(warped, first)) + 0.1 * smoothness(flow, first)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        epe = torch.zeros(12)
        with torch.no_grad():
            for n in (8, 8, 3):
                first, second, truth = (t.to(device) for t in pairs(n))
                epe += (net(torch.cat([first, second], dim=1)) - truth).norm(dim=1).sum(dim=(0, 2)) / (19 * 12)
        print(f"epoch {epoch} loss {loss.item():.4f} epe {epe.mean().item():.4f}")
    first, second, _ = (t.to(device) for t in pairs(3))
    with torch.no_grad():
        print(f"ssim before {ssim(second, first).item():.4f} after {ssim(backwarp(second, net(torch.cat([first, second], dim=1))), first).item():.4f}")


if __name__ == "__main__":
    main()
