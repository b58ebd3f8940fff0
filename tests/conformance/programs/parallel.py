"""Several GPUs: DataParallel, scatter, gather and broadcast."""

import torch
from torch import nn
from torch.nn.parallel import comm, gather, parallel_apply, replicate, scatter


class _Where(nn.Module):
    """Says where its input and its weight are, for each replica."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.register_buffer("count", torch.zeros(1))
        self.seen = []

    def forward(self, x):
        self.seen.append((str(x.device), str(self.weight.device), str(self.count.device), len(x)))
        return x * self.weight


def each_replica_has_its_part():
    model = nn.DataParallel(_Where().cuda())
    out = model(torch.zeros(5, 2))
    return [sorted(model.module.seen), str(out.device), list(out.shape)]


def an_input_smaller_than_the_gpus():
    model = nn.DataParallel(_Where().cuda())
    model(torch.zeros(1, 2))
    return sorted(model.module.seen)


def an_input_on_the_other_gpu():
    model = nn.DataParallel(_Where().cuda())
    model(torch.zeros(4, 2, device="cuda:1"))
    return sorted(model.module.seen)


def one_gpu_alone():
    model = nn.DataParallel(_Where().to("cuda:1"), device_ids=[1])
    return [str(model(torch.zeros(4, 2)).device), sorted(model.module.seen)]


def a_module_on_the_other_gpu():
    nn.DataParallel(nn.Linear(2, 2).to("cuda:1"))(torch.zeros(4, 2))


def device_ids_the_other_way_round():
    model = nn.DataParallel(_Where().to("cuda:1"), device_ids=[1, 0])
    out = model(torch.zeros(4, 2))
    return [sorted(model.module.seen), str(out.device), str(model.src_device_obj), model.device_ids]


def a_buffer_left_behind():
    model = nn.Linear(2, 2).cuda()
    model.register_buffer("late", torch.zeros(1))
    nn.DataParallel(model)(torch.zeros(4, 2))


def gradients_come_together_on_the_first():
    layer = nn.Linear(2, 1).cuda()
    nn.DataParallel(layer)(torch.zeros(4, 2)).sum().backward()
    return [str(layer.weight.grad.device), str(layer.bias.grad.device)]


def a_plain_tensor_is_shared_by_all_replicas():
    class Shifted(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)
            self.shift = torch.zeros(2).cuda()

        def forward(self, x):
            return self.layer(x) + self.shift

    nn.DataParallel(Shifted().cuda())(torch.zeros(4, 2))


def a_fixed_device_in_forward():
    class Fixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            return self.layer(x.to("cuda:0"))

    nn.DataParallel(Fixed().cuda())(torch.zeros(4, 2))


def bare_cuda_in_forward_is_the_replicas():
    class Bare(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(2))

        def forward(self, x):
            return x + self.weight + torch.zeros(2, device="cuda") + torch.zeros(2).cuda()

    return str(nn.DataParallel(Bare().cuda())(torch.zeros(4, 2)).device)


def replicas_have_no_parameters():
    class Asking(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            return x + next(self.parameters()).sum()

    nn.DataParallel(Asking().cuda())(torch.zeros(4, 2))


def keywords_and_containers_are_scattered():
    seen = []

    class Nested(nn.Module):
        def forward(self, x, extra, flag=None):
            seen.append([str(x["a"].device), len(x["a"]), len(extra[0]), flag])
            return x["a"]

    out = nn.DataParallel(Nested())({"a": torch.zeros(4, 1)}, [torch.zeros(4)], flag="yes")
    return [sorted(seen, key=str), str(out.device)]


def outputs_in_containers_are_gathered():
    class Pair(nn.Module):
        def forward(self, x):
            return {"sum": x + 1, "pair": (x, x)}

    out = nn.DataParallel(Pair())(torch.zeros(4, 2))
    return [str(out["sum"].device), list(out["pair"][1].shape)]


def scalars_are_gathered_into_a_vector():
    class Loss(nn.Module):
        def forward(self, x):
            return x.sum()

    out = nn.DataParallel(Loss())(torch.zeros(4, 2))
    return [list(out.shape), str(out.device)]


def an_output_device_elsewhere():
    out = nn.DataParallel(nn.Linear(2, 2).cuda(), output_device=torch.device("cuda:1"))(torch.zeros(4, 2))
    return str(out.device)


def names_in_a_state_dict():
    return sorted(nn.DataParallel(nn.Linear(1, 1).cuda()).state_dict())


def data_parallel_as_a_function():
    layer = nn.Linear(2, 2).cuda()
    return str(nn.parallel.data_parallel(layer, torch.zeros(4, 2), device_ids=[0, 1]).device)


def a_gpu_that_is_not_there():
    nn.DataParallel(nn.Linear(2, 2).cuda(), device_ids=[0, 2])(torch.zeros(4, 2))


def scatter_of_many_things():
    parts = scatter([torch.tensor([1.0, 2.0, 3.0]), 7, {"a": torch.tensor([1, 2])}], [0, 1])
    return [[p[0].tolist(), str(p[0].device), p[1], p[2]["a"].tolist()] for p in parts]


def scatter_by_sizes():
    parts = comm.scatter(torch.tensor([1.0, 2.0, 3.0, 4.0]), [0, 1], chunk_sizes=[1, 3])
    return [[p.tolist(), str(p.device)] for p in parts]


def scatter_and_its_gradient():
    x = torch.zeros(4, 2, requires_grad=True)
    parts = scatter(x, [0, 1])
    sum(part.to("cuda:0").sum() for part in parts).backward()
    return [str(x.grad.device), parts[1].is_leaf]


def gather_onto_the_cpu():
    parts = [torch.tensor([1.0]).cuda(0), torch.tensor([2.0, 3.0]).cuda(1)]
    return [str(gather(parts, "cpu").device), comm.gather(parts, destination="cpu").tolist()]


def gather_of_a_cpu_tensor():
    gather([torch.zeros(2), torch.zeros(2, device="cuda:1")], 0)


def gather_of_shapes_that_differ():
    comm.gather([torch.zeros(2, 3, device="cuda:0"), torch.zeros(2, 4, device="cuda:1")])


def gather_of_dtypes_that_differ():
    comm.gather([torch.zeros(2, device="cuda:0"), torch.zeros(2, device="cuda:1", dtype=torch.float64)])


def broadcast_to_both():
    return [[str(x.device), list(x.shape)] for x in comm.broadcast(torch.zeros(2, device="cuda:0"), [0, 1])]


def broadcast_without_a_target():
    comm.broadcast(torch.zeros(2, device="cuda:0"))


def broadcast_from_elsewhere():
    comm.broadcast_coalesced([torch.zeros(2)], [0, 1])


def sums_over_gpus():
    result = comm.reduce_add([torch.zeros(2, device="cuda:0"), torch.zeros(2, device="cuda:1")], destination=1)
    return str(result.device)


def sums_with_the_cpu():
    comm.reduce_add([torch.zeros(2, device="cuda:0"), torch.zeros(2)])


def replicas_by_hand():
    layer = nn.Linear(2, 2).cuda()
    replicas = replicate(layer, [0, 1])
    outs = parallel_apply(replicas, [(torch.zeros(1, 2, device=f"cuda:{i}"),) for i in (0, 1)])
    return [str(x.weight.device) for x in replicas] + [str(x.device) for x in outs]


def parallel_apply_with_an_input_elsewhere():
    layer = nn.Linear(2, 2).cuda()
    parallel_apply(replicate(layer, [0, 1]), [(torch.zeros(1, 2, device="cuda:0"),)] * 2)


def replicate_from_the_cpu():
    replicate(nn.Linear(2, 2), [0, 1])


def a_packed_sequence_moves():
    packed = nn.utils.rnn.pack_sequence([torch.tensor([1.0, 2.0]), torch.tensor([3.0])]).to("cuda:1")
    return [str(packed.data.device), str(packed.batch_sizes.device), packed.is_cuda, str(packed.cpu().data.device)]


def two_halves_of_a_model():
    first, second = nn.Linear(2, 3).to("cuda:0"), nn.Linear(3, 1).to("cuda:1")
    second(first(torch.zeros(1, 2, device="cuda:0")))
