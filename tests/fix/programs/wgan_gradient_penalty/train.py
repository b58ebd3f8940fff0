import numpy as np
import torch
import torch.nn as nn
from utils import calc_gradient_penalty, weights_norm

use_cuda = torch.cuda.is_available()
BATCH, CRITIC_ITERS, ITERS = 32, 3, 8


def inf_train_gen():
    rng = np.random.RandomState(0)
    centers = 2 * np.array([(1, 0), (-1, 0), (0, 1), (0, -1)], dtype=np.float32)
    while True:
        yield centers[rng.randint(0, 4, BATCH)] + 0.02 * rng.randn(BATCH, 2).astype(np.float32)


torch.manual_seed(1)
netG = nn.Sequential(nn.Linear(2, 32), nn.ReLU(True), nn.Linear(32, 2))
netD = nn.Sequential(nn.Linear(2, 32), nn.ReLU(True), nn.Linear(32, 1))
one = torch.tensor([1.0])
mone = one * -1
if use_cuda:
    netD = netD.cuda()
    netG = netG.cuda()
optimizerD = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.9))
optimizerG = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.9))

data = inf_train_gen()
for iteration in range(ITERS):
    for p in netD.parameters():
        p.requires_grad = True
    for _ in range(CRITIC_ITERS):
        real_data = torch.from_numpy(next(data))
        noise = torch.randn(BATCH, 2)
        if use_cuda:
            real_data, noise = real_data.cuda(), noise.cuda()
        netD.zero_grad()
        D_real = netD(real_data).mean().unsqueeze(0)
        D_real.backward(mone)
        fake = netG(noise).detach()
        D_fake = netD(fake).mean().unsqueeze(0)
        D_fake.backward(one)
        gradient_penalty = calc_gradient_penalty(netD, real_data, fake)
        gradient_penalty.backward()
        Wasserstein_D = D_real - D_fake
        optimizerD.step()
    for p in netD.parameters():
        p.requires_grad = False
    netG.zero_grad()
    noise = torch.randn(BATCH, 2)
    if use_cuda:
        noise = noise.cuda()
    G = netD(netG(noise)).mean().unsqueeze(0)
    G.backward(mone)
    optimizerG.step()
    if iteration % 2 == 1:
        print(f"iter {iteration} W {Wasserstein_D.item():.4f} gp {gradient_penalty.item():.4f} G {-G.item():.4f}")
print(f"norm of D {weights_norm(netD):.4f}, of G {weights_norm(netG):.4f}")
