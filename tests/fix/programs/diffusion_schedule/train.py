import copy

import torch as th
from diffusion.gaussian import GaussianDiffusion
from diffusion.net import Denoiser


def dev():
    return th.device("cuda") if th.cuda.is_available() else th.device("cpu")


def update_ema(target, source, rate=0.95):
    for t, s in zip(target, source):
        t.detach().mul_(rate).add_(s, alpha=1 - rate)


def main():
    th.manual_seed(10)
    data = th.randn(256, 2) * th.tensor([0.2, 0.6]) + 1
    diffusion = GaussianDiffusion()
    model = Denoiser().to(dev())
    ema = copy.deepcopy(model)
    opt = th.optim.AdamW(model.parameters(), lr=5e-3)
    for step in range(1, 61):
        x = data[th.randint(0, 256, (32,))].to(dev())
        t = th.randint(0, diffusion.num_timesteps, (32,), device=dev())
        noise = th.randn_like(x)
        loss = (model(diffusion.q_sample(x, t, noise), t) - noise).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        update_ema(ema.parameters(), model.parameters())
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    sample = diffusion.p_sample_loop(ema, (64, 2))
    print("samples: mean", [round(v, 3) for v in sample.mean(0).tolist()], "std", [round(v, 3) for v in sample.std(0).tolist()])


if __name__ == "__main__":
    main()
