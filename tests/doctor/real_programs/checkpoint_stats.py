# culprit: stats["mean"] | mean
# cause: input_not_moved | tensor_created_in_forward_without_device
import io, torch
from torch import nn
def main():
    buf = io.BytesIO(); torch.save({"mean": torch.zeros(4), "std": torch.ones(4)}, buf); buf.seek(0)
    stats = torch.load(buf)
    model = nn.Linear(4, 2).cuda()
    x = torch.randn(3, 4).cuda()
    x = (x - stats["mean"]) / stats["std"]
    model(x)
