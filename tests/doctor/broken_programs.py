"""Programs that fail, two guises or more for each cause that simulated GPUs can show, as people write them.

`@broken(cause, culprit)` names the cause and the expression of the tensor at fault, as the source has it. Each program
runs on two simulated GPUs, and has its own frames: nothing here is read as text.
"""

import functools
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass(frozen=True)
class Broken:
    run: Callable[[], object]
    cause: str
    culprit: str


PROGRAMS: dict[str, Broken] = {}


def broken(cause: str, culprit: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def keep(run: Callable[[], object]) -> Callable[[], object]:
        PROGRAMS[run.__name__] = Broken(run, cause, culprit)
        return run

    return keep


def classifier() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def loader() -> DataLoader:
    return DataLoader(TensorDataset(torch.randn(16, 8), torch.randint(4, (16,))), batch_size=8)


# input_not_moved


@broken("input_not_moved", "x")
def a_batch_of_a_loop():
    model = classifier().to("cuda")
    for x, _ in loader():
        model(x)


@broken("input_not_moved", 'batch["input_ids"]')
def a_dict_of_token_ids():
    model = nn.Embedding(100, 8).cuda()
    batch = {"input_ids": torch.tensor([[1, 2, 3]]), "labels": torch.tensor([1])}
    return model(batch["input_ids"])


@broken("input_not_moved", "images")
def an_argument_of_a_helper():
    device = torch.device("cuda")
    model = nn.Conv2d(3, 4, 3).to(device)

    def step(model, images):
        return model(images).mean()

    for images in DataLoader(torch.randn(4, 3, 8, 8), batch_size=2):
        step(model, images)


@broken("input_not_moved", "x")
def a_comprehension_over_a_loader():
    model = classifier().cuda()
    with torch.no_grad():
        return [model(x).argmax(1) for x, _ in loader()]


@broken("input_not_moved", "x")
def a_trainer_class():
    class Trainer:
        def __init__(self):
            self.device = torch.device("cuda")
            self.model = classifier().to(self.device)

        def step(self, batch):
            x, y = batch
            return self.model(x), y

        def fit(self):
            for batch in loader():
                self.step(batch)

    Trainer().fit()


@broken("input_not_moved", "x")
def a_method_chain():
    model = classifier().cuda()
    for x, _ in loader():
        model(x.float().mul(2))


@broken("input_not_moved", "batch")
def a_lambda():
    model = classifier().cuda()
    predict = lambda b: model(b)  # noqa: E731
    batch = next(iter(loader()))[0]
    predict(b=batch)


# target_not_moved


@broken("target_not_moved", "y")
def labels_of_a_loop():
    device = torch.device("cuda")
    model, criterion = classifier().to(device), nn.CrossEntropyLoss()
    for x, y in loader():
        x = x.to(device)
        criterion(model(x), y)


@broken("target_not_moved", "target")
def a_functional_loss():
    model = nn.Linear(8, 1).cuda()
    data = DataLoader(TensorDataset(torch.randn(16, 8), torch.rand(16, 1)), batch_size=8)
    for x, target in data:
        F.binary_cross_entropy_with_logits(model(x.cuda()), target)


@broken("target_not_moved", 'batch["labels"]')
def labels_in_a_dict():
    model = classifier().cuda()
    for x, y in loader():
        batch = {"x": x.cuda(), "labels": y}
        F.cross_entropy(model(batch["x"]), batch["labels"])


# model_not_moved


@broken("model_not_moved", "model[0].weight")
def a_model_that_nobody_moved():
    model = classifier()
    for x, _ in loader():
        model(x.cuda())


@broken("model_not_moved", "self.encoder.weight")
def a_module_that_was_left_out():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(8, 8)
            self.head = nn.Linear(8, 2)

        def forward(self, x):
            return self.head(self.encoder(x))

    net = Net()
    net.head.to("cuda")
    net(torch.randn(2, 8, device="cuda"))


@broken("model_not_moved", "teacher.weight")
def a_teacher():
    student, teacher = nn.Linear(8, 4).cuda(), nn.Linear(8, 4)
    x = torch.randn(2, 8).cuda()
    return F.mse_loss(student(x), teacher(x))


# tensor_created_in_forward_without_device


@broken("tensor_created_in_forward_without_device", "positions")
def positions_in_forward():
    class Embed(nn.Module):
        def __init__(self):
            super().__init__()
            self.position = nn.Embedding(16, 8)

        def forward(self, x):
            positions = torch.arange(x.shape[1])
            return x + self.position(positions)

    Embed().to("cuda")(torch.randn(2, 5, 8, device="cuda"))


@broken("tensor_created_in_forward_without_device", "torch.zeros(x.shape[0], 1)")
def a_factory_in_the_failing_line():
    class Pad(nn.Module):
        def forward(self, x):
            return torch.cat([x, torch.zeros(x.shape[0], 1)], dim=1)

    Pad().cuda()(torch.randn(2, 5, device="cuda"))


@broken("tensor_created_in_forward_without_device", "mask")
def a_mask_of_a_helper():
    def causal(scores):
        size = scores.shape[-1]
        mask = torch.triu(torch.ones(size, size), diagonal=1).bool()
        return scores.masked_fill(mask, float("-inf"))

    causal(torch.randn(2, 4, 4, device="cuda"))


@broken("tensor_created_in_forward_without_device", "noise")
def noise_under_a_decorator():
    def logged(function):
        @functools.wraps(function)
        def inner(*args):
            return function(*args)

        return inner

    @logged
    def augment(x):
        noise = torch.randn(x.shape) * 0.1
        return x + noise

    augment(torch.randn(2, 4, device="cuda"))


# unregistered_tensor_attribute


@broken("unregistered_tensor_attribute", "self.mean")
def a_plain_tensor():
    class Normalise(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.zeros(8)

        def forward(self, x):
            return x - self.mean

    nn.Sequential(Normalise(), nn.Linear(8, 2)).cuda()(torch.randn(2, 8, device="cuda"))


@broken("unregistered_tensor_attribute", "self.blocks[0].weight")
def layers_in_a_list():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = [nn.Linear(8, 8) for _ in range(3)]
            self.head = nn.Linear(8, 2)

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return self.head(x)

    Net().cuda()(torch.randn(2, 8, device="cuda"))


@broken("unregistered_tensor_attribute", 'self.heads["a"].weight')
def layers_in_a_dict():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.heads = {"a": nn.Linear(8, 2), "b": nn.Linear(8, 3)}

        def forward(self, x, task):
            return self.heads[task](x)

    Net().cuda()(torch.randn(2, 8, device="cuda"), "a")


@broken("unregistered_tensor_attribute", "self.alpha")
def a_loss_of_ones_own():
    class FocalLoss(nn.Module):
        def __init__(self, alpha):
            super().__init__()
            self.alpha = alpha

        def forward(self, logits, target):
            return (self.alpha * F.one_hot(target, 4) * -logits.log_softmax(1)).sum(1).mean()

    loss = FocalLoss(torch.ones(4)).to("cuda")
    loss(torch.randn(2, 4, device="cuda"), torch.tensor([0, 1], device="cuda"))


@broken("unregistered_tensor_attribute", "self.anchors[0]")
def tensors_in_a_list():
    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.anchors = [torch.ones(4), torch.ones(4)]

        def forward(self, x):
            return x * self.anchors[0]

    Head().cuda()(torch.randn(2, 4, device="cuda"))


# submodule_created_in_forward


@broken("submodule_created_in_forward", "project.weight")
def a_layer_made_in_forward():
    class Net(nn.Module):
        def forward(self, x):
            project = nn.Linear(x.shape[1], 4)
            return project(x)

    Net().cuda()(torch.randn(2, 8, device="cuda"))


@broken("submodule_created_in_forward", "nn.LayerNorm(8)")
def a_layer_made_and_called_at_once():
    class Net(nn.Module):
        def forward(self, x):
            return nn.LayerNorm(8)(x)

    Net().cuda()(torch.randn(2, 8, device="cuda"))


# loss_weight_not_moved


@broken("loss_weight_not_moved", "criterion.weight")
def class_weights():
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 1.0, 1.0]))
    model = classifier().cuda()
    for x, y in loader():
        criterion(model(x.cuda()), y.cuda())


