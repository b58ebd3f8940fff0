import torch


class Embedder:
    def __init__(self, num_freqs=4):
        self.freq_bands = 2.0 ** torch.linspace(0.0, num_freqs - 1, num_freqs)
        self.out_dim = 3 + 3 * 2 * num_freqs

    def embed(self, x):
        scaled = x[..., None, :] * self.freq_bands[:, None]
        return torch.cat([x, torch.sin(scaled).flatten(-2), torch.cos(scaled).flatten(-2)], dim=-1)
