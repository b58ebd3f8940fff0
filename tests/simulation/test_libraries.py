"""What libraries do with tensors on a GPU and scripts do with torch.cuda; each was once a failure of one of them."""

import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

pytestmark = pytest.mark.usefixtures("two_gpus")


def test_functions_take_their_first_argument_by_pytorchs_name() -> None:
    for device in ("cpu", "cuda"):
        x = torch.arange(4.0, device=device)
        assert torch.take_along_dim(input=x, indices=torch.tensor([1], device=device), dim=0).item() == 1
        assert len(torch.tensor_split(input=x, sections=2)) == 2


def test_results_that_c_plus_plus_makes_are_on_the_gpu() -> None:
    x = torch.tensor([0, 2], device="cuda:1")
    made = (
        F.one_hot(x, 3),
        nn.utils.rnn.pad_sequence([x, x[:1]], batch_first=True),
        torch.vander(x.float()),
        torch.histc(x, 3),
        x.new(3),
        x.float().new([1.0]),
    )
    assert [str(tensor.device) for tensor in made] == ["cuda:1"] * 6
    assert made[1].tolist() == [[0, 2], [0, 0]]


def test_a_parameter_can_be_made_by_the_type_of_a_moved_one() -> None:
    weight = nn.Linear(2, 2).cuda().weight
    made = type(weight)(torch.ones(2, 2, device="cuda:1"), requires_grad=False)
    assert isinstance(made, nn.Parameter)
    assert (str(made.device), made.requires_grad) == ("cuda:1", False)


def test_a_module_without_memory_gets_it_on_the_gpu_or_is_refused() -> None:
    with torch.device("meta"):
        model = nn.Linear(2, 2)
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        model.weight.cuda()
    model.to_empty(device="cuda")
    nn.init.ones_(model.weight)
    assert model.weight.sum().item() == 4
    assert str(torch.empty_like(torch.empty(2, device="meta"), device="cuda").device) == "cuda:0"


def test_factories_pin_and_views_stay_pinned() -> None:
    assert torch.empty(4, pin_memory=True)[:2].is_pinned()
    with pytest.raises(RuntimeError) as refusal:
        torch.empty(4, device="cuda", pin_memory=True)
    assert str(refusal.value) == "Only dense CPU tensors can be pinned"


def test_the_submodules_of_torch_cuda_answer_as_torch_cuda_does() -> None:
    torch.cuda.random.set_rng_state(torch.cuda.random.get_rng_state())
    held = torch.zeros(1000, device="cuda")
    assert torch.cuda.memory.memory_allocated() >= held.nbytes
    assert torch.cuda.memory_stats()["allocated_bytes.all.current"] >= held.nbytes
    assert torch.cuda.streams.Stream is torch.cuda.Stream
    assert [str(generator.device) for generator in torch.cuda.default_generators] == ["cuda:0", "cuda:1"]
    torch.cuda.nvtx.range_push("step")
    torch.cuda.nvtx.range_pop()


def test_operators_take_a_gpus_generator() -> None:
    generator = torch.Generator("cuda").manual_seed(0)
    first = torch.empty(3, device="cuda").normal_(generator=generator)
    generator.manual_seed(0)
    assert torch.equal(torch.empty(3, device="cuda").normal_(generator=generator), first)
    assert torch.normal(first, 1.0, generator=generator).is_cuda
    assert torch.multinomial(first.abs(), 2, generator=generator).is_cuda
    assert generator.clone_state().device.type == "cuda"


def test_foreach_lists_may_span_gpus_pair_by_pair() -> None:
    here, there = torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")
    summed = torch._foreach_add([here, there], [here, there])
    assert [str(tensor.device) for tensor in summed] == ["cuda:0", "cuda:1"]
    torch._foreach_copy_([here, there], [torch.zeros(2), torch.zeros(2)])
    assert (here.tolist(), there.tolist()) == ([0, 0], [0, 0])
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cuda:1!"):
        torch._foreach_add([here], [there])


