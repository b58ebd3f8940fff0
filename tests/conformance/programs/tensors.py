"""Tensors: moves, constructors, printing, views, and what NumPy may have."""

import copy
import pickle

import numpy
import torch


def _where(*tensors):
    return [str(tensor.device) for tensor in tensors]


def a_move_to_where_it_is_returns_the_tensor():
    x = torch.zeros(2, device="cuda")
    return [x.to("cuda") is x, x.cuda() is x, x.to("cuda:0") is x, x.to("cuda", copy=True) is x, x.cuda(1) is x]


def moves_in_every_form():
    x = torch.zeros(2)
    other = torch.zeros(1, device="cuda:1", dtype=torch.float16)
    y = x.to(other)
    return [
        *_where(x.to(device="cuda"), x.to(1), x.to(torch.device("cuda", 1)), x.to("cuda:1", torch.int32), y, y.cpu()),
        *_where(x.type_as(other), x.to(torch.float64), other.to(x), x.cuda(torch.device("cuda:1"))),
        str(y.dtype), x.to("cuda", non_blocking=True).is_cuda,
    ]  # fmt: skip


def the_type_as_a_string():
    x = torch.zeros(2, dtype=torch.int64)
    return [x.cuda().type(), x.type("torch.cuda.FloatTensor").type(), x.cuda().type(torch.float16).type(), x.type()]


def cuda_with_a_cpu_device():
    torch.zeros(2).cuda("cpu")


def to_a_device_that_is_misspelt():
    torch.zeros(2).to("cuda0")


def a_device_with_a_negative_index():
    torch.zeros(2).cuda(-2)


def a_factory_on_a_gpu_that_is_not_there():
    torch.zeros(2, device="cuda:5")


def constructors_of_gpu_tensors():
    x = torch.tensor([1.0, 2.0]).cuda(1)
    return _where(
        torch.as_tensor(x), torch.as_tensor(x, device="cpu"), torch.as_tensor([1, 2], device="cuda"),
        torch.asarray(x), torch.tensor(x.tolist(), device="cuda:0"), x.new_empty(2), x.new_full((2,), 3.0),
        x.new_zeros(2, device="cpu"), x.new_tensor([1]), torch.empty_like(x), torch.rand_like(x, device="cuda:0"),
    )  # fmt: skip


def a_list_of_gpu_numbers():
    return _where(torch.tensor([torch.tensor(1.0).cuda(), torch.tensor(2.0).cuda()]))


def a_gpu_number_as_a_size():
    return list(torch.zeros(int(torch.tensor(3).cuda())).shape)


def full_of_a_gpu_number():
    return _where(torch.full((2,), torch.tensor(1.0).cuda()))


def the_old_constructor_on_a_device():
    torch.Tensor([1.0], device="cuda")


def the_old_cuda_types():
    x = torch.cuda.FloatTensor([1.0, 2.0])
    return [
        x.type(),
        str(x.device),
        isinstance(x, torch.cuda.FloatTensor),
        isinstance(x, torch.FloatTensor),
        x.tolist(),
    ]


def isinstance_of_the_old_types():
    x = torch.zeros(1, dtype=torch.int64).cuda()
    return [isinstance(x, torch.cuda.LongTensor), isinstance(x, torch.LongTensor), torch.is_tensor(x), type(x).__name__]


def devices_compare_by_type_and_index():
    x = torch.zeros(1, device="cuda")
    return [
        x.device == torch.device("cuda"), x.device == torch.device("cuda:0"), x.device == torch.device(0),
        x.device == "cuda:0", x.device.index, torch.device("cuda").index, repr(x.device),
        hash(x.device) == hash(torch.device("cuda:0")),
    ]  # fmt: skip


def what_a_tensor_says_of_itself():
    x = torch.zeros(2, 3, device="cuda:1")
    return [
        x.is_cuda,
        x.is_cpu,
        x.get_device(),
        x.is_pinned(),
        x.is_meta,
        x.layout is torch.strided,
        x.untyped_storage().device.type,
    ]


