import torch
import torch.nn as nn
from mae.pos_embed import sincos_1d


class MaskedAutoencoder(nn.Module):
    def __init__(self, patches=8, patch_dim=4, dim=16):
        super().__init__()
        self.patch_embed = nn.Linear(patch_dim, dim)
        self.pos_embed = torch.from_numpy(sincos_1d(dim, patches)).unsqueeze(0)
        self.encoder = nn.TransformerEncoderLayer(dim, 2, 32, dropout=0.0, batch_first=True)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.decoder = nn.Sequential(nn.Linear(dim, 32), nn.GELU(), nn.Linear(32, patch_dim))

    def random_masking(self, x, mask_ratio):
        n, length, dim = x.shape
        len_keep = int(length * (1 - mask_ratio))
        noise = torch.rand(n, length)
        ids_shuffle = torch.argsort(noise, dim=1)
        ids_restore = torch.argsort(ids_shuffle, dim=1)
        ids_keep = ids_shuffle[:, :len_keep]
        x_masked = torch.gather(x, dim=1, index=ids_keep.unsqueeze(-1).repeat(1, 1, dim))
        mask = torch.ones([n, length])
        mask[:, :len_keep] = 0
        mask = torch.gather(mask, dim=1, index=ids_restore)
        return x_masked, mask, ids_restore

    def features(self, patches):
        return self.encoder(self.patch_embed(patches) + self.pos_embed).mean(dim=1)

    def forward(self, patches, mask_ratio=0.5):
        x, mask, ids_restore = self.random_masking(self.patch_embed(patches) + self.pos_embed, mask_ratio)
        x = self.encoder(x)
        tokens = self.mask_token.expand(x.size(0), ids_restore.size(1) - x.size(1), -1)
        x = torch.cat([x, tokens], dim=1)
        x = torch.gather(x, dim=1, index=ids_restore.unsqueeze(-1).expand(-1, -1, x.size(2))) + self.pos_embed
        error = (self.decoder(x) - patches).pow(2).mean(dim=-1)
        return (error * mask).sum() / mask.sum()
