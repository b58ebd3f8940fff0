"""Who keeps the code that failed, what its user can do, and what is to be reported."""

import pytest

from samedevice import explain
from samedevice.doctor.outline import outline
from samedevice.doctor.report_html import as_html

CAT = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! "
    "(when checking argument for argument tensors in method wrapper_CUDA_cat)"
)
ADDED = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
INDEX = (
    "RuntimeError: Expected all tensors to be on the same device, but got index is on cpu, different from other "
    "tensors on cuda:0 (when checking argument in method wrapper_CUDA__index_select)"
)
SITE = "/env/lib/python3.12/site-packages"
COMFY = "C:/ComfyUI_windows_portable/ComfyUI"
MODEL = "/root/.cache/huggingface/modules/transformers_modules/THUDM/chatglm2-6b/0ad3f1a2/modeling_chatglm.py"


def pasted(*frames, message=ADDED, before=""):
    lines = [f'  File "{file}", line {line}, in {function}\n    {code}\n' for file, line, function, code in frames]
    return f"{before}Traceback (most recent call last):\n{''.join(lines)}{message}"


EXECUTED = (f"{COMFY}/execution.py", 518, "execute", "output = get_output_data(obj, inputs)")
NODE = (f"{COMFY}/custom_nodes/crop-and-paste/nodes.py", 44, "run", "image = image + self.offset")
SAMPLED = (f"{COMFY}/comfy/samplers.py", 210, "sample", "x = x + noise")
OWN = ("/home/me/train.py", 12, "main", "loss = criterion(model(x), y)")
TRANSFORMED = (f"{SITE}/kornia/color.py", 30, "rgb", "return image + torch.zeros(3)")
COMMAND = ("/env/bin/whisper", 8, "<module>", "sys.exit(cli())")
WHISPERED = (f"{SITE}/whisper/model.py", 60, "forward", "x = x + self.positional_embedding")
WEBUI = "/home/me/stable-diffusion-webui/extensions/sd-webui-merge/scripts/merge.py"

OWNERS = {
    "a custom node": (pasted(EXECUTED, NODE), "crop-and-paste", "in the repository that you installed the node from"),
    "ComfyUI below a node": (pasted(EXECUTED, NODE, SAMPLED), "crop-and-paste", "in the repository"),
    "ComfyUI": (pasted(EXECUTED, SAMPLED), "ComfyUI", "https://github.com/Comfy-Org/ComfyUI/issues"),
    "an extension": (
        pasted((WEBUI, 7, "merge", "a = a + b")),
        "sd-webui-merge",
        "in the repository that you installed the extension from",
    ),
    "the web UI": (
        pasted(("/home/me/stable-diffusion-webui/modules/sd_hijack.py", 7, "f", "a = a + b")),
        "Stable Diffusion web UI",
        "https://github.com/AUTOMATIC1111/stable-diffusion-webui/issues",
    ),
    "a command": (pasted(COMMAND, WHISPERED), "whisper", "https://github.com/openai/whisper/issues"),
    "a package below the reader's line": (
        pasted(OWN, TRANSFORMED),
        "kornia",
        "https://github.com/kornia/kornia/issues",
    ),
    "a package that is not listed": (
        pasted(OWN, (f"{SITE}/lang_sam/utils.py", 30, "draw", "return image + torch.zeros(3)")),
        "lang_sam",
        "in its issue tracker",
    ),
    "code of a model": (
        pasted((MODEL, 5, "forward", "x = x + torch.zeros(3)")),
        "THUDM/chatglm2-6b",
        "https://huggingface.co/THUDM/chatglm2-6b/discussions",
    ),
    "a program that the text names": (
        f"I get this in ComfyUI since the update:\n{ADDED}",
        "ComfyUI",
        "https://github.com/Comfy-Org/ComfyUI/issues",
    ),
}
META = "NotImplementedError: Cannot copy out of meta tensor; no data!"
OF_AN_APPLICATION = {
    "a node's meta tensor": pasted(EXECUTED, (*NODE[:3], "model.to(device)"), message=META),
    "a file that a node loads": pasted(
        EXECUTED,
        (*NODE[:3], "state = torch.load(path)"),
        (f"{SITE}/torch/serialization.py", 258, "validate", "raise RuntimeError('...')"),
        message="RuntimeError: Attempting to deserialize object on a CUDA device but "
        "torch.cuda.is_available() is False.",
    ),
}
THE_READERS = {
    "a script": pasted(OWN),
    "a layer that got a batch": pasted(
        ("/home/me/train.py", 12, "main", "out = model(input_ids)"),
        (f"{SITE}/transformers/models/bert/modeling_bert.py", 90, "forward", "e = self.word_embeddings(input_ids)"),
        (f"{SITE}/torch/nn/modules/sparse.py", 190, "forward", "return F.embedding(input, self.weight)"),
        message=INDEX,
    ),
    "a checkout": pasted(("/home/me/kornia/kornia/enhance.py", 3, "f", "return image + torch.zeros(3)")),
    "a command that finds no GPU": pasted(
        COMMAND,
        (f"{SITE}/torch/cuda/__init__.py", 239, "_lazy_init", 'raise AssertionError("...")'),
        message="AssertionError: Torch not compiled with CUDA enabled",
    ),
    "what the reader calls a package for": pasted(
        OWN, (f"{SITE}/transformers/modeling_utils.py", 9, "to", "return super().to(*args)"), message=META
    ),
    "no frames": ADDED,
}


