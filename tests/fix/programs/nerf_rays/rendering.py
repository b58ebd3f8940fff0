import torch


def raw2outputs(raw, z_vals):
    dists = z_vals[..., 1:] - z_vals[..., :-1]
    dists = torch.cat([dists, 1e2 * torch.ones_like(dists[..., :1])], dim=-1)
    alpha = 1.0 - torch.exp(-raw[..., 3].relu() * dists)
    ones = torch.ones((alpha.shape[0], 1))
    transmittance = torch.cumprod(torch.cat([ones, 1.0 - alpha + 1e-10], dim=-1), dim=-1)[:, :-1]
    weights = alpha * transmittance
    rgb = (weights[..., None] * raw[..., :3].sigmoid()).sum(dim=-2)
    background = torch.tensor([1.0, 1.0, 0.9])
    return rgb + (1.0 - weights.sum(-1, keepdim=True)) * background, (weights * z_vals).sum(-1)


def render_rays(rays_o, rays_d, embedder, network, near=1.0, far=3.0, n_samples=12, perturb=True):
    t_vals = torch.linspace(0.0, 1.0, steps=n_samples)
    z_vals = (near * (1.0 - t_vals) + far * t_vals).expand(rays_o.shape[0], n_samples)
    if perturb:
        z_vals = z_vals + (far - near) / n_samples * (torch.rand_like(z_vals) - 0.5)
    pts = rays_o[..., None, :] + rays_d[..., None, :] * z_vals[..., :, None]
    return raw2outputs(network(embedder.embed(pts)), z_vals)