@broken("loss_weight_not_moved", "self.loss.pos_weight")
def pos_weight_of_a_module():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 3).cuda()
            self.loss = nn.BCEWithLogitsLoss(pos_weight=torch.ones(3))

        def forward(self, x, y):
            return self.loss(self.fc(x), y)

    Net()(torch.randn(2, 8, device="cuda"), torch.rand(2, 3, device="cuda"))


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


@broken("metric_or_accumulator_state", "outputs[0]")
def a_list_that_began_on_the_cpu():
    model = classifier().cuda()
    outputs = [torch.zeros(1, 4)]
    for x, _ in loader():
        outputs.append(model(x.cuda()))
    torch.cat(outputs)


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


# index_on_wrong_device


@broken("index_on_wrong_device", "weights")
def class_weights_by_label():
    weights = torch.tensor([0.1, 0.2, 0.7, 0.5])
    for _, y in loader():
        y = y.to("cuda")
        weights[y].mean()


@broken("index_on_wrong_device", "self.table")
def a_table_by_index():
    class Lookup:
        def __init__(self):
            self.table = torch.randn(10, 4)

        def __call__(self, ids):
            return self.table[ids]

    Lookup()(torch.tensor([1, 2], device="cuda"))


# numpy_conversion


@broken("numpy_conversion", "out")
def a_plot():
    out = classifier().cuda()(torch.randn(2, 8, device="cuda")).detach()
    return out.numpy()


