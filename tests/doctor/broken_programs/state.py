"""Programs whose state is left behind: moves thrown away, totals, hidden states, an optimizer's, a split model's."""

import io

import torch
from tests.doctor.broken_programs.kept import broken, classifier, loader
from torch import nn

# in_place_or_copy


@broken("in_place_or_copy", "x")
def a_move_thrown_away():
    device = torch.device("cuda")
    model = classifier().to(device)
    for x, _ in loader():
        x.to(device)
        model(x)


@broken("in_place_or_copy", "inputs")
def a_cuda_thrown_away():
    model = classifier().cuda()
    inputs = torch.randn(2, 8)
    inputs.cuda()
    model(inputs)


@broken("in_place_or_copy", "flat")
def a_name_taken_before_the_move():
    model = classifier().cuda()
    x = torch.randn(2, 8)
    flat = x
    x = x.cuda()
    model(flat)


@broken("in_place_or_copy", "weight")
def a_name_of_a_weight_taken_before_the_move():
    encoder = nn.Linear(3, 8, bias=False)
    weight = encoder.weight.data
    encoder.to("cuda")
    return encoder(torch.randn(4, 3, device="cuda")) @ weight


@broken("in_place_or_copy", "var")
def a_buffer_that_the_move_replaced():
    def spread(x, var):
        return x / var.sqrt()

    norm = nn.BatchNorm1d(3)
    var = norm.running_var
    norm.to("cuda")
    spread(torch.randn(4, 3, device="cuda"), var)


@broken("in_place_or_copy", "self.back")
def an_attribute_that_was_taken_of_a_weight():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(3, 8, bias=False)
            self.back = self.encoder.weight.detach()

        def forward(self, x):
            return self.encoder(x) @ self.back

    Tied().cuda()(torch.randn(4, 3, device="cuda"))


@broken("input_not_moved", "average")
def an_average_that_began_as_a_weight():
    model = nn.Linear(3, 8)
    average = model.weight.data
    model.to("cuda")
    average.lerp_(model.weight.data, 0.1)


@broken("input_not_moved", "average[name]")
def an_average_from_a_checkpoint():
    model = nn.Linear(3, 8).to("cuda")
    file = io.BytesIO()
    torch.save({"average": model.state_dict()}, file)
    file.seek(0)
    average = torch.load(file, map_location="cpu")["average"]
    for name, weight in model.named_parameters():
        average[name].lerp_(weight.detach(), 0.1)


# cached_before_move


@broken("cached_before_move", "self.table")
def a_table_of_the_first_call():
    class Positions(nn.Module):
        table = None

        def forward(self, x):
            if self.table is None:
                self.table = torch.linspace(0, 1, x.shape[1], device=x.device)
            return x + self.table

    model = Positions()
    model(torch.ones(1, 8))
    model.to("cuda")(torch.ones(1, 8, device="cuda"))


# metric_or_accumulator_state


@broken("metric_or_accumulator_state", "total")
def a_running_total():
    model = classifier().cuda()
    total = torch.zeros(4)
    for x, _ in loader():
        total += model(x.cuda()).detach().sum(0)


@broken("metric_or_accumulator_state", "self.correct")
def a_metric_object():
    class Accuracy:
        def __init__(self):
            self.correct = torch.zeros(8)

        def update(self, predicted, y):
            self.correct += predicted == y

    metric = Accuracy()
    for _, y in loader():
        metric.update(y.cuda(), y.cuda())


@broken("tensors_of_two_devices_joined", "outputs[0]")
def a_list_that_began_on_the_cpu():
    model = classifier().cuda()
    outputs = [torch.zeros(1, 4)]
    for x, _ in loader():
        outputs.append(model(x.cuda()))
    torch.cat(outputs)


class Total(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(()))

    def update(self, x):
        self.total += x.sum()

    def reset(self):
        self.total = torch.zeros(())


@broken("metric_or_accumulator_state", "self.total")
def a_buffer_that_reset_replaced():
    metric = Total().cuda()
    for _ in range(2):
        metric.update(torch.ones(3, device="cuda"))
        metric.reset()


@broken("model_not_moved", "self.total")
def a_metric_with_a_reset_that_nobody_moved():
    metric = Total()
    metric.update(torch.ones(3, device="cuda"))


# tensors_of_two_devices_joined


@broken("tensors_of_two_devices_joined", "chosen[2]")
def a_replay_memory():
    memory = [(torch.randn(4), torch.tensor(0)) for _ in range(6)]
    memory.append((torch.randn(4), torch.tensor(1, device="cuda")))
    states, chosen = zip(*[memory[place] for place in (0, 3, 6)], strict=True)
    return torch.stack(states), torch.stack(chosen)


