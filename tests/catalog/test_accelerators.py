"""No answer speaks the commands, variables or products of another maker than the reader's.

Every text of the catalog that has a slot for a device or a backend is filled with each accelerator, as PyTorch writes
it: a build for AMD's GPUs says "cuda" where Python speaks of devices, and "HIP" where hipified C++ said "CUDA".
"""

import re
from collections.abc import Iterator

import pytest

from samedevice import explain
from samedevice.catalog import load
from samedevice.doctor.diagnosis import Diagnosis
from samedevice.doctor.outline import change
from samedevice.doctor.report import as_text
from samedevice.doctor.text.match import messages
from samedevice.doctor.text.normalise import clean, lines, squeezed

# What an accelerator is called: in Python, and in capitals.
NAMES = {
    "cuda": ("cuda", "CUDA"),
    "hip": ("cuda", "HIP"),
    "xpu": ("xpu", "XPU"),
    "mps": ("mps", "MPS"),
    "npu": ("npu", "NPU"),
}
SMALL = re.compile(r"(?:(?<![\w-])|(?<=ATen_))(?:cuda|xpu|mps|npu)\b")
CAPITALS = re.compile(r"(?<![A-Za-z])(?:CUDA|XPU|MPS|NPU|HIP)(?![A-Z]|_[A-Z])")

# Commands, variables and packages of one maker: of no use to the others.
TOOLS = {
    "cuda": r"nvidia-smi|CUDA_[A-Z_]+|TORCH_USE_CUDA_DSA|\bcu1\d\d\b|nvcc|--gpus all|torch\.version\.cuda",
    "hip": r"(?:HIP|ROCR|HSA|AMD)_[A-Z_]+|rocm-smi|rocminfo|amd-smi|whl/rocm|torch\.version\.hip|/dev/kfd",
    "xpu": r"\bZE_[A-Z_]+|\bONEAPI_[A-Z_]+|xpu-smi|sycl-ls|whl/xpu|torch\.xpu",
    "mps": r"PYTORCH_MPS\w*|PYTORCH_ENABLE_MPS\w*|torch\.(?:backends\.)?mps",
    "npu": r"ASCEND_[A-Z_]+|npu-smi|torch[_-]npu|torch\.npu",
}  # fmt: skip
# Words for one maker's things. A sentence may set them beside the reader's.
WORDS = {
    "cuda": r"(?i:nvidia)|CUDA",
    "hip": r"\bHIP\b|\bAMD\b|ROCm|\bgfx",
    "xpu": r"\bIntel\b|oneAPI|\bXPU\b",
    "mps": r"\bMac\b|Apple|\bMPS\b",
    "npu": r"Ascend|\bCANN\b|Huawei|\bNPUs?\b",
}
# PyTorch's module for NVIDIA's GPUs and AMD's, which another build refuses.
MODULE = r"torch\.cuda\b(?!\.\w+Tensor)|\.cuda\("
# What says whose things these are.
MAKERS = {
    "cuda": r"(?i:nvidia)",
    "hip": r"AMD|ROCm|HIP",
    "xpu": r"Intel|XPU|xpu",
    "mps": r"\bMac\b|macOS|Apple|MPS|mps",
    "npu": r"Huawei|Ascend|NPU|npu",
}

# Errors of a machine that are about no device, of which the catalog has no texts.
OTHERS = """
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 7.79 GiB.
RuntimeError: CUDA error: out of memory
torch.AcceleratorError: CUDA error: device-side assert triggered
RuntimeError: CUDA error: an illegal memory access was encountered
RuntimeError: CUDA error: unspecified launch failure
RuntimeError: CUDA error: no kernel image is available for execution on the device
RuntimeError: CUDA error: invalid device function
RuntimeError: CUDA error: invalid argument
RuntimeError: CUDA error: initialization error
RuntimeError: CUDA error: unknown error
""".strip().splitlines()
MEMORY = {
    "xpu": "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 2.00 GiB. GPU 0 has 15.91 GiB.",
    "mps": "RuntimeError: MPS backend out of memory (MPS allocated: 17.36 GB, max allowed: 18.13 GB).",
    "npu": "RuntimeError: NPU out of memory. Tried to allocate 5.03 GiB (NPU 3; 60.96 GiB total capacity)",
}
# They name no accelerator, so the reader may have any.
UNNAMED = [
    "RuntimeError: Cannot access accelerator device when none is available.",
    "RuntimeError: pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator",
    "torch.OutOfMemoryError",
    "RuntimeError: [enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory",
]


def filled(text: str, accelerator: str) -> str:
    small, capitals = NAMES[accelerator]
    return CAPITALS.sub(capitals, SMALL.sub(small, text))


def names_only(text: str, accelerator: str) -> bool:
    """Whether what is read of a text names this accelerator and no other: in a slot, or in a pattern for this one."""
    if accelerator == "hip" and "HIP error" in text:
        return True  # what HIP itself says is about AMD's GPUs
    found = next(iter(messages(" ".join(map(squeezed, lines(clean(text)))))), None)
    if found is None:
        return False
    read = " ".join(value for value in found.match.groupdict().values() if value)
    named = {name for pattern in (SMALL, CAPITALS) for name in pattern.findall(read)}
    named |= {name for name in CAPITALS.findall(found.match[0]) if name in found.match.re.pattern}
    if "GPU or" in found.match[0]:
        return False  # the reader may have either
    small, capitals = NAMES[accelerator]
    return bool(named & {small, capitals}) and named <= {small, capitals} and (accelerator != "hip" or "HIP" in named)