@broken("numpy_conversion", "losses[0]")
def an_average_of_losses():
    losses = [torch.ones(2, device="cuda"), torch.ones(2, device="cuda")]
    return numpy.mean([numpy.asarray(losses[0]), 1.0])


# generator_device


@broken("generator_device", "generator")
def a_cpu_generator():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(2, device="cuda", generator=generator)


@broken("generator_device", "g")
def a_generator_for_a_permutation():
    g = torch.Generator()
    return torch.randperm(4, generator=g, device="cuda")


# container_not_moved


@broken("container_not_moved", "batch")
def a_dict_has_no_to():
    batch = {"x": torch.randn(2, 8), "y": torch.zeros(2)}
    batch.to("cuda")


@broken("container_not_moved", "batch")
def a_list_has_no_cuda():
    for batch in loader():
        batch.cuda()


# data_parallel_root_device


@broken("data_parallel_root_device", "model.module.weight")
def a_wrapped_model_on_the_cpu():
    model = nn.DataParallel(nn.Linear(8, 4), device_ids=[0, 1])
    model(torch.randn(4, 8))


@broken("data_parallel_root_device", "net[0].weight")
def a_wrapped_model_on_the_second_gpu():
    net = classifier().to("cuda:1")
    parallel = nn.DataParallel(net, device_ids=[0, 1])
    for x, _ in loader():
        parallel(x.cuda())


# data_parallel_unreplicated_state


@broken("data_parallel_unreplicated_state", "self.scale")
def a_plain_attribute_under_data_parallel():
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.ones(8, device="cuda:0")

        def forward(self, x):
            return x * self.scale

    nn.DataParallel(Scale().cuda(), device_ids=[0, 1])(torch.randn(4, 8, device="cuda"))


@broken("data_parallel_unreplicated_state", "self.layers[0].weight")
def layers_in_a_list_under_data_parallel():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(8, 8).cuda()]
            self.head = nn.Linear(8, 2)

        def forward(self, x):
            return self.head(self.layers[0](x))

    nn.DataParallel(Net().cuda(), device_ids=[0, 1])(torch.randn(4, 8, device="cuda"))


# grad_device


@broken("grad_device", "torch.ones(3)")
def a_gradient_assigned():
    w = torch.randn(3, device="cuda", requires_grad=True)
    w.grad = torch.ones(3)


@broken("grad_device", "seed")
def a_gradient_passed_to_backward():
    w = torch.randn(3, device="cuda", requires_grad=True)
    seed = torch.ones(3)
    (w * 2).backward(gradient=seed)


# meta_device_leftover


@broken("meta_device_leftover", "model.weight")
def a_model_of_meta():
    with torch.device("meta"):
        model = nn.Linear(8, 4)
    model.to("cuda")


@broken("meta_device_leftover", "net[0].weight")
def a_state_that_was_not_assigned():
    state = classifier().state_dict()
    with torch.device("meta"):
        net = classifier()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net.load_state_dict(state)
    net.cuda()


# pin_memory_on_cuda_tensor


@broken("pin_memory_on_cuda_tensor", "x")
def a_gpu_tensor_pinned():
    x = torch.ones(3, device="cuda")
    return x.pin_memory()


@broken("pin_memory_on_cuda_tensor", 'batch["x"]')
def a_batch_pinned_after_its_move():
    batch = {"x": torch.ones(3).cuda()}
    return {"x": batch["x"].pin_memory()}


# cpu_only_argument


