"""Operators whose tensors are apart: indices, in-place operators, out=, products, comparisons."""

import torch


def _where(*tensors):
    return [str(tensor.device) for tensor in tensors]


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
