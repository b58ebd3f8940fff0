import torch
from losses import GANLoss
from networks import Discriminator, Generator
from torch import optim

nz = 8
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def real_batch(n):
    angle = torch.rand(n) * 6.2832
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(n, 2)


def set_requires_grad(net, flag):
    for p in net.parameters():
        p.requires_grad = flag


if __name__ == "__main__":
    torch.manual_seed(999)
    netG = Generator(nz).to(device)
    netD = Discriminator()
    criterion = GANLoss().to(device)
    fixed_noise = torch.randn(32, nz)
    optimizerD = optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))

    for epoch in range(4):
        for i in range(10):
            # (1) Update D: maximize log(D(x)) + log(1 - D(G(z)))
            set_requires_grad(netD, True)
            real = real_batch(32).to(device)
            optimizerD.zero_grad()
            errD_real = criterion(netD(real), True)
            noise = torch.randn(32, nz, device=device)
            fake = netG(noise)
            errD_fake = criterion(netD(fake.detach()), False)
            (errD_real + errD_fake).backward()
            optimizerD.step()

            # (2) Update G: maximize log(D(G(z)))
            set_requires_grad(netD, False)
            optimizerG.zero_grad()
            noise = torch.randn(32, nz)
            errG = criterion(netD(netG(noise)), True)
            errG.backward()
            optimizerG.step()
        print(f"[{epoch}] Loss_D: {(errD_real + errD_fake).item():.4f} Loss_G: {errG.item():.4f}")

    netG.eval()
    with torch.no_grad():
        samples = netG(fixed_noise).cpu()
    print("sample mean", [round(v, 4) for v in samples.mean(0).tolist()], "radius", round(samples.norm(dim=1).mean().item(), 4))
