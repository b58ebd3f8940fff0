# culprit: self.mask | self.mask[:t] | ~self.mask[:t]
# cause: unregistered_tensor_attribute
import torch
from torch import nn
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 4)
        self.mask = torch.ones(8, 8).tril().bool()
    def forward(self, x):
        t = x.size(1)
        scores = self.q(x) @ x.transpose(1, 2)
        return torch.where(~self.mask[:t, :t], float("-inf"), scores)
def main():
    Attn().cuda()(torch.randn(2, 5, 4).cuda())