@pytest.mark.parametrize("kind", [{"foreach": True}, {"fused": True}])
def test_an_optimizer_groups_its_parameters_by_gpu(kind: dict[str, bool]) -> None:
    parameters = [nn.Parameter(torch.ones(2, device=f"cuda:{index}")) for index in (0, 1, 0)]
    steps, scaler = torch.optim.Adam(parameters, **kind), torch.amp.GradScaler("cuda")
    scaler.scale(sum(p.sum().to("cuda:0") for p in parameters)).backward()
    scaler.step(steps)
    assert [str(steps.state[p]["exp_avg"].device) for p in parameters] == ["cuda:0", "cuda:1", "cuda:0"]
    assert all(p.max() < 1 for p in parameters)


def test_the_cpu_is_no_gpu_to_choose() -> None:
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        torch.cuda.set_device("cpu")


def test_saved_activations_can_wait_in_pinned_memory() -> None:
    x = torch.ones(3, device="cuda", requires_grad=True)
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_the_types_of_sparse_tensors_on_a_gpu_make_them_where_their_parts_are() -> None:
    indices, values = torch.tensor([[0, 1], [1, 0]]), torch.ones(2)
    with warnings.catch_warnings(action="ignore"):
        made = torch.cuda.sparse.FloatTensor(indices.cuda(), values.cuda(), torch.Size([2, 2]))
        empty = torch.cuda.sparse.DoubleTensor(2, 3)
        on_cpu = torch.cuda.sparse.FloatTensor(indices, values, torch.Size([2, 2]))
        with pytest.raises(RuntimeError) as refusal:
            torch.cuda.sparse.FloatTensor(2, 3, device="cpu")
    assert torch.equal(made.to_dense().cpu(), torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    assert [str(x.device) for x in (made, empty, on_cpu)] == ["cuda:0", "cuda:0", "cpu"]
    assert (empty.dtype, empty.shape, empty.layout) == (torch.float64, (2, 3), torch.sparse_coo)
    assert isinstance(made, torch.cuda.sparse.FloatTensor) and not isinstance(on_cpu, torch.cuda.sparse.FloatTensor)
    assert not isinstance(made, (torch.cuda.FloatTensor, torch.cuda.sparse.DoubleTensor))
    assert str(refusal.value) == "legacy constructor expects device type: cuda but device type: cpu was passed"


@pytest.mark.filterwarnings(r"ignore:The torch.cuda.\*DtypeTensor constructors")
def test_the_types_of_old_code_make_and_tell_tensors_on_a_gpu() -> None:
    made = (torch.cuda.FloatTensor(2, 3), torch.cuda.FloatTensor([1.0, 2.0]).fill_(1.0), torch.cuda.LongTensor())
    assert {str(tensor.device) for tensor in made} == {"cuda:0"}
    assert isinstance(made[0], torch.cuda.FloatTensor)
    assert not isinstance(made[0], torch.cuda.LongTensor)
    assert not isinstance(torch.ones(2), torch.cuda.FloatTensor)
    assert torch.cuda.FloatTensor(made[1]).data_ptr() == made[1].data_ptr()
    assert str(torch.ones(2).type(torch.cuda.LongTensor).device) == "cuda:0"
    with pytest.raises(TypeError) as refusal:
        torch.cuda.FloatTensor(torch.ones(2))
    options = "layout=Strided, requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    assert str(refusal.value) == (
        f"expected TensorOptions(dtype=float, device=cuda, {options} "
        f"(got TensorOptions(dtype=float, device=cpu, {options})"
    )


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
def test_a_gpus_default_tensor_type_is_a_default_device() -> None:
    torch.set_default_tensor_type("torch.cuda.DoubleTensor")
    try:
        assert (torch.zeros(1).type(), nn.Linear(1, 1).weight.type()) == ("torch.cuda.DoubleTensor",) * 2
        with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
            list(torch.utils.data.DataLoader([1, 2], shuffle=True))
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")
    assert torch.zeros(1).type() == "torch.FloatTensor"
