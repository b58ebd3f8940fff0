"""The catalog knows every text about a device with which the installed PyTorch can end a program, or says why not.

`torch_device_messages.toml` has the texts of the releases that were read, and says what it holds; `device_texts.py` has
the rule by which they are found, here once more in the PyTorch that is installed.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import device_texts
import pytest
import torch

from samedevice.catalog import Other
from samedevice.doctor.text.read import read

LIST = Path(__file__).with_name("torch_device_messages.toml")
PACKAGE = Path(torch.__file__).parent
READ = [PACKAGE / "lib" / f"lib{name}.so" for name in ("c10", "c10_cuda", "torch_cpu", "torch_cuda", "torch_python")]
# Of the releases before, the libraries with CUDA were not read.
FIRST_LIBRARIES = (2, 13)
# What stands in a slot of a text that is looked up as it was found, without a line in the list.
SLOTS = ["cuda:0", "cuda", "cpu", "1"]
LACKS = (
    "PyTorch {version} has {count} texts about devices that the list lacks. For each, add a pattern to the catalog, as "
    "CONTRIBUTING.md says, and its line to {file}; or its line there under the reason for which it needs none:\n{texts}"
)


@cache
def listed() -> dict[str, Any]:
    return tomllib.loads(LIST.read_text("utf-8"))


def shape(text: str) -> str:
    return re.sub(r"\{(?:[^{}]|\{[^{}]*\})*\}", "{}", text)


@cache
def known() -> tuple[str, tuple[str, ...]]:
    """All texts of the list in one, in which texts and pieces are found; and the beginnings of those that are cut."""
    messages = [shape(text) for texts in listed()["messages"].values() for _, text in texts]
    others = [text for reason in listed()["needs_none"].values() for text in reason["texts"]]
    cut = tuple(text.removesuffix(" …") for text in others if text.endswith("…"))
    return "\n".join([*messages, *others]), cut


def is_listed(text: str) -> bool:
    whole, cut = known()
    return text in whole or text.startswith(cut)


def recognised(text: str) -> str:
    """The id under which the doctor knows a text, or nothing."""
    reading = read(f"RuntimeError: {text}")
    if reading is None:
        return ""
    return f"other {reading.id}" if isinstance(reading, Other) else reading.message.id


def lacking(found: dict[str, str]) -> list[str]:
    return [
        f"  {file}: {text}"
        for text, file in found.items()
        if not is_listed(text) and not any(recognised(text.replace("{}", slot)) for slot in SLOTS)
    ]


def refuse(lines: list[str]) -> None:
    message = LACKS.format(version=torch.__version__, count=len(lines), file=LIST.name, texts="\n".join(lines))
    assert not lines, message


def test_each_text_is_recognised_as_its_message() -> None:
    wrong = [
        f"{text} is {recognised(plain) or 'not recognised'}, and the list says {name}"
        for name, texts in listed()["messages"].items()
        for _, text in texts
        if recognised(plain := re.sub(r"\{([^{}]*)\}", r"\1", text)) != name
    ]
    assert not wrong, "\n".join(wrong)


def test_each_text_of_the_python_files_is_known() -> None:
    refuse(lacking(device_texts.of_python(PACKAGE)))


def test_each_text_of_the_libraries_is_known() -> None:
    libraries = [file for file in READ if file.exists()]
    if not libraries:
        pytest.skip("the constants are read from the libraries of Linux, and this PyTorch has none")
    if tuple(map(int, re.findall(r"\d+", torch.__version__)[:2])) < FIRST_LIBRARIES:
        pytest.skip(f"the libraries of PyTorch before {FIRST_LIBRARIES[0]}.{FIRST_LIBRARIES[1]} were not read")
    refuse(
        [
            f"  {file.name}: {piece}"
            for file in libraries
            for piece in sorted(device_texts.of_library(file))
            if not is_listed(piece) and not any(recognised(text) for text in (piece, f"{piece} cuda:0"))
        ]
    )


def test_a_new_text_is_named_with_its_file() -> None:
    new = {"all widgets must be on the same accelerator, got {}": "torch/widgets.py"}
    with pytest.raises(AssertionError, match=r"1 texts about devices(.|\n)* torch/widgets.py: all widgets"):
        refuse(lacking(new))


def test_what_is_a_text_about_a_device(tmp_path: Path) -> None:
    (tmp_path / "widgets.py").write_text(
        """
def check(a, b):
    if a.device != b.device:
        raise ValueError(
            f"a is on {a.device} (see the docs), "
            "but expected b's device"
        )
    torch._check(a.is_cuda, lambda: f"a must be on CUDA, got {a.device}")
    message = "unsupported device: %s" % a.device
    warnings.warn("no CUDA device is found")
    raise ValueError(f"expected a device mesh, got {a}")
""",
        "utf-8",
    )
    assert device_texts.of_python(tmp_path) == dict.fromkeys(
        ["a is on {} (see the docs), but expected b's device", "a must be on CUDA, got {}", "unsupported device: {}"],
        "torch/widgets.py",
    )
