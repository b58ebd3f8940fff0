"""Tensors: moves, constructors, indexing, in-place operators, printing and what NumPy may have."""

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


def reading_by_an_index_elsewhere():
    x = torch.zeros(4, 2, device="cuda:0")
    return _where(x[torch.tensor([0, 1])], x[[0, 1]], x[torch.tensor(1)], x[torch.tensor(1).cuda(1)], x[:, None])


def reading_the_cpu_by_a_gpu_mask():
    torch.zeros(3)[torch.tensor([True, False, True]).cuda()]


def reading_by_the_other_gpus_index():
    torch.zeros(3, device="cuda:0")[torch.tensor([0]).cuda(1)]


def writing_by_an_index_elsewhere():
    x = torch.zeros(4)
    x[torch.tensor([0, 1]).cuda()] = torch.tensor([1.0, 2.0])
    return [*_where(x), x.tolist()]


def writing_values_of_another_device():
    torch.zeros(4)[torch.tensor([0, 1])] = torch.zeros(2, device="cuda")


def writing_by_a_list():
    x = torch.zeros(4, device="cuda")
    x[[0, 2]] = torch.zeros(2)


def writing_a_slice_crosses():
    x = torch.zeros(4)
    x[1:3] = torch.tensor([5.0, 6.0]).cuda()
    y = torch.zeros(4).cuda()
    y[:2] = torch.tensor([7.0, 8.0])
    return [x.tolist(), y.tolist()[:2], *_where(x, y)]


def writing_one_number_by_a_mask():
    x = torch.zeros(3, device="cuda")
    x[torch.tensor([True, False, True]).cuda()] = torch.tensor(1.0)
    x[torch.tensor([True, False, True]).cuda()] = torch.tensor([1.0])
    return _where(x)


def index_put_that_accumulates():
    torch.zeros(3, device="cuda").index_put_((torch.tensor([0]).cuda(),), torch.zeros(1), accumulate=True)


def index_put_of_the_cpu_by_the_gpu():
    x = torch.zeros(3)
    x.index_put_((torch.tensor([0, 2]).cuda(),), torch.tensor([1.0, 2.0]))
    return x.tolist()


def index_add_with_a_source_elsewhere():
    torch.zeros(3, 2, device="cuda").index_add_(0, torch.tensor([0]).cuda(), torch.zeros(1, 2))


def gather_with_an_index_elsewhere():
    torch.zeros(3, 2, device="cuda").gather(1, torch.zeros(3, 1, dtype=torch.long))


def scatter_with_an_index_elsewhere():
    torch.zeros(3, 2).scatter_(1, torch.zeros(3, 1, dtype=torch.long).cuda(), 1.0)


def take_along_dim_elsewhere():
    torch.take_along_dim(torch.zeros(3, 2, device="cuda"), torch.zeros(3, 1, dtype=torch.long), 1)


def masked_select_elsewhere():
    torch.zeros(3, device="cuda").masked_select(torch.zeros(3, dtype=torch.bool))


def masked_fill_in_place_elsewhere():
    torch.zeros(3, device="cuda").masked_fill_(torch.zeros(3, dtype=torch.bool), 1.0)


def masked_fill_with_a_number_elsewhere():
    x = torch.zeros(3, device="cuda")
    return _where(x.masked_fill(torch.zeros(3, dtype=torch.bool).cuda(), torch.tensor(1.0)))


def where_with_numbers_elsewhere():
    mask = torch.zeros(3, dtype=torch.bool).cuda()
    return _where(torch.where(mask, torch.tensor(1.0), torch.zeros(3, device="cuda")), torch.where(mask, 1.0, 0.0))


def where_with_a_vector_elsewhere():
    torch.where(torch.zeros(3, dtype=torch.bool).cuda(), torch.zeros(3), torch.zeros(3, device="cuda"))


def numbers_join_from_the_cpu_only():
    x = torch.zeros(3, device="cuda")
    results = _where(
        x + torch.tensor(1.0), torch.tensor(1.0) * x, torch.maximum(x, torch.tensor(1.0)), x > torch.tensor(0)
    )
    torch.zeros(3) + torch.tensor(1.0).cuda()
    return results


