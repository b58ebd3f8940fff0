"""The object at fault is named, in programs that many people write, and nothing on the GPU is said to be on the CPU."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from samedevice import explain, simulate_cuda


def diagnosed(program):
    with simulate_cuda(1):
        try:
            program()
        except (RuntimeError, TypeError) as error:
            return explain(error)
    pytest.fail("the program ran to its end")


class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 4)

    def forward(self, idx):
        device = idx.device
        return self.emb(idx) + self.emb(torch.arange(idx.size(1), device=device))


def batch_not_moved():
    model = Embedded().to("cuda")
    tokens = torch.randint(0, 10, (8, 4))
    for x, _y in DataLoader(TensorDataset(tokens, tokens), 4):
        model(x)


def weights_in_a_closure():
    net = nn.Linear(3, 3).cuda()
    x = torch.ones(2, 3, device="cuda")
    opt = torch.optim.SGD(net.parameters(), 0.1)

    def closure():
        loss = (net(x) * torch.ones(3)).sum()
        loss.backward()
        return loss

    opt.step(closure)


class Offloaded(nn.Module):
    """Its weights are on the GPU while it runs, and on the CPU before and after."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x):
        self.inner.cuda()
        try:
            return self.inner(x)
        finally:
            self.inner.cpu()


class Returned(nn.Module):
    """A layer on the GPU whose result is brought to the CPU."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3).cuda()

    def forward(self, x):
        return self.inner(x).cpu()


def two_results_that_nobody_kept():
    offloaded, returned = Offloaded(), Returned()
    x = torch.ones(2, 3, device="cuda")
    offloaded(x) + returned(x)


def fitted(device):
    model, losses = nn.Linear(3, 1).to(device), []
    for row in torch.ones(4, 3):
        losses.append(model(row.to(device)).sum().detach())
    return torch.stack(losses)


def saved(values):
    return values.numpy()


def results_that_another_function_saves():
    losses = fitted("cuda")
    saved(losses)


def test_a_batch_is_at_fault_though_forward_has_a_local_named_device():
    culprit = diagnosed(batch_not_moved).culprits[0]
    assert (culprit.expression, culprit.cause, culprit.fix) == (
        "x",
        "input_not_moved",
        "x = x.to(next(model.parameters()).device)",
    )


def test_a_tensor_made_in_a_closure_of_the_optimizer_is_at_fault():
    culprit = diagnosed(weights_in_a_closure).culprits[0]
    assert culprit.expression == "torch.ones(3)"
    assert culprit.cause == "tensor_created_in_forward_without_device"


def test_of_two_results_that_nobody_kept_none_is_said_to_be_somewhere():
    diagnosis = diagnosed(two_results_that_nobody_kept)
    assert diagnosis.culprits == ()
    assert diagnosis.message.id == "SD002"
    assert "is on c" not in str(diagnosis).partition("Less likely")[0], str(diagnosis)


def test_what_a_function_computed_of_moved_tensors_is_no_move_and_is_copied_where_numpy_reads_it():
    culprit = diagnosed(results_that_another_function_saves).culprits[0]
    assert (culprit.expression, culprit.owner) == ("losses", "result of a call")
    assert culprit.fix == "return values.cpu().numpy()"
    assert [(edit.function, edit.text) for edit in culprit.edits] == [("saved", culprit.fix)]