@broken("cpu_only_argument", "lengths")
def lengths_on_the_gpu():
    x, lengths = torch.randn(2, 5, 3, device="cuda"), torch.tensor([5, 4], device="cuda")
    nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)


@broken("cpu_only_argument", "places")
def places_to_split_at():
    places = torch.tensor([1, 3]).cuda()
    torch.tensor_split(torch.randn(5, device="cuda"), places)


# legacy_constructor_device


@broken("legacy_constructor_device", "device")
def a_capital_t():
    device = torch.device("cuda")
    return torch.Tensor([0.5, 0.4], device=device)


@broken("legacy_constructor_device", '"cuda"')
def a_capital_t_with_text():
    return torch.Tensor([0.5, 0.4], device="cuda")


# device_ordinal_unavailable


@broken("device_ordinal_unavailable", '"cuda:5"')
def a_gpu_that_is_not_there():
    return nn.Linear(8, 4).to("cuda:5")


@broken("device_ordinal_unavailable", "device")
def a_gpu_by_rank():
    rank = 3
    device = torch.device(f"cuda:{rank}")
    return torch.zeros(2).to(device)


# misspelt_device


@broken("misspelt_device", 'f"cuda{gpu}"')
def no_colon():
    gpu = 1
    return torch.device(f"cuda{gpu}")


@broken("misspelt_device", "name")
def the_name_of_a_gpu():
    name = "gpu"
    return torch.zeros(2).to(name)


# checkpoint_map_location


@broken("checkpoint_map_location", "buffer")
def a_checkpoint_of_a_larger_machine():
    buffer = io.BytesIO()
    torch.save({"w": torch.zeros(2, device="cuda:1")}, buffer)
    data = buffer.getvalue().replace(b"cuda:1", b"cuda:7")
    buffer = io.BytesIO(data)
    torch.load(buffer)


# data_parallel_output_on_cpu


@broken("data_parallel_output_on_cpu", "super().forward(x).cpu()")
def a_replica_that_returns_a_cpu_tensor():
    class Net(nn.Linear):
        def forward(self, x):
            return super().forward(x).cpu()

    model = nn.DataParallel(Net(8, 4).cuda(), device_ids=[0, 1])
    model(torch.randn(4, 8, device="cuda"))


# The same causes in the code of other people.


@broken("tensor_created_in_forward_without_device", "noise")
def the_noise_of_a_gan():
    device = torch.device("cuda")
    generator = nn.Sequential(nn.ConvTranspose2d(4, 2, 4), nn.ReLU()).to(device)
    for real in DataLoader(torch.randn(4, 1, 4, 4), batch_size=2):
        size = real.to(device).size(0)
        noise = torch.randn(size, 4, 1, 1)
        generator(noise)


@broken("tensor_created_in_forward_without_device", "causal")
def a_mask_that_is_compared():
    class Attention(nn.Module):
        def forward(self, scores):
            size = scores.size(-1)
            causal = torch.tril(torch.ones(size, size)).view(1, size, size) == 0
            return scores.masked_fill(causal, float("-inf"))

    Attention().cuda()(torch.randn(2, 4, 4, device="cuda"))


@broken("tensor_created_in_forward_without_device", "prior")
def a_prior_of_the_function_around():
    def penalty_for(size):
        prior = torch.zeros(size)

        def penalty(weight):
            return ((weight - prior) ** 2).sum()

        return penalty

    penalty_for(8)(nn.Linear(8, 1).cuda().weight)


@broken("tensor_created_in_forward_without_device", "mu")
def a_distribution_divided_by_its_size():
    def marginals(cost):
        mu = torch.ones(cost.shape[0]) / cost.shape[0]
        return mu * cost.sum(1)

    marginals(torch.rand(3, 3, device="cuda"))


CLASS_WEIGHTS = torch.tensor([1.0, 5.0, 2.0, 1.0])


@broken("loss_weight_not_moved", "CLASS_WEIGHTS")
def weights_of_the_script():
    def loss(logits, labels):
        return F.cross_entropy(logits, labels, weight=CLASS_WEIGHTS)

    for x, y in loader():
        loss(classifier().cuda()(x.cuda()), y.cuda())


@broken("loss_weight_not_moved", "weights")
def weights_bound_by_partial():
    weights = torch.tensor([0.1, 0.9, 1.0, 1.0])
    criterion = functools.partial(F.cross_entropy, weight=weights, reduction="sum")
    for x, y in loader():
        criterion(classifier().cuda()(x.cuda()), y.cuda())