@pytest.mark.parametrize(("text", "name", "where"), OWNERS.values(), ids=OWNERS)
def test_the_user_of_others_code_is_told_whose_it_is_and_where_to_report(text, name, where):
    diagnosis = explain(text)
    owner = diagnosis.owner
    assert owner is not None
    assert owner.name == name and owner.where.startswith(where)
    assert owner.tries or owner.command
    assert owner.report.startswith(ADDED)
    assert not diagnosis.ways, "a script that the reader does not have is not to be run"
    parts = outline(diagnosis)
    assert not parts.sections and not parts.choice and not parts.tell, "the change is for who maintains it"
    assert "your line" not in str(diagnosis)


@pytest.mark.parametrize("text", OF_AN_APPLICATION.values(), ids=OF_AN_APPLICATION)
def test_the_user_of_an_application_neither_loads_its_files_nor_moves_its_models(text):
    assert explain(text).owner.name == "crop-and-paste"


@pytest.mark.parametrize("text", THE_READERS.values(), ids=THE_READERS)
def test_what_is_the_readers_or_may_be_has_no_other_owner(text):
    assert explain(text).owner is None


def test_a_report_has_the_message_the_line_and_the_versions_and_no_folder_of_the_reader():
    before = "pytorch version: 2.7.1+cu128\nComfyUI version: 0.3.40\n"
    report = explain(pasted(EXECUTED, NODE, before=before)).owner.report
    assert report.split("\n") == [
        ADDED,
        "custom_nodes/crop-and-paste/nodes.py, line 44:",
        "    image = image + self.offset",
        "ComfyUI: 0.3.40",
        "PyTorch: 2.7.1+cu128",
    ]


def test_a_report_asks_for_the_version_that_the_text_does_not_tell():
    report = explain(pasted(COMMAND, WHISPERED)).owner.report
    assert report.split("\n")[1:] == [
        "whisper/model.py, line 60:",
        "    x = x + self.positional_embedding",
        'PyTorch: (what `python -c "import torch; print(torch.__version__)"` prints)',
    ]


def test_what_a_program_does_with_devices_is_no_reason_where_the_tensor_is_known():
    created = (*NODE[:3], "image = torch.cat([image, torch.zeros(1, 3)])")
    assert "module by module" not in explain(pasted(EXECUTED, created, message=CAT)).owner.says
    assert "module by module" in explain(pasted(EXECUTED, NODE)).owner.says


def test_the_line_to_change_in_others_code_is_kept_for_who_maintains_it():
    created = (*NODE[:3], "image = torch.cat([image, torch.zeros(1, 3)])")
    diagnosis = explain(pasted(EXECUTED, created, message=CAT))
    assert "device=image.device" not in str(diagnosis)
    assert "line 44 of nodes.py of crop-and-paste, in run:" in diagnosis.more
    assert "device=image.device" in diagnosis.more


def test_the_first_screen_has_at_most_twenty_six_lines():
    screens = {name: str(explain(text)).count("\n") for name, (text, _, _) in OWNERS.items()}
    assert max(screens.values()) <= 26, screens


def test_html_has_the_same_and_nothing_of_the_paste_as_markup():
    text = pasted((f"{COMFY}/custom_nodes/<b>x/nodes.py", 44, "run", "image = image + <b>"))
    html = as_html(explain(text))
    assert "custom node of ComfyUI" in html and "<b>" not in html
