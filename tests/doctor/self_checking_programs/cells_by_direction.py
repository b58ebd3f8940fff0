# culprit: self.cells["left"] | cell
# cause: kept_in_a_list
import torch
from torch import nn


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = {"left": nn.Linear(3, 3), "right": nn.Linear(3, 3)}

    def forward(self, x):
        return sum(cell(x) for cell in self.cells.values())


def main():
    model = Cells().to("cuda")
    assert model(torch.ones(2, 3, device="cuda")).is_cuda
    assert len(list(model.parameters())) == 4
