# culprit: self.vector | vector
# cause: unregistered_tensor_attribute | tensor_created_in_forward_without_device | input_not_moved
import torch
from torch import nn
class Steer:
    def __init__(self, layer, vector, scale):
        self.vector, self.scale = vector, scale
        layer.register_forward_hook(self.hook)
    def hook(self, module, inputs, output):
        return output + self.scale * self.vector
def main():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    acts = torch.randn(10, 4)
    Steer(model[0], acts[:5].mean(0) - acts[5:].mean(0), 2.0)
    model(torch.randn(3, 4).cuda())
