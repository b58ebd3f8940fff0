"""The same causes in the code of other people."""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from tests.doctor.broken_programs.kept import broken, classifier, loader
from torch import nn
from torch.utils.data import DataLoader


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


@broken("fork_cuda", "self.photos[index].to(device)")
def a_dataset_that_moves_twice_in_a_line():
    device = torch.device("cuda")
    torch.ones(1, device=device)

    class Photos:
        photos, labels = torch.ones(4, 2), torch.ones(4)

        def __len__(self):
            return 4

        def __getitem__(self, index):
            return self.photos[index].to(device), self.labels[index].to(device)

    for _ in DataLoader(Photos(), 2, num_workers=1, multiprocessing_context="fork"):
        pass


@broken("pin_memory_on_cuda_tensor", "batch.to(device)")
def a_batch_moved_and_pinned_in_one_line():
    device = torch.device("cuda")
    batch = torch.ones(4, 2)
    return batch.to(device).pin_memory()


@broken("data_parallel_unreplicated_state", "x")
def a_replica_that_moves_its_input_away():
    class Net(nn.Module):
        def __init__(self, device):
            super().__init__()
            self.device = device
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            x = x.to(self.device)
            return self.layer(x)

    nn.DataParallel(Net(torch.device("cuda:0")).cuda(), device_ids=[0, 1])(torch.ones(4, 3, device="cuda"))


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


def encoded(texts: list[str]):
    """What a tokenizer of transformers returns."""
    from transformers import BatchEncoding  # here, as it takes seconds

    ids = torch.randint(10, (len(texts), 4))
    return BatchEncoding({"input_ids": ids, "attention_mask": torch.ones_like(ids)})


def writer():
    from transformers import LlamaConfig, LlamaForCausalLM

    size = {"vocab_size": 10, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
    return LlamaForCausalLM(LlamaConfig(**size, num_attention_heads=2, pad_token_id=0, bos_token_id=1)).to("cuda")


@broken("tokenizer_batch_on_cpu", 'inputs["input_ids"]')
def a_tokenizers_batch():
    model = writer()
    inputs = encoded(["once upon", "a time"])
    model(**inputs)


@broken("generate_inputs_on_cpu", 'inputs["attention_mask"]')
def a_mask_that_generate_counts_positions_with():
    model = writer()
    inputs = encoded(["once upon", "a time"])
    ids = inputs["input_ids"].to("cuda")
    model.generate(ids, attention_mask=inputs["attention_mask"], max_new_tokens=2)
