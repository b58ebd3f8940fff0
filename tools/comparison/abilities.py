"""What else is asked of each rival: small programs, which say yes or no. One that raises says no.

`model` is a linear layer that was made before the rival was entered: FakeTensorMode moves no other.
"""

import torch
from torch import nn


def computes_values(gpu: str, second: str, model: nn.Module) -> bool:
    return (torch.ones(2, device=gpu) * 3).tolist() == [3.0, 3.0]


def calls_it_cuda(gpu: str, second: str, model: nn.Module) -> bool:
    return torch.ones(2, device=gpu).device == torch.device("cuda", 0)


def takes_a_module(gpu: str, second: str, model: nn.Module) -> bool:
    return next(model.to(gpu).parameters()).device.type == torch.device(gpu).type != "cpu"


def trains(gpu: str, second: str, model: nn.Module) -> bool:
    weight, bias = model.to(gpu).parameters()
    optimizer = torch.optim.Adam([weight, bias], lr=0.1)
    before = weight.detach().cpu().clone()
    model(torch.ones(2, 3, device=gpu)).sum().backward()
    optimizer.step()
    return weight.device.type != "cpu" and not torch.equal(before, weight.detach().cpu())


def runs_a_script_unchanged(gpu: str, second: str, model: nn.Module) -> bool:
    net = nn.Linear(3, 1).cuda()
    batch = torch.ones(2, 3, device="cuda" if torch.cuda.is_available() else "cpu")
    return net(batch).device.type == "cuda"


def refuses_numpy(gpu: str, second: str, model: nn.Module) -> bool:
    try:
        torch.ones(2, device=gpu).numpy()
    except TypeError as error:
        return "device type tensor to numpy" in str(error)
    return False


def has_several(gpu: str, second: str, model: nn.Module) -> bool:
    one, two = torch.ones(2, device=gpu), torch.ones(2, device=second)
    try:
        one + two
    except RuntimeError:
        return torch.cuda.device_count() == 2 and one.device != two.device
    return False


def runs_out_of_memory(gpu: str, second: str, model: nn.Module) -> bool:
    try:
        held = [torch.empty(2**30, dtype=torch.uint8, device=gpu) for _ in range(20)]  # of a T4's 14.6 GiB
    except torch.OutOfMemoryError:
        return True
    return not held


def refuses_a_batch_on_the_cpu(gpu: str, second: str, model: nn.Module) -> bool:
    layer = model.to(gpu)
    with torch.no_grad():
        layer(torch.ones(2, 3, device=gpu))
        try:
            layer(torch.ones(2, 3))
        except RuntimeError:
            return True
    return False


def is_a_model(gpu: str, second: str, model: nn.Module) -> bool:
    return torch.cuda.get_device_name(gpu) == "Tesla T4" and torch.cuda.get_device_capability(gpu) == (7, 5)


def has_streams(gpu: str, second: str, model: nn.Module) -> bool:
    stream, event = torch.cuda.Stream(), torch.cuda.Event()
    with torch.cuda.stream(stream):
        tensor = torch.ones(2, device=gpu) * 2
        event.record()
    event.synchronize()
    return tensor.tolist() == [2.0, 2.0]


ABILITIES = [
    computes_values,
    calls_it_cuda,
    takes_a_module,
    refuses_a_batch_on_the_cpu,
    trains,
    runs_a_script_unchanged,
    refuses_numpy,
    has_several,
    runs_out_of_memory,
    is_a_model,
    has_streams,
]
