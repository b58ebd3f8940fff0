"""What tools/bench.py measures beside a step of training: single lines of programs, and a small UNet under autocast.

Each line is a function of a device, which returns what is run. A line is run on the CPU outside a simulation, on the
CPU while one runs, and on a simulated GPU.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

Program = Callable[[], object]

LINES = 50


class Path(NamedTuple):
    """A line of a program, and what it may cost at most as a multiple of what it costs on plain CPU tensors."""

    line: str
    program: Callable[[str], Program]
    lines: int  # in one call of the program
    repeats: int  # of the program in a run
    beside_at_most: float  # on CPU tensors, while a simulation runs
    at_most: float  # on a simulated GPU


def repeated(line: Program) -> Program:
    """The line many times, so that what calls them costs little beside them."""

    def lines() -> None:
        for _ in range(LINES):
            line()

    return lines


def writing(device: str) -> Program:
    return written(torch.ones(16, device=device), device)


def writing_from_the_cpu(device: str) -> Program:
    return written(torch.ones(16), device)


def written(row: Tensor, device: str) -> Program:
    matrix = torch.zeros(64, 16, device=device)

    def write() -> None:
        matrix[3] = row

    return repeated(write)


def reading(device: str) -> Program:
    loss = torch.ones((), device=device)
    return repeated(lambda: loss.item())


def asking(device: str) -> Program:
    tensor = torch.ones(3, device=device)
    return repeated(lambda: tensor.device)


def making(device: str) -> Program:
    return repeated(lambda: (torch.zeros(4, 4, device=device), torch.tensor([1.0, 2.0], device=device)))


def ten_layers(device: str) -> nn.Module:
    return nn.Sequential(*(nn.Linear(64, 64) for _ in range(10))).to(device)


def moving(device: str) -> Program:
    model = ten_layers(device)
    return lambda: model.cpu().to(device)


def clipping(device: str) -> Program:
    model = ten_layers(device)
    model(torch.ones(4, 64, device=device)).sum().backward()
    parameters = list(model.parameters())
    return lambda: nn.utils.clip_grad_norm_(parameters, 1.0)


PATHS = {
    "writing": Path("b[i] = v", writing, LINES, 20, 1.5, 4.0),
    "writing_from_the_cpu": Path("b[i] = v, v on the CPU", writing_from_the_cpu, LINES, 20, 1.5, 4.0),
    "reading": Path("loss.item()", reading, LINES, 40, 1.5, 5.0),
    "asking": Path("x.device", asking, LINES, 80, 1.5, 3.0),
    "making": Path("torch.zeros, torch.tensor, with device=", making, LINES, 20, 1.5, 5.0),
    "moving": Path("module.cpu().to(d), 20 parameters", moving, 1, 10, 1.5, 6.0),
    "clipping": Path("clip_grad_norm_, 20 parameters", clipping, 1, 10, 1.5, 3.0),
}

UNET_AT_MOST = 3.0


class Block(nn.Module):
    """Two convolutions, and what is added to them of the time step."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(8, inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, padding=1))
        self.second = nn.Sequential(nn.GroupNorm(8, outputs), nn.SiLU(), nn.Conv2d(outputs, outputs, 3, padding=1))
        self.around = nn.Conv2d(inputs, outputs, 1)
        self.time = nn.Linear(64, outputs)

    def forward(self, image: Tensor, time: Tensor) -> Tensor:
        hidden = self.first(image) + self.time(time)[:, :, None, None]
        result: Tensor = self.second(hidden) + self.around(image)
        return result


class UNet(nn.Module):
    """A UNet of two levels, with attention on the lower one."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.leave = nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(32, 3, 1)
        self.down, self.up = nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.ConvTranspose2d(64, 32, 2, stride=2)
        self.upper, self.lower, self.last = Block(32, 32), Block(32, 64), Block(64, 32)
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)

    def forward(self, image: Tensor, time: Tensor) -> Tensor:
        upper = self.upper(self.enter(image), time)
        lower = self.lower(self.down(upper), time)
        pixels = lower.flatten(2).transpose(1, 2)
        seen = self.attention(pixels, pixels, pixels, need_weights=False)[0]
        lower = lower + seen.transpose(1, 2).reshape(lower.shape)
        image = self.leave(self.last(torch.cat([self.up(lower), upper], 1), time))
        return image


def unet_step(device: str, dtype: torch.dtype) -> Program:
    """A step of training of the UNet under autocast: forward, backward, AdamW."""
    torch.manual_seed(0)
    model = UNet().to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    image, time = torch.randn(4, 3, 32, 32).to(device), torch.randn(4, 64).to(device)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast(device, dtype=dtype):
            loss = nn.functional.mse_loss(model(image, time).float(), image)
        loss.backward()
        optimizer.step()

    return step
