"""What stands around a message speaks for a cause only where it says what the clue says that it says."""

import pytest

from samedevice import explain

MIXED = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
LOADS = "The program loads a checkpoint."


def reasons(text: str) -> str:
    return " ".join(reason for cause in explain(text).causes for reason in cause.because)


def first(text: str) -> str:
    return explain(text).causes[0].id


@pytest.mark.parametrize("line", ['torch.load("last.pt")', 'Net.load_from_checkpoint("last.ckpt")'])
def test_a_line_that_loads_a_checkpoint_is_a_clue(line: str) -> None:
    assert LOADS in reasons(f"state = {line}\n{MIXED}")


@pytest.mark.parametrize(
    "line", ['torch.load("last.pt", map_location=device)', 'trainer.train(resume_from_checkpoint="last")', "run()"]
)
def test_a_line_that_maps_it_or_only_has_the_word_is_none(line: str) -> None:
    assert LOADS not in reasons(f"state = {line}\n{MIXED}")


def test_the_advice_of_a_message_is_not_the_code() -> None:
    text = (
        "ValueError: Your model contains `DTensor` parameters, which is incompatible with DDP. Maybe you loaded your "
        "model with `device_map='auto'`? Specify `device_map='cuda'` or 'xpu' or 'cpu' instead."
    )
    assert explain(text).causes
    assert "The code shown" not in reasons(text)


@pytest.mark.parametrize(
    ("paste", "cause"),
    [
        ("$ uname\nDarwin\n", "mps_or_other_backend"),
        ("OS: macOS 14.5 (arm64)\n", "mps_or_other_backend"),
        ('    model.to(device)\n  File "/Users/ann/net.py", line 3, in main\n    x.cuda()\n', "mps_or_other_backend"),
        ("OS: Ubuntu 22.04\n", "no_cuda_build_or_driver"),
        ('  File "C:\\Users\\ann\\net.py", line 3, in main\n    x.to(device)\n', "no_cuda_build_or_driver"),
    ],
)
def test_on_a_mac_no_build_with_cuda_is_advised(paste: str, cause: str) -> None:
    assert first(f"{paste}AssertionError: Torch not compiled with CUDA enabled") == cause


def test_what_ddp_sends_is_the_module_and_what_a_collective_sends_is_not() -> None:
    error = "RuntimeError: Tensors must be CUDA and dense"
    wrapped = f'  File "train.py", line 9, in <module>\n    model = DistributedDataParallel(Net())\n{error}'
    summed = f'  File "train.py", line 9, in <module>\n    dist.all_reduce(torch.tensor(hits))\n{error}'
    assert first(wrapped) == "model_not_moved"
    assert first(summed) == "tensor_created_in_forward_without_device"


@pytest.mark.parametrize("name", ["all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list"])
def test_objects_that_are_sent(name: str) -> None:
    text = f"    dist.{name}(results, mine)\nRuntimeError: No backend type associated with device type cpu"
    assert first(text) == "objects_sent_by_nccl"


def test_the_first_cause_is_not_numbers_where_fused_met_a_device() -> None:
    text = "`fused=True` requires all the params to be floating point Tensors of supported devices: ['cuda'] but {}"
    assert first(f"RuntimeError: {text.format('torch.complex64 and cuda')}") == "fused_for_other_numbers"
    assert first(f"RuntimeError: {text.format('torch.float32 and cpu')}") == "model_not_moved"
    assert first(f"RuntimeError: {text.format('torch.float32 and mps')}") == "mps_or_other_backend"


REPLICA = """RuntimeError: Caught RuntimeError in replica 1 on device 1.
Original Traceback (most recent call last):
  File "/usr/lib/python3.8/site-packages/torch/nn/parallel/parallel_apply.py", line 61, in _worker
    output = module(*input, **kwargs)
  File "net.py", line 20, in forward
    {line}
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0!"""


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("features, places = self.backbone(samples.tensors)", "data_parallel_whole_object"),
        ("x, edge_index = data.x, data.edge_index", "data_parallel_whole_object"),
        ("x = x * self.scale", "data_parallel_unreplicated_state"),
    ],
)
def test_what_a_copy_of_data_parallel_met(line: str, cause: str) -> None:
    assert first(REPLICA.format(line=line)) == cause


def test_without_data_parallel_nothing_is_split() -> None:
    text = REPLICA.split("\n")[-1]
    code = '  File "net.py", line 20, in forward\n    x = self.conv(data.x, data.edge_index)\n'
    assert "data_parallel_whole_object" not in [cause.id for cause in explain(code + text).causes]


@pytest.mark.parametrize("error", ["Device index must not be negative", "Device index must be non-negative, got -1"])
def test_a_negative_index_is_a_name_for_the_cpu_that_pytorch_does_not_know(error: str) -> None:
    assert explain(f"RuntimeError: {error}").causes[0].case == "minus_one_for_the_cpu"