@broken("tensors_of_two_devices_joined", "sample[0][1]")
def a_replay_memory_unpacked_by_map():
    memory = [(torch.randn(4), torch.tensor(1, device="cuda"))]
    memory += [(torch.randn(4), torch.tensor(0)) for _ in range(6)]
    sample = memory[:3]
    states, chosen = map(torch.stack, zip(*sample, strict=True))
    return states, chosen


# hidden_state_not_moved


@broken("hidden_state_not_moved", "hidden")
def the_state_of_a_gru():
    rnn = nn.GRU(8, 16).cuda()
    x = torch.randn(4, 2, 8).cuda()
    hidden = torch.zeros(1, 2, 16)
    rnn(x, hidden)


@broken("hidden_state_not_moved", "h0")
def the_state_of_an_lstm():
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(8, 16, batch_first=True)

        def forward(self, x):
            h0 = torch.zeros(1, x.size(0), 16)
            c0 = torch.zeros(1, x.size(0), 16)
            return self.lstm(x, (h0, c0))

    Tagger().cuda()(torch.randn(2, 4, 8, device="cuda"))


# optimizer_state_device


@broken("optimizer_state_device", 'optimizer.state[model.weight]["exp_avg"]')
def adam_that_stepped_before_the_move():
    model = nn.Linear(8, 4)
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    model(torch.randn(2, 8)).sum().backward()
    optimizer.step()
    model.cuda()
    optimizer.zero_grad()
    model(torch.randn(2, 8, device="cuda")).sum().backward()
    optimizer.step()


@broken("optimizer_state_device", 'optimizer.state[model.weight]["step"]')
def a_fused_adam_whose_averages_alone_were_moved():
    model = nn.Linear(8, 4)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    model(torch.randn(2, 8)).sum().backward()
    optimizer.step()
    model.cuda()
    for state in optimizer.state.values():
        for key in ("exp_avg", "exp_avg_sq"):
            state[key] = state[key].cuda()
    optimizer.step()


@broken("optimizer_state_device", 'optimizer.state[model.weight]["sum"]')
def adagrad_that_was_built_before_the_move():
    model = nn.Linear(8, 4)
    optimizer = torch.optim.Adagrad(model.parameters())
    model.cuda()
    model(torch.randn(2, 8, device="cuda")).sum().backward()
    optimizer.step()


@broken("optimizer_state_device", 'self.optimizer.state[self.model.weight]["momentum_buffer"]')
def momentum_of_a_resumed_run():
    class Run:
        def __init__(self):
            self.model = nn.Linear(8, 4)
            self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1, momentum=0.9, foreach=False)

        def step(self, x):
            self.optimizer.zero_grad()
            self.model(x).sum().backward()
            self.optimizer.step()

    run = Run()
    run.step(torch.randn(2, 8))
    run.model.to("cuda:1")
    run.step(torch.randn(2, 8, device="cuda:1"))


# split_model_activation_not_moved


@broken("split_model_activation_not_moved", "hidden")
def an_activation_between_two_gpus():
    first, second = nn.Linear(8, 16).to("cuda:0"), nn.Linear(16, 4).to("cuda:1")
    hidden = first(torch.randn(2, 8, device="cuda:0"))
    second(hidden)


@broken("split_model_activation_not_moved", "self.encoder(x)")
def halves_of_one_module():
    class Split(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(8, 16).to("cuda:0")
            self.decoder = nn.Linear(16, 4).to("cuda:1")

        def forward(self, x):
            return self.decoder(self.encoder(x))

    Split()(torch.randn(2, 8, device="cuda:0"))


@broken("split_model_activation_not_moved", "skip")
def a_skip_over_two_gpus():
    down, up = nn.Linear(8, 8).to("cuda:0"), nn.Linear(8, 8).to("cuda:1")
    skip = down(torch.randn(2, 8, device="cuda:0"))
    out = up(skip.to("cuda:1"))
    return out + skip


# wrong_default_index


@broken("wrong_default_index", "x")
def a_bare_cuda():
    model = nn.Linear(8, 4).to("cuda:1")
    x = torch.randn(2, 8).cuda()
    model(x)


@broken("wrong_default_index", "mask")
def a_bare_device():
    x = torch.randn(2, 8, device="cuda:1")
    mask = torch.ones(8, device="cuda")
    return x * mask