def fillings(accelerator: str) -> list[str]:
    """Return the texts with a slot, filled with this accelerator, if PyTorch can say that."""
    texts = []
    for message in load().messages.values():
        for text in (filled(each["text"], accelerator) for each in [*message.texts, *message.examples]):
            found = explain(text)
            if found.message is None or not names_only(text, accelerator):
                continue
            if accelerator == "hip" and not re.search(r"\.(?:cpp|h|cu)\b", found.message.raised):
                continue  # PyTorch's Python says the same for both
            if accelerator == "mps" and found.reads.get("between") == "two accelerators":
                continue  # a Mac has one GPU
            texts.append(text)
    has_all = accelerator in ("cuda", "hip")
    others = [filled(text, accelerator) for text in OTHERS] if has_all else [MEMORY[accelerator]]
    return list(dict.fromkeys([*texts, *others]))


def sentences(found: Diagnosis) -> Iterator[str]:
    """Yield each sentence of what is said, of each cause that is listed, and each command below its label."""
    said = [as_text(found, whole=True, width=10_000)]
    for cause in (likely.cause for likely in found.causes):
        said += [cause.title, cause.why, cause.confirm, cause.sign]
        label = ""
        for line in change(cause) if cause.commands else []:
            label = line if line.startswith("#") else label
            yield f"{label} {line}"
    if found.message:
        said += [found.message.note, found.ask]
    said += [part for way in found.ways for part in (way.when, way.command)]
    for line in "\n".join(said).splitlines():
        if not re.match(r" *[-+$#] ", line):  # a program's lines are an example; commands come with their labels
            yield from re.split(r"(?<=[.:]) ", line)


def is_foreign(sentence: str, accelerator: str) -> bool:
    """Whether a sentence speaks of another maker's things to the owner of this accelerator; "" for any owner."""
    tools = [maker for maker, words in TOOLS.items() if maker != accelerator and re.search(words, sentence)]
    named = [maker for maker, words in WORDS.items() if maker != accelerator and re.search(words, sentence)]
    labels = re.sub("|".join(TOOLS.values()), "", sentence)
    unlabelled = [maker for maker in (*tools, *named) if not re.search(MAKERS[maker], labels)]
    if accelerator == "":
        return bool(unlabelled) and len(set(named)) < 2
    if accelerator == "cuda":  # a build for AMD says "cuda" as well, and a program for CUDA may run on any machine
        return bool(unlabelled)
    is_beside_own = bool(re.search(MAKERS[accelerator], labels))
    if accelerator == "hip":
        reads_too = is_beside_own and not re.search(TOOLS["cuda"], sentence.replace("CUDA_VISIBLE_DEVICES", ""))
        return bool(tools or named) and not (reads_too and tools in ([], ["cuda"]))
    return bool(tools or re.search(MODULE, sentence)) or (bool(named) and not is_beside_own)


def foreign(text: str, accelerator: str) -> list[str]:
    doors = explain(text), explain(RuntimeError(text))
    assert all(found.message or found.other for found in doors), text
    said = dict.fromkeys(sentence for found in doors for sentence in sentences(found))
    return [sentence for sentence in said if is_foreign(sentence, accelerator)]


@pytest.mark.slow
@pytest.mark.parametrize("accelerator", NAMES)
def test_an_answer_speaks_of_the_accelerator_that_the_message_names(accelerator):
    texts = fillings(accelerator)
    assert len(texts) > 40
    assert {text: words for text in texts if (words := foreign(text, accelerator))} == {}


@pytest.mark.parametrize("text", UNNAMED)
def test_where_no_accelerator_is_named_each_maker_is_named_with_its_words(text):
    assert foreign(text, "") == []


@pytest.mark.parametrize("accelerator", ["xpu", "mps", "npu"])
def test_only_simulated_accelerators_are_simulated(accelerator):
    ways = {way.command for text in fillings(accelerator) for way in explain(text).ways}
    assert ways == {"samedevice run --gpus real SCRIPT.py"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("RuntimeError: No XPU devices are available.", ["sycl-ls", "xpu-smi", "ZE_AFFINITY_MASK"]),
        ("RuntimeError: No HIP GPUs are available", ["rocminfo", "HIP_VISIBLE_DEVICES", "/dev/kfd", "render"]),
        ("AssertionError: Torch not compiled with XPU enabled", ["whl/xpu"]),
        ("RuntimeError: HIP error: invalid device function", ["rocminfo", "HSA_OVERRIDE_GFX_VERSION", "AMD_SERIALIZE"]),
        (UNNAMED[0], ["NVIDIA", "AMD", "Intel", "Mac"]),
    ],
)
def test_an_answer_names_what_the_maker_offers(text, words):
    said = as_text(explain(text), whole=True)
    assert [word for word in words if word not in said] == []


@pytest.mark.parametrize(
    ("sentence", "accelerator"),
    [
        ("Run `nvidia-smi`.", "hip"),
        ("Run `nvidia-smi`, or on AMD's GPUs `rocm-smi`.", "hip"),
        ("Set CUDA_VISIBLE_DEVICES.", "hip"),
        ("Set CUDA_VISIBLE_DEVICES.", "xpu"),
        ("Set HIP_VISIBLE_DEVICES.", "cuda"),
        ("For Intel's: ZE_AFFINITY_MASK, for Huawei's: ASCEND_RT_VISIBLE_DEVICES.", "npu"),
        ("Print `torch.cuda.device_count()` on the XPU.", "xpu"),
        ("PyTorch cannot use CUDA.", "mps"),
        ("Run `nvidia-smi`.", ""),
    ],
)
def test_foreign_words_are_found(sentence, accelerator):
    assert is_foreign(sentence, accelerator)
