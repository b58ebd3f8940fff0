# culprit: s.blocks[0]
# cause: kept_in_a_list
import torch as th
import torch.nn as layers


class Tower(layers.Module):
    def __init__(s, width):
        super().__init__()
        s.blocks = [layers.Linear(width, width) for _ in range(2)]

    def forward(s, x):
        for block in s.blocks:
            x = block(x)
        return x


def main():
    tower = Tower(3).to("cuda")
    assert tower(th.ones(2, 3, device="cuda")).is_cuda
    assert len(list(tower.parameters())) == 4
    assert not Tower(3)(th.ones(2, 3)).is_cuda
