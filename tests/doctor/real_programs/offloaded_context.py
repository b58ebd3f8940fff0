# culprit: latents
# cause: input_not_moved
import torch
from torch import nn


def refine(unet, encoder, latents, text, mask, device):
    context = encoder(text)
    context = context.to(device)
    for _ in range(2):
        noise = unet(latents)
        latents = latents - 0.1 * noise * mask
    encoder_again = encoder(text).to(device)
    return latents + encoder_again + context


def main():
    encoder = nn.Linear(3, 4)
    unet = nn.Linear(4, 4).cuda()
    out = refine(unet, encoder, torch.randn(2, 4), torch.randn(2, 3), torch.ones(2, 4), "cuda")
    assert out.is_cuda and not encoder.weight.is_cuda
