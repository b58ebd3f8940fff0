# culprit: device
# cause: checkpoint_map_location | device_ordinal_unavailable
import io

import torch
from torch import nn


def load(file, device):
    weights = torch.load(file, map_location=device)
    model = nn.Linear(2, 2)
    model.load_state_dict(weights)
    return model.to(device)


def main():
    file = io.BytesIO()
    torch.save(nn.Linear(2, 2).cuda().state_dict(), file)
    file.seek(0)
    load(file, torch.device("cuda:5"))
