"""What refuses in a library of its own way is answered with the remedy of that library."""

import pytest

from samedevice import explain

TRITON = "ValueError: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)"
LOADED = """Traceback (most recent call last):
  File "run.py", line 9, in <module>
    model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")
"""
METRIC = (
    "RuntimeError: Encountered different devices in metric calculation (see stacktrace for details). This could be due "
    "to the metric class not being on the same device as input. Instead of `metric=BinaryAccuracy(...)` try to do "
    "`metric=BinaryAccuracy(...).to(device)` where device corresponds to the device of the input."
)
NO_XFORMERS = """NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:
     query       : shape=(1, 257, 6, 64) (torch.float32)
`fa2F@v2.5.7-pt` is not supported because:
    device=cpu (supported: {'cuda'})"""

# A paste, the case of a cause that comes first, and what its fix holds.
PASTES = {
    "Triton alone": (TRITON, "triton_on_the_current_gpu", "with torch.cuda.device(x.device):"),
    "Triton, a GPU on the command line": (
        f"$ whisper a.mp3 --device cuda:1\n{TRITON}",
        "triton_program_on_another_gpu",
        "CUDA_VISIBLE_DEVICES=1",
    ),
    "Triton, a GPU on the command line after =": (
        f"python serve.py --gpu-device='cuda:3'\n{TRITON}",
        "triton_program_on_another_gpu",
        'torch.cuda.set_device("cuda:1")',
    ),
    "Triton, device_map": (LOADED + TRITON, "triton_on_the_current_gpu", "torch.cuda.set_device(1)"),
    "Triton 2.1": ("ValueError: Cannot find backend for cpu", "triton_got_a_cpu_tensor", 'x = x.to("cuda")'),
    "bitsandbytes": (
        "ValueError: `.to` is not supported for `4-bit` or `8-bit` bitsandbytes models.",
        "quantized_model_moved",
        'device_map={"": 1}',
    ),
    "bitsandbytes, called by accelerate": (
        '  File "big_modeling.py", line 502, in dispatch_model\n    model.to(device)\n'
        "ValueError: `.to` is not supported for `4-bit` or `8-bit` bitsandbytes models.",
        "releases_do_not_fit",
        "pip install --upgrade transformers accelerate bitsandbytes",
    ),
    "bitsandbytes, too large": (
        LOADED + "ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM",
        "",
        'device_map={"": 0}',
    ),
    "torchmetrics": (METRIC, "torchmetric_not_moved", "MulticlassAccuracy(num_classes=10).to(device)"),
    "PyG": ("RuntimeError: index must be CUDA tensor", "graph_tensors_apart", "data = data.to(device)"),
    "PyG, built for the CPU": (
        "RuntimeError: Not compiled with CUDA support",
        "extension_for_the_cpu",
        "https://data.pyg.org/whl/torch-",
    ),
    "xformers": (NO_XFORMERS, "pipeline_not_moved", '.to("cuda")'),
    "xformers without a GPU": (
        "ValueError: torch.cuda.is_available() should be True but is False. xformers' memory efficient attention is "
        "only available for GPU",
        "xformers_without_gpu",
        "if torch.cuda.is_available():",
    ),
    "accelerate, meta": (
        "ValueError: weight is on the meta device, we need a `value` to put in on 0.",
        "dispatched_without_weights",
        "load_checkpoint_and_dispatch",
    ),
    "transformers, meta": (
        LOADED + "ValueError: weight is on the meta device, we need a `value` to put in on 0.",
        "",
        'info["missing_keys"]',
    ),
    "peft, meta": (
        "model = PeftModel.from_pretrained(model, adapter)\nValueError: weight is on the meta device, we need a "
        "`value` to put in on 0.",
        "",
        "remove_hook_from_submodules(model)",
    ),
    "the disk": (
        LOADED + "ValueError: The current `device_map` had weights offloaded to the disk. Please provide an "
        "`offload_folder` for them.",
        "",
        'offload_folder="offload"',
    ),
    "vLLM": (
        "RuntimeError: please set tensor_parallel_size (4) to less than max local gpu count (1)",
        "vllm_more_gpus_than_visible",
        "--tensor-parallel-size 1",
    ),
}


@pytest.mark.parametrize("name", PASTES)
def test_the_first_cause_has_the_remedy_of_the_library(name: str) -> None:
    paste, case, fix = PASTES[name]
    first = explain(paste).causes[0]
    assert first.case == case
    assert fix in first.fix
    assert first.cause.link, "and says where the library itself writes of it"


@pytest.mark.parametrize("name", PASTES)
def test_the_whole_answer_has_that_remedy_before_any_other(name: str) -> None:
    paste, _, fix = PASTES[name]
    diagnosis = explain(paste)
    answer = diagnosis.more
    assert fix in answer
    for other in diagnosis.causes[1:]:
        assert other.title not in answer or answer.index(fix) < answer.index(other.title)


@pytest.mark.parametrize("placed", ['{"": 0}', '"cuda:0"', '"cuda"'])
def test_a_device_map_with_one_device_speaks_against_a_split_model(placed: str) -> None:
    text = (
        f"model = AutoModel.from_pretrained(name, device_map={placed})\n"
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! "
        "(when checking argument for argument index in method wrapper_CUDA__index_select)"
    )
    causes = explain(text).causes
    assert "split_model_activation_not_moved" not in [cause.id for cause in causes]
    assert "`device_map` puts the whole model on one device" in " ".join(causes[0].because)


def test_a_device_map_in_the_paste_is_explained() -> None:
    text = LOADED + "ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM"
    assert "It fills the GPUs first, then the CPU, then the disk" in " ".join(explain(text).causes[0].because)