def printed():
    x = torch.tensor([1.0, 2.0]).cuda(1)
    return [str(torch.tensor(3).cuda().item()), f"{torch.tensor(2.5).cuda():.2f}", str(x.cpu())]


def numbers_leave_the_gpu():
    x = torch.tensor(3.0).cuda()
    return [x.item(), float(x), int(x), bool(x), x.tolist(), [10, 11, 12, 13][torch.tensor(2).cuda()]]


def iteration_and_unpacking():
    a, b = torch.tensor([1.0, 2.0]).cuda(1)
    return [*_where(a, b), a.item(), len(torch.zeros(3, device="cuda"))]


def numpy_of_a_gpu_tensor():
    torch.zeros(2, device="cuda:1").numpy()


def numpy_by_force():
    return torch.tensor([1.0, 2.0]).cuda().numpy(force=True).tolist()


def numpy_array_of_a_gpu_tensor():
    numpy.array(torch.zeros(2, device="cuda"))


def numpy_number_times_a_gpu_tensor():
    return _where(torch.zeros(2, device="cuda") * numpy.float32(2))


def numpy_of_a_gpu_tensor_that_needs_gradients():
    torch.zeros(2, device="cuda", requires_grad=True).numpy()


def from_numpy_under_a_default_device():
    with torch.device("cuda"):
        return _where(torch.from_numpy(numpy.zeros(2)), torch.as_tensor(numpy.zeros(2)), torch.tensor(numpy.zeros(2)))


def a_view_is_where_its_base_is():
    x = torch.zeros(4, device="cuda:1")
    view = x.view(2, 2)
    return [*_where(view, x.T, x[1:], x.expand(3, 4)), view._base is x, view.data_ptr() == x.data_ptr()]


def a_view_of_another_dtype():
    x = torch.tensor([1, 2], dtype=torch.int32).cuda()
    return [*_where(x.view(torch.int16)), x.view(torch.int16).tolist(), x.element_size(), x.nbytes]


def versions_count():
    x = torch.zeros(2, device="cuda")
    before = x._version
    x.add_(1)
    return [before, x._version, x.to("cpu")._version]


def deepcopy_and_pickle():
    x = torch.tensor([1.0, 2.0]).cuda(1)
    y = pickle.loads(pickle.dumps(x))
    return [*_where(copy.deepcopy(x), copy.copy(x), y), y.tolist()]


def a_storage_on_the_gpu():
    storage = torch.tensor([1.0, 2.0]).cuda(1).untyped_storage()
    return [str(storage.device), storage.nbytes(), storage.is_cuda, str(storage.cpu().device), len(storage.tolist())]


def set_from_a_storage_elsewhere():
    torch.zeros(2).set_(torch.zeros(2, device="cuda").untyped_storage())


def resizing_keeps_the_device():
    x = torch.zeros(2, device="cuda:1")
    x.resize_(4)
    return [*_where(x), list(x.shape)]


def histograms_and_counts_elsewhere():
    torch.searchsorted(torch.zeros(3, device="cuda"), torch.zeros(3))


def complex_of_two_devices():
    torch.complex(torch.zeros(2, device="cuda"), torch.zeros(2))


def addmm_of_three_places():
    torch.addmm(torch.zeros(2, 2), torch.zeros(2, 2, device="cuda"), torch.zeros(2, 2, device="cuda"))


def reductions_stay():
    x = torch.tensor([1.0, 2.0]).cuda(1)
    return _where(*x.max(0), x.argmax(), x.sum(), x.mean(0))


def a_boolean_that_asks_for_one_value():
    bool(torch.zeros(2, device="cuda"))


def module_level_equality_of_tensors():
    x = torch.zeros(2, device="cuda")
    return [x is x.cuda(), (x == x).is_cuda, x.is_same_size(torch.zeros(2)), x.is_set_to(x.detach())]
