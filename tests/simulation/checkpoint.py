"""What tests/simulation/cuda_checkpoint.pt holds: tensors on two GPUs, a module's state, an optimizer's.

That file was written by PyTorch 2.13.0's CUDA build. To write it anew, on a machine with that build and two GPUs:
python tests/simulation/checkpoint.py
"""

from pathlib import Path
from typing import Any

import torch
from torch import nn

FILE = Path(__file__).with_name("cuda_checkpoint.pt")


def checkpoint() -> dict[str, Any]:
    """The same on any CUDA, real or simulated: only copies, nothing computed on a GPU."""
    x, model = torch.arange(6.0).cuda(), nn.BatchNorm1d(2).cuda(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return {
        "tensor": x,
        "view": x[2:].view(2, 2).t(),
        "parameter": nn.Parameter(x),
        "leaf": torch.ones(2).cuda(1).requires_grad_(),
        "half": torch.ones(2, dtype=torch.float16).cuda(),
        "scalar": torch.tensor(2).cuda(),
        "empty": torch.empty(0, device="cuda:1"),
        "cpu": torch.ones(2),
        "device": torch.device("cuda:1"),
        "module": model.state_dict(),
        "optimizer": optimizer.state_dict(),
    }


if __name__ == "__main__":
    torch.save(checkpoint(), FILE)
