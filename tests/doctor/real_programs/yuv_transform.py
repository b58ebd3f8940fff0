# culprit: self.RGB2YUV | self.RGB2YUV.t()
# cause: unregistered_tensor_attribute | tensor_created_in_forward_without_device
import torch
from torch import nn


class YUVLoss(nn.Module):
    """L1 on luma, weighted L1 on chroma."""

    RGB2YUV = torch.tensor(
        [
            [0.299, 0.587, 0.114],
            [-0.147, -0.289, 0.436],
            [0.615, -0.515, -0.100],
        ]
    )
    OFFSET = torch.tensor([0.0, 0.5, 0.5])

    def __init__(self, chroma_weight=0.25):
        super().__init__()
        self.chroma_weight = chroma_weight

    def to_yuv(self, img):
        return img.permute(0, 2, 3, 1) @ self.RGB2YUV.t() + self.OFFSET

    def forward(self, pred, target):
        diff = (self.to_yuv(pred) - self.to_yuv(target)).abs()
        return diff[..., 0].mean() + self.chroma_weight * diff[..., 1:].mean()


def main():
    device = torch.device("cuda")
    sr = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.PixelShuffle(2)).to(device)
    criterion = YUVLoss().to(device)
    optimizer = torch.optim.Adam(sr.parameters(), lr=1e-4)
    for lr_img, hr_img in [(torch.rand(2, 3, 6, 6), torch.rand(2, 3, 12, 12))]:
        lr_img, hr_img = lr_img.to(device), hr_img.to(device)
        loss = criterion(sr(lr_img), hr_img)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
