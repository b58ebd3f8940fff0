# culprit: self.decoder.weight | self.decoder
# cause: model_not_moved
import torch
from torch import nn
class Pipe:
    def __init__(self, device):
        self.device = device
        self.encoder = nn.Linear(4, 4)
        self.decoder = nn.Linear(4, 4)
    def run(self, module, x):
        module.to(self.device)
        out = module(x)
        module.to("cpu")
        return out
    def __call__(self, x):
        z = self.run(self.encoder, x)
        return self.decoder(z)
def main():
    Pipe(torch.device("cuda"))(torch.randn(2, 4).cuda())