def two_cpu_numbers_in_one_call():
    torch.addcmul(torch.zeros(3, device="cuda"), torch.tensor(1.0), torch.tensor(2.0))


def a_vector_of_one_is_no_number():
    torch.zeros(3, device="cuda") * torch.tensor([2.0])


def clamp_by_a_number_of_the_cpu():
    torch.zeros(3, device="cuda").clamp(min=torch.tensor(0.0))


def adding_in_place_to_the_gpu():
    torch.zeros(3, device="cuda").add_(torch.zeros(3))


def a_cpu_number_changed_in_place():
    torch.tensor(0.0).add_(torch.tensor(1.0).cuda())


def augmented_assignment_moves_the_name():
    total = 0
    total += torch.zeros((), device="cuda:1")
    return _where(total)


def copy_crosses_and_keeps_the_device():
    x = torch.zeros(2)
    x.copy_(torch.tensor([1.0, 2.0]).cuda(1))
    return [x.tolist(), *_where(x, torch.zeros(2, device="cuda").copy_(x))]


def out_on_another_device():
    torch.add(torch.zeros(2, device="cuda"), 1, out=torch.zeros(2))


def a_sum_with_out_on_another_device():
    torch.sum(torch.zeros(2, device="cuda"), 0, out=torch.zeros(()))


def concatenating_two_devices():
    torch.cat([torch.zeros(2), torch.zeros(2, device="cuda")])


def concatenating_with_an_empty_cpu_tensor():
    torch.cat([torch.zeros(0), torch.zeros(2, device="cuda")])


def stacking_two_gpus():
    torch.stack([torch.zeros(2, device="cuda:1"), torch.zeros(2, device="cuda:0")])


def matrix_products():
    torch.zeros(2, 3, device="cuda") @ torch.zeros(3, 2)


def batched_matrix_products():
    torch.bmm(torch.zeros(1, 2, 3), torch.zeros(1, 3, 2, device="cuda"))


def matrix_times_vector():
    torch.zeros(2, 3, device="cuda") @ torch.zeros(3, device="cuda:1")


def einsum_of_two_devices():
    torch.einsum("ij,jk->ik", torch.zeros(2, 3, device="cuda"), torch.zeros(3, 2))


def comparison_of_whole_tensors():
    torch.equal(torch.zeros(2), torch.zeros(2, device="cuda"))


def closeness_of_two_devices():
    torch.allclose(torch.zeros(2, device="cuda"), torch.zeros(2))


def assert_close_of_two_devices():
    torch.testing.assert_close(torch.zeros(2, device="cuda"), torch.zeros(2))


def assert_close_without_the_device():
    return torch.testing.assert_close(torch.tensor([1.0]).cuda(), torch.tensor([1.0]), check_device=False)


def splitting_by_a_gpu_tensor():
    torch.tensor_split(torch.zeros(4, device="cuda"), torch.tensor([1, 2]).cuda())


def repeating_by_a_cpu_tensor():
    torch.repeat_interleave(torch.zeros(2, device="cuda"), torch.tensor([1, 2]))


def bucketize_with_boundaries_elsewhere():
    torch.bucketize(torch.zeros(3, device="cuda"), torch.tensor([0.0, 1.0]))


def isin_elsewhere():
    torch.isin(torch.zeros(3, device="cuda"), torch.tensor([0.0, 1.0]))


def meshgrid_of_two_devices():
    torch.meshgrid(torch.zeros(2), torch.zeros(2, device="cuda"), indexing="ij")


def block_diagonal_of_two_devices():
    torch.block_diag(torch.zeros(2, 2), torch.zeros(2, 2, device="cuda"))


def linspace_between_gpu_numbers():
    return _where(torch.linspace(torch.tensor(0.0).cuda(), torch.tensor(1.0).cuda(), 3))


def arange_of_gpu_numbers():
    return [torch.arange(torch.tensor(3).cuda()).tolist(), *_where(torch.arange(3, device="cuda:1"))]


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
