# culprit: ema_value | self.module
# cause: input_not_moved | model_not_moved | metric_or_accumulator_state
import copy

import torch
from torch import nn


class ModelEma(nn.Module):
    def __init__(self, model, decay=0.9):
        super().__init__()
        self.module = copy.deepcopy(model)
        self.decay = decay

    @torch.no_grad()
    def _update(self, model, blend):
        for ema_value, value in zip(self.module.state_dict().values(), model.state_dict().values(), strict=True):
            ema_value.copy_(blend(ema_value, value))

    def update(self, model):
        self._update(model, lambda ema, new: self.decay * ema + (1.0 - self.decay) * new)


def main():
    model = nn.Linear(3, 3)
    ema = ModelEma(model)
    model.to("cuda")
    before = {name: tensor.cpu().clone() for name, tensor in ema.module.state_dict().items()}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1)
    ema.update(model)
    assert all(not torch.equal(before[name], tensor.cpu()) for name, tensor in ema.module.state_dict().items())
