import torch as th


def extract(arr, timesteps, like):
    res = arr[timesteps].float()
    while res.dim() < like.dim():
        res = res[..., None]
    return res.expand(like.shape)


class GaussianDiffusion:
    def __init__(self, steps=20):
        self.num_timesteps = steps
        self.betas = th.linspace(1e-3, 0.2, steps)
        alphas = 1.0 - self.betas
        self.alphas_cumprod = th.cumprod(alphas, dim=0)
        self.sqrt_recip_alphas = (1.0 / alphas).sqrt()

    def q_sample(self, x_start, t, noise):
        ac = extract(self.alphas_cumprod, t, x_start)
        return ac.sqrt() * x_start + (1 - ac).sqrt() * noise

    def p_sample(self, model, x, t):
        eps = model(x, t)
        beta = extract(self.betas, t, x)
        mean = extract(self.sqrt_recip_alphas, t, x) * (x - beta / (1 - extract(self.alphas_cumprod, t, x)).sqrt() * eps)
        nonzero = (t != 0).float()[:, None]
        return mean + nonzero * beta.sqrt() * th.randn_like(x)

    @th.no_grad()
    def p_sample_loop(self, model, shape):
        device = next(model.parameters()).device
        x = th.randn(*shape)
        for i in reversed(range(self.num_timesteps)):
            t = th.tensor([i] * shape[0])
            x = self.p_sample(model, x, t)
        return x
