"""Programs that hide where a tensor came from: behind a helper, a list, a cache, a decorator or another name."""

import functools

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from tests.doctor.broken_programs.kept import broken, classifier, loader
from torch import nn


@broken("loss_weight_not_moved", 'criterion.keywords["weight"]')
def a_function_called_train_whose_first_argument_is_a_model():
    """nn.Module has a method of that name, which this is not."""

    def weighted(counts):
        return functools.partial(F.cross_entropy, weight=1 / torch.tensor(counts))

    def train(model, criterion, batches):
        for x, y in batches:
            criterion(model(x.cuda()), y.cuda()).backward()

    train(classifier().cuda(), weighted([1.0, 2.0, 3.0, 4.0]), loader())


@broken("metric_or_accumulator_state", "self.kept[name]")
def an_average_of_weights_in_a_dict():
    class Average:
        def __init__(self, model):
            self.kept = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}

        @torch.no_grad()
        def update(self, model):
            for name, parameter in model.named_parameters():
                self.kept[name] = 0.9 * self.kept[name] + 0.1 * parameter

    model = classifier()
    average = Average(model)
    average.update(model.cuda())


@broken("wrong_default_index", "causal(len(x))")
def a_helper_that_moves_to_the_first_gpu():
    def causal(size):
        return torch.ones(size, size).tril().cuda()

    def attend(x):
        return (x @ x.t()) * causal(len(x))

    attend(torch.randn(4, 8, device="cuda:1"))


@broken("data_parallel_unreplicated_state", "noise")
def noise_moved_to_the_first_gpu_by_each_replica():
    class Generator(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            noise = torch.randn(len(x), 8)
            noise = noise.cuda(0)
            return self.layer(x + noise)

    nn.DataParallel(Generator().cuda(), device_ids=[0, 1])(torch.randn(4, 8).cuda())


@broken("input_not_moved", "initial")
def a_start_value_under_another_name():
    def euler(speed, initial, steps):
        state = initial
        for _ in range(steps):
            state = state + 0.1 * speed(state)
        return state

    layer = nn.Linear(2, 2).cuda()
    initial = torch.tensor([[2.0, 0.0]])
    euler(lambda state: layer(state**3), initial, 3)


@broken("tensor_created_in_forward_without_device", "waves(x.size(1), x.size(2))")
def a_cached_table_of_a_helper():
    @functools.lru_cache
    def waves(length, width):
        table = torch.zeros(length, width)
        table[:, ::2] = torch.arange(length)[:, None].sin()
        return table

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            return self.layer(x + waves(x.size(1), x.size(2)))

    Encoder().cuda()(torch.randn(2, 5, 8, device="cuda"))


@broken("kept_in_a_list", "self.correct")
def a_metric_in_a_list_of_a_model():
    class Accuracy(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("correct", torch.zeros(4))

        def update(self, predictions):
            self.correct += predictions.sum(0)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = classifier()
            self.metrics = [Accuracy()]

        def forward(self, x):
            out = self.model(x).detach()
            for metric in self.metrics:
                metric.update(out)
            return out

    Model().cuda()(torch.randn(2, 8, device="cuda"))


@broken("input_not_moved", "[part * 2 for part in parts]")
def a_list_made_in_the_failing_line():
    def merge(parts, first):
        return torch.cat([first] + [part * 2 for part in parts], dim=1)

    merge([torch.randn(2, 3), torch.randn(2, 4)], torch.randn(2, 2, device="cuda"))
