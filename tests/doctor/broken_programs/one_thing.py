"""Programs in which one thing alone is at fault: an index, a generator, a container, a gradient, a name, a file."""

import contextlib
import io
import os
from unittest.mock import patch

import numpy
import torch
import torch.distributed
from tests.doctor.broken_programs.kept import broken, classifier, loader
from torch import nn

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


@broken("written_values_on_wrong_device", "fill")
def values_that_a_mask_writes():
    x = torch.zeros(8, device="cuda")
    mask = torch.arange(8) > 3
    fill = torch.ones(4)
    x[mask] = fill


@broken("written_values_on_wrong_device", "predictions")
def rows_of_the_gpu_written_to_the_cpu():
    predictions = torch.zeros(4, 2)
    order = torch.tensor([2, 0])
    predictions[order] = torch.ones(2, 2, device="cuda")


# numpy_conversion


@broken("numpy_conversion", "out")
def a_plot():
    out = classifier().cuda()(torch.randn(2, 8, device="cuda")).detach()
    return out.numpy()


@broken("numpy_conversion", "losses[0]")
def an_average_of_losses():
    losses = [torch.ones((), device="cuda"), torch.ones((), device="cuda")]
    return numpy.mean([numpy.asarray(losses[0]), 1.0])


@broken("numpy_conversion", "self.mean")
def an_array_in_arithmetic():
    class Centre:
        def __init__(self):
            self.mean = numpy.ones(4)

        def __call__(self, x):
            return x - self.mean

    Centre()(torch.randn(2, 4, device="cuda"))


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


@broken("grad_device", "gradient.clamp(-1, 1)")
def a_hook_that_moves():
    def squeeze(gradient):
        gradient = gradient.cpu()
        return gradient.clamp(-1, 1)

    layer = nn.Linear(3, 1).cuda()
    layer.weight.register_hook(squeeze)
    loss = layer(torch.randn(2, 3, device="cuda")).sum()
    loss.backward()


@broken("grad_device", "w.grad")
def a_gradient_left_behind():
    w = torch.zeros(3, requires_grad=True)
    (w * 2).sum().backward()
    w.data = w.data.cuda()
    (w * 2).sum().backward()


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


@broken("checkpoint_map_location", '"cuda:5"')
def a_checkpoint_sent_to_a_gpu_that_is_not_there():
    buffer = io.BytesIO()
    torch.save({"w": torch.zeros(2)}, buffer)
    buffer.seek(0)
    torch.load(buffer, map_location="cuda:5")


# data_parallel_output_on_cpu


@broken("data_parallel_output_on_cpu", "super().forward(x).cpu()")
def a_replica_that_returns_a_cpu_tensor():
    class Net(nn.Linear):
        def forward(self, x):
            return super().forward(x).cpu()

    model = nn.DataParallel(Net(8, 4).cuda(), device_ids=[0, 1])
    model(torch.randn(4, 8, device="cuda"))


# device_ordinal_unavailable, and other GPUs than the one that was meant


@broken("device_ordinal_unavailable", "[0, 3]")
def more_replicas_than_gpus():
    nn.DataParallel(nn.Linear(2, 2).to("cuda:0"), device_ids=[0, 3])


@broken("device_ordinal_unavailable", "local_rank")
def more_processes_than_gpus():
    local_rank = 2
    torch.cuda.set_device(local_rank)


@broken("device_ordinal_unavailable", 'int(os.environ["RANK"])')
def the_rank_among_all_machines():
    with patch.dict(os.environ, RANK="64"):
        torch.cuda.set_device(int(os.environ["RANK"]))


@broken("misspelt_device", "x.get_device()")
def the_index_of_the_cpu():
    x = torch.ones(3)
    torch.zeros(1, device=x.get_device())


@broken("wrong_default_index", "weight")
def a_loss_weight_made_before_another_gpu_became_current():
    weight = torch.ones(3, device="cuda")
    model = nn.Linear(8, 3).to("cuda:1")
    x, y = next(iter(loader()))
    nn.functional.cross_entropy(model(x.to("cuda:1")), y.to("cuda:1") % 3, weight)


@broken("wrong_default_index", "x.cuda()")
def a_batch_that_goes_to_the_current_gpu_in_the_failing_line():
    x, _ = next(iter(loader()))
    with torch.cuda.device(1):
        model = nn.Linear(8, 3).cuda()
    model(x.cuda())


# ddp_unused_parameters


class Old(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.old_head, self.head = nn.Linear(8, 8), nn.Linear(8, 2), nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.body(x))


@contextlib.contextmanager
def one_process():
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        torch.distributed.destroy_process_group()


@broken("ddp_unused_parameters", "net.module.old_head.weight")
def a_layer_that_forward_does_not_use():
    with one_process():
        net = nn.parallel.DistributedDataParallel(Old())
        for x, y in loader():
            nn.functional.cross_entropy(net(x), y).backward()


@broken("ddp_unused_parameters", "model.old_head.weight")
def the_same_of_a_model_with_a_name_and_a_frozen_layer():
    model = Old()
    model.body.requires_grad_(False)
    with one_process():
        net = nn.parallel.DistributedDataParallel(model)
        for x, y in loader():
            nn.functional.cross_entropy(net(x), y).backward()
