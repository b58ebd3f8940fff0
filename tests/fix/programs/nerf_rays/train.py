import argparse

import numpy as np
import torch
import torch.nn as nn
from encoding import Embedder
from rendering import render_rays

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def get_rays(size, angle):
    """Rays of a camera on a circle that looks at the middle."""
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, size), np.linspace(-0.5, 0.5, size))
    dirs = np.stack([x, -y, -np.ones_like(x)], axis=-1).reshape(-1, 3)
    c, s = np.cos(angle), np.sin(angle)
    pose = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    rays_d = (dirs @ pose.T).astype(np.float32)
    rays_o = np.broadcast_to((2 * pose[:, 2]).astype(np.float32), rays_d.shape).copy()
    return torch.from_numpy(rays_o), torch.from_numpy(rays_d)


def true_colour(rays_o, rays_d):
    """A shaded ball of radius 0.5 on white."""
    d = nn.functional.normalize(rays_d, dim=1)
    b = (rays_o * d).sum(1)
    hit = b**2 - (rays_o.pow(2).sum(1) - 0.25)
    normal = rays_o + (-b - hit.clamp(min=0).sqrt())[:, None] * d
    return torch.where(hit[:, None] > 0, 0.5 + normal, torch.ones(3, device=d.device))


def main(args):
    torch.manual_seed(args.seed)
    embedder = Embedder()
    network = nn.Sequential(nn.Linear(embedder.out_dim, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    views = [get_rays(8, angle) for angle in np.linspace(0, 2 * np.pi, 4, endpoint=False)]
    rays_o, rays_d = (torch.cat(r).to(device) for r in zip(*views))
    for i in range(1, args.N_iters + 1):
        select = torch.randint(0, len(rays_o), (64,))
        rgb, _ = render_rays(rays_o[select], rays_d[select], embedder, network)
        loss = (rgb - true_colour(rays_o[select], rays_d[select])).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % args.i_print == 0:
            print(f"[TRAIN] Iter: {i} Loss: {loss.item():.4f}")
    with torch.no_grad():
        test_o, test_d = get_rays(8, 0.4)
        rgb, depth = render_rays(test_o, test_d, embedder, network, perturb=False)
        psnr = -10 * torch.log10((rgb - true_colour(test_o, test_d)).pow(2).mean())
    print(f"psnr {psnr.item():.3f} depth {depth.mean().item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--N_iters", type=int, default=20)
    parser.add_argument("--i_print", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
