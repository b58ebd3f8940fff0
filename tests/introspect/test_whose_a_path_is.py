"""Whose a path is: the same for a program that runs and for a pasted traceback."""

import re

import pytest

from samedevice.doctor.text.traceback import Frame
from samedevice.introspect.libraries import is_installed, is_library, is_model, is_third_party, package

INSTALLED = {
    "/env/lib/python3.12/site-packages/peft/tuners/lora/layer.py": "peft",
    "/usr/lib/python3/dist-packages/whisper/model.py": "whisper",
    "C:/Users/me/AppData/Local/Programs/Python/Python310/Lib/site-packages/diffusers/loaders.py": "diffusers",
    "D:/ComfyUI/python_embeded/Lib/site-packages/transformers/trainer.py": "transformers",
    "/work/ComfyUI/venv/lib/python3.10/site-packages/accelerate/hooks.py": "accelerate",
    "site-packages/kornia/enhance/color.py": "kornia",
    "/env/lib/python3.12/site-packages/torch/nn/modules/linear.py": "",
    "<frozen runpy>": "",
    "/root/.cache/huggingface/modules/transformers_modules/THUDM/chatglm2-6b/0ad3f1a2/modeling_chatglm.py": (
        "THUDM/chatglm2-6b"
    ),
    "/c/transformers_modules/microsoft/Phi_hyphen_3_dot_5/modeling_phi3.py": "microsoft/Phi-3.5",
    "/c/transformers_modules/InternVL2_5-38B/modeling_internvl_chat.py": "InternVL2_5-38B",
}
OF_PYTHON = {  # of a running Python, these are known by where it is
    "/opt/conda/lib/python3.11/threading.py": "",
    "C:/Python310/lib/runpy.py": "",
    "<string>": "",
    "/usr/local/bin/whisper": "sys.exit(cli())",
    "C:/env/Scripts/whisper.exe/__main__.py": "sys.exit(cli())",
}
THE_READERS = [
    "train.py",
    "/home/me/project/train.py",
    "/home/me/transformers/src/transformers/models/llama/modeling_llama.py",
    "src/accelerate/hooks.py",
    "/home/me/kornia/kornia/enhance/color.py",
    "/home/me/vision/torchvision/ops/boxes.py",
    "/home/me/pytorch-image-models/timm/layers/drop.py",
    "/home/me/diffusers/examples/text_to_image/train.py",
    "/home/me/python_project/lib/model.py",
    "D:/work/Lib/model.py",
    "/home/me/lib/python3-experiments/train.py",
    "/home/me/python/lib/model.py",
    "/home/me/bin/train",
    "/home/me/thesis/diffusers/seg/train.py",
    "/home/me/accelerate/train/loop.py",
    "/home/me/bin/train.py",
    "/home/me/ComfyUI/custom_nodes/mine/nodes.py",
    "/home/me/whisper/train.py",
]
CUT = {
    "transformers/models/llama/modeling_llama.py": "transformers",
    ".../torch_geometric/nn/conv/gcn_conv.py": "torch_geometric",
    "torch/nn/modules/linear.py": "",
    "/opt/there/torch/functional.py": "",
}


@pytest.mark.parametrize(("path", "name"), INSTALLED.items())
def test_what_is_installed_is_a_library_live_and_pasted(path, name):
    assert is_installed(path) and is_library(path)
    assert package(path) == Frame(path, 1, "", "").package == name
    assert Frame(path, 1, "", "").in_library
    assert is_third_party(path) == bool(name)


@pytest.mark.parametrize(("path", "code"), OF_PYTHON.items())
def test_a_paste_tells_python_and_the_commands_of_packages_by_their_paths(path, code):
    assert Frame(path, 1, "", code).in_library and not Frame(path, 1, "", code).package
    assert not is_library(path)


@pytest.mark.parametrize("path", THE_READERS)
def test_a_checkout_and_a_program_are_the_readers_live_and_pasted(path):
    assert not is_library(path) and not is_third_party(path)
    assert not Frame(path, 1, "", "").in_library and not Frame(path, 1, "", "").package


@pytest.mark.parametrize(("path", "name"), CUT.items())
def test_a_path_that_was_cut_tells_a_library_by_its_name_in_a_paste(path, name):
    assert Frame(path, 1, "", "").in_library
    assert Frame(path, 1, "", "").package == name


def test_the_code_of_a_model_is_told_from_a_package():
    models = [path for path in INSTALLED if is_model(path)]
    assert len(models) == 3 and all(re.search("transformers_modules", path) for path in models)
