# culprit: MEAN
# cause: tensor_created_in_forward_without_device
import torch
MEAN = torch.tensor([0.5, 0.4, 0.3]).view(3, 1, 1)
STD = torch.tensor([0.2, 0.2, 0.2]).view(3, 1, 1)
def normalize(x):
    return (x - MEAN) / STD
def main():
    x = torch.rand(2, 3, 4, 4).cuda()
    return normalize(x).mean()