@broken("split_model_activation_not_moved", "x")
def blocks_over_two_gpus():
    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(nn.Linear(8, 8).to(f"cuda:{index}") for index in range(2))

        def forward(self, x):
            for block in self.blocks:
                x = torch.relu(block(x))
            return x

    Deep()(torch.randn(2, 8, device="cuda:0"))


@broken("input_not_moved", "batch.images")
def a_dataclass_of_a_batch():
    @dataclass
    class Batch:
        images: torch.Tensor
        labels: torch.Tensor

    def collate(rows):
        return Batch(torch.stack([x for x, _ in rows]), torch.stack([y for _, y in rows]))

    model = classifier().cuda()
    for batch in DataLoader(loader().dataset, batch_size=8, collate_fn=collate):
        model(batch.images)


class Pair(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


@broken("target_not_moved", "pair.y")
def a_named_tuple_of_a_batch():
    model, loss = classifier().cuda(), nn.CrossEntropyLoss()
    for pair in (Pair(x, y) for x, y in loader()):
        pair = pair._replace(x=pair.x.cuda())
        loss(model(pair.x), pair.y)


@broken("input_not_moved", "images")
def a_step_under_no_grad():
    @torch.no_grad()
    def validate(model, images):
        return model(images).argmax(1)

    model = nn.Sequential(nn.Flatten(), nn.Linear(9, 2)).cuda()
    for images in DataLoader(torch.rand(4, 3, 3), batch_size=2):
        validate(model, images)


@broken("unregistered_tensor_attribute", "self.scale")
def a_property_over_a_plain_tensor():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self._scale = torch.full((4,), 0.5)

        @property
        def scale(self):
            return self._scale

        def forward(self, x):
            return x * self.scale

    Scaled().cuda()(torch.ones(2, 4, device="cuda"))


@broken("unregistered_tensor_attribute", "self.ANCHORS")
def a_tensor_of_the_class():
    class Detector(nn.Module):
        ANCHORS = torch.tensor([[1.0, 2.0], [2.0, 1.0]])

        def forward(self, x):
            return x[:, None] * self.ANCHORS

    Detector().cuda()(torch.ones(3, 2, device="cuda"))


@broken("unregistered_tensor_attribute", "self.table")
def a_view_with_a_name_of_its_own():
    class Position(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.zeros(1, 50, 8)

        def forward(self, x):
            table = self.table[:, : x.shape[1]]
            return x + table

    Position().cuda()(torch.randn(2, 5, 8, device="cuda"))


@broken("unregistered_tensor_attribute", "self.mean")
def statistics_of_a_mixin():
    class Normalises:
        def set_statistics(self, mean):
            self.mean = torch.as_tensor(mean)

        def normalised(self, x):
            return x - self.mean

    class Net(Normalises, nn.Module):
        def __init__(self):
            super().__init__()
            self.set_statistics([0.5] * 8)

        def forward(self, x):
            return self.normalised(x)

    Net().cuda()(torch.randn(2, 8, device="cuda"))


@broken("metric_or_accumulator_state", "self.shadow[name]")
def a_moving_average_of_weights():
    class Average:
        def __init__(self, model):
            self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

        def update(self, model):
            for name, p in model.named_parameters():
                self.shadow[name].mul_(0.9).add_(p.detach(), alpha=0.1)

    model = nn.Linear(8, 4)
    average = Average(model)
    average.update(model.cuda())


@broken("metric_or_accumulator_state", "self.best")
def the_best_so_far():
    class Best:
        def __init__(self):
            self.best = torch.full((4,), float("inf"))

        def update(self, losses):
            better = losses < self.best
            self.best[better] = losses[better]

    Best().update(torch.rand(4, device="cuda"))


@broken("in_place_or_copy", "x")
def a_helper_that_moves_in_vain():
    def to_device(tensors, device):
        for tensor in tensors:
            tensor.to(device)
        return tensors

    model = classifier().cuda()
    for batch in loader():
        x, _ = to_device(batch, "cuda")
        model(x)


@broken("in_place_or_copy", "graph.x")
def a_to_of_ones_own():
    class Graph:
        def __init__(self, x):
            self.x = x

        def to(self, device):
            self.x.to(device)
            return self

    graph = Graph(torch.randn(2, 8)).to("cuda")
    classifier().cuda()(graph.x)


@broken("submodule_created_in_forward", "conv.weight")
def a_layer_of_a_helper():
    def shortcut(x):
        conv = nn.Conv2d(x.shape[1], 4, 1)
        return conv(x)

    class Block(nn.Module):
        def forward(self, x):
            return shortcut(x)

    Block().cuda()(torch.randn(1, 3, 4, 4, device="cuda"))


@broken("hardcoded_cuda", "kernel")
def a_helper_that_wants_a_gpu():
    def blur(signal):
        kernel = torch.ones(1, 1, 3).cuda() / 3
        return F.conv1d(signal, kernel, padding=1)

    device = torch.device("cpu")
    blur(torch.randn(2, 1, 8, device=device))


@broken("hardcoded_cuda", "target")
def soft_labels_on_a_gpu():
    def soft(y):
        return torch.full((len(y), 4), 0.1, device="cuda")

    device = "cpu"
    model = classifier().to(device)
    for x, y in loader():
        target = soft(y)
        return -(model(x.to(device)).log_softmax(1) * target).sum()


@broken("grad_device", "torch.ones(x.shape)")
def a_backward_of_ones_own():
    class Clamp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(-1, 1)

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return torch.ones(x.shape)

    Clamp.apply(torch.randn(4, device="cuda", requires_grad=True)).sum().backward()


@broken("data_parallel_unreplicated_state", "noise")
def a_stored_device_under_data_parallel():
    class Noisy(nn.Module):
        def __init__(self, device):
            super().__init__()
            self.device = device

        def forward(self, x):
            noise = torch.randn(x.shape, device=self.device)
            return x + noise

    nn.DataParallel(Noisy(torch.device("cuda:0")), device_ids=[0, 1])(torch.randn(4, 8, device="cuda"))


@broken("data_parallel_output_shape", "self.embed(ids[:, :longest])")
def replicas_of_two_lengths():
    class Crop(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(10, 4)

        def forward(self, ids):
            longest = int((ids != 0).sum(1).max())
            return self.embed(ids[:, :longest])

    ids = torch.tensor([[1, 2, 3], [1, 2, 0], [1, 0, 0], [2, 0, 0]], device="cuda")
    nn.DataParallel(Crop().cuda(), device_ids=[0, 1])(ids)


@broken("fork_cuda", "torch.stack(rows).to(device)")
def a_collate_that_moves():
    device = torch.device("cuda")
    torch.ones(1, device=device)

    def collate(rows):
        return torch.stack(rows).to(device)

    for _ in DataLoader(torch.ones(4, 2), 2, collate_fn=collate, num_workers=1, multiprocessing_context="fork"):
        pass


@broken("target_not_moved", "y")
def an_error_told_again():
    class StepError(Exception):
        pass

    def step(model, batch):
        return F.cross_entropy(model(batch["image"].cuda()), batch["label"])

    x, y = next(iter(loader()))
    try:
        step(classifier().cuda(), {"image": x, "label": y})
    except RuntimeError as error:
        raise StepError(f"step 3: {error}")  # noqa: B904 - people write it so


# The same in other guises: without a file, and in a notebook's cell.

WITHOUT_A_FILE = {
    "input_not_moved": (
        "x",
        """
def run(model, x):
    return model(x)

for x, y in loader():
    run(classifier().cuda(), x)
""",
    ),
    "unregistered_tensor_attribute": (
        "self.mean",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(8)
    def forward(self, x):
        return x - self.mean

Net().cuda()(torch.randn(2, 8, device="cuda"))
""",
    ),
    "tensor_created_in_forward_without_device": (
        "positions",
        """
class Net(nn.Embedding):
    def forward(self, x):
        positions = torch.arange(x.shape[1])
        return super().forward(positions)

Net(10, 4).cuda()(torch.randn(2, 8, device="cuda"))
""",
    ),
    "model_not_moved": (
        "model.weight",
        """
model = nn.Linear(8, 4)
out = model(torch.randn(2, 8, device="cuda"))
""",
    ),
    "split_model_activation_not_moved": (
        "hidden",
        """
a, b = nn.Linear(8, 8).to("cuda:0"), nn.Linear(8, 4).to("cuda:1")
hidden = a(torch.randn(2, 8, device="cuda:0"))
out = b(hidden)
""",
    ),
    "metric_or_accumulator_state": (
        "total",
        """
total = torch.zeros(1)
for i in range(3):
    loss = torch.ones(1, device="cuda")
    total += loss
""",
    ),
}

# A library, as it stands in site-packages, and what calls it.

LIBRARY = """
import torch
from torch import nn


def with_positions(x):
    positions = torch.arange(x.shape[1])
    return x + positions


class Centre(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(8)

    def forward(self, x):
        return x - self.mean


class Trainer:
    def __init__(self, model):
        self.model = model

    def fit(self, loader):
        for batch in loader:
            inputs, labels = batch
            self.model(inputs.flatten(1))
"""

WITH_A_LIBRARY = {
    "a function": ("library_bug", "positions", 'library.with_positions(torch.randn(2, 8, device="cuda"))'),
    "a module": ("library_bug", "self.mean", 'library.Centre().cuda()(torch.randn(2, 8, device="cuda"))'),
    "the user's batch": ("input_not_moved", "inputs", "library.Trainer(classifier().cuda()).fit(loader())"),
    "the user's mask": ("input_not_moved", "x", "for x, y in loader():\n    classifier().cuda()(x)"),
}

# Whole programs, in which the line that ends with `# <-` is to be replaced by the fix.

MENDABLE = {
    "a batch": """
model = classifier().cuda()
for x, y in loader():
    model(x)  # <-
""",
    "a factory": """
def add_noise(x):
    noise = torch.randn(x.shape)  # <-
    return x + noise

add_noise(torch.ones(3, device="cuda"))
""",
    "labels, made before the output": """
def loss(real):
    label = torch.full((real.size(0),), 1.0)  # <-
    out = real.sum(1)
    return nn.functional.binary_cross_entropy_with_logits(out, label)

loss(torch.randn(4, 8, device="cuda"))
""",
    "a plain tensor": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(8)  # <-

    def forward(self, x):
        return x - self.mean

Net().cuda()(torch.randn(2, 8, device="cuda"))
""",
    "tensors in a list": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.levels = [torch.zeros(8), torch.ones(8)]  # <-

    def forward(self, x):
        return x - self.levels[1]

Net().cuda()(torch.randn(2, 8, device="cuda"))
""",
    "layers in a dict": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {"a": nn.Linear(8, 2), "b": nn.Linear(8, 3)}  # <-

    def forward(self, x, task):
        return self.heads[task](x)

Net().cuda()(torch.randn(2, 8, device="cuda"), "b")
""",
    "a tuple's part": """
pair = (torch.randn(2, 8), torch.zeros(2))
out = classifier().cuda()(pair[0])  # <-
""",
    "a comprehension": """
model = classifier().cuda()
outs = [model(x) for x, y in loader()]  # <-
""",
    "a global in a function": """
SCALE = torch.ones(8)

def scaled(x):
    return [x * SCALE][0]  # <-

scaled(torch.ones(2, 8, device="cuda"))
""",
    "a result in a chain": """
first, second = nn.Linear(8, 8).to("cuda:0"), nn.Linear(8, 4).to("cuda:1")
out = second(first(torch.randn(2, 8, device="cuda:0")).relu())  # <-
""",
    "a list for numpy": """
losses = [torch.ones(2, device="cuda") for _ in range(3)]
mean = numpy.mean(losses)  # <-
""",
    "a conversion": """
scores = torch.ones(3, device="cuda")
best = scores.argsort().numpy()  # <-
""",
    "a generator": """
generator = torch.Generator().manual_seed(0)  # <-
noise = torch.randn(3, device="cuda", generator=generator)
""",
    "a shuffled loader": """
torch.set_default_device("cuda")
data = DataLoader(torch.ones(4, 2), batch_size=2, shuffle=True)  # <-
for x in data:
    pass
""",
    "a move thrown away": """
model = classifier().cuda()
for x, y in loader():
    x.to("cuda", non_blocking=True)  # <-
    model(x)
""",
    "a misspelt name": """
gpu = 1
device = torch.device(f"cuda{gpu}")  # <-
""",
    "an old constructor": """
device = torch.device("cuda")
mean = torch.Tensor([0.5, 0.4], device=device)  # <-
""",
    "a state that was not assigned": """
state = classifier().state_dict()
with torch.device("meta"):
    model = classifier()
model.load_state_dict(state)  # <-
model.cuda()
""",
    "a pinned loader": """
data = DataLoader(torch.ones(4, 2).cuda(), batch_size=2, pin_memory=True)  # <-
for x in data:
    pass
""",
}
