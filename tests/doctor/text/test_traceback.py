"""Where an error happened, in the forms in which tracebacks are pasted.

The files in tracebacks/ are what these programs print for one and the same error, at the releases in their names.
"""

import re
from pathlib import Path

import pytest

from samedevice import explain
from samedevice.doctor.text.traceback import Frame

TRACEBACKS = Path(__file__).parent / "tracebacks"
ERROR = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! "
    "(when checking argument for argument mat1 in method wrapper_CUDA_addmm)"
)
PYTHON = (TRACEBACKS / "python-3.12.txt").read_text("utf-8")
TRAIN = "/srv/study/gpu-study/train.py"
STATEMENT = "return _call_impl(\n    self,\n    x,\n)"
FIRST_LINE = "return _call_impl("


def place(text):
    diagnosis = explain(text)
    assert diagnosis.message is not None
    return diagnosis.place


@pytest.mark.parametrize(
    ("name", "file", "function", "code"),
    [
        ("python-3.9", TRAIN, "forward", FIRST_LINE),
        ("python-3.12", TRAIN, "forward", FIRST_LINE),
        ("python-3.13", TRAIN, "forward", STATEMENT),
        ("ipython-7.34", "~/gpu-study/My Drive/train.py", "forward", STATEMENT.removesuffix("\n)")),
        ("ipython-8.0", "~/gpu-study/My Drive/train.py", "Net.forward", STATEMENT),
        ("ipython-8.12", "~/gpu-study/My Drive/train.py", "Net.forward", STATEMENT),
        ("ipython-9.18", "~/gpu-study/My Drive/train.py", "Net.forward", STATEMENT),
        ("pytest-9-short", "train.py", "forward", FIRST_LINE),
        ("pytest-9-long", "train.py", "", STATEMENT),
        ("rich-15", None, "forward", STATEMENT),
        ("rich-15-locals", None, "forward", STATEMENT),
    ],
)
def test_the_place_is_the_users_own_innermost_line(name, file, function, code):
    # rich breaks the long path over two lines.
    long = "/srv/study/gpu-study/a_very_long_directory_name/of_the_project/with/miniconda3/envs/base/train.py"
    text = (TRACEBACKS / f"{name}.txt").read_text("utf-8")
    assert place(text) == Frame(file or long, 8, function, code)


def test_every_traceback_of_the_folder_is_tested():
    here = Path(__file__).read_text("utf-8")
    assert [file.name for file in TRACEBACKS.iterdir() if f'("{file.stem}", ' not in here] == []


def prefixed(prefix):
    return "".join(prefix(number) + line for number, line in enumerate(PYTHON.splitlines(keepends=True)))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(prefixed(lambda _: "[rank0]: "), id="torchrun"),
        pytest.param(prefixed(lambda _: "[default3]:"), id="torchrun --local-ranks-filter"),
        pytest.param(prefixed(lambda _: "[1,0]<stderr>:"), id="mpirun"),
        pytest.param(prefixed(lambda _: "0: "), id="srun --label"),
        pytest.param(prefixed(lambda _: "(RayTrainWorker pid=2754037, ip=10.10.100.107) "), id="ray"),
        pytest.param(prefixed(lambda _: "\x1b[36m(train_func pid=7)\x1b[0m "), id="ray, coloured"),
        pytest.param(prefixed(lambda _: "trainer-1  | "), id="docker compose"),
        pytest.param(prefixed(lambda n: f"2026-03-04T10:00:{n:02}.{n * 7919 % 1000:03}Z "), id="kubernetes"),
        pytest.param(prefixed(lambda n: f"2026-03-04 10:00:{n:02},123 - ERROR - "), id="logging"),
        pytest.param(prefixed(lambda _: "> "), id="quoted"),
        pytest.param(prefixed(lambda _: "> > "), id="quoted twice"),
        pytest.param(prefixed(lambda _: "    "), id="indented"),
        pytest.param(prefixed(lambda _: "\t"), id="indented by tabs"),
        pytest.param(prefixed(lambda _: "  | "), id="exception group"),
        pytest.param(re.sub("(?m)^ +", "", PYTHON), id="without indents"),
        pytest.param(PYTHON.replace(" ", "\u00a0"), id="no-break spaces"),
        pytest.param(PYTHON.replace("\n", "\r\n"), id="Windows line ends"),
        pytest.param(PYTHON.replace("\n", "\u2028"), id="Unicode line ends"),
        pytest.param(PYTHON.replace('"', "&quot;").replace("'", "&#x27;").replace("<", "&lt;"), id="HTML"),
        pytest.param(PYTHON.replace('"', "\u201d").replace("'", "\u2019"), id="typographic quotes"),
        pytest.param('{"log": "' + PYTHON.replace('"', '\\"').replace("\n", "\\n") + '"}', id="JSON"),
        pytest.param(repr(PYTHON), id="repr"),
        pytest.param(re.sub("(?m)^", "\x1b[31m\x1b[1m", PYTHON).replace("\n", "\x1b[0m\n"), id="coloured"),
        pytest.param(re.sub("(?m)^", "[0;31m", PYTHON).replace("\n", "[0m\n"), id="colours without escapes"),
        pytest.param("问题如下\uff1a\n" + PYTHON + "请问怎么解决\uff1f谢谢\uff01", id="Chinese around"),
        pytest.param("🔥" * 300 + "\n" + PYTHON, id="emoji before"),
        pytest.param(PYTHON.encode(), id="bytes"),
        pytest.param(b"\x93caf\xe9\x94 \xff\n" + PYTHON.encode(), id="bytes that are not UTF-8"),
    ],
)
def test_the_same_place_is_read_however_the_traceback_was_pasted(text):
    assert place(text) == Frame(TRAIN, 8, "forward", FIRST_LINE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "<ipython-input-5-1a2b3c> in <cell line: 3>()\n      2 for x in loader:\n----> 3     model(x)\n\n1 frames\n"
            "/usr/local/lib/python3.10/dist-packages/torch/nn/modules/linear.py in forward(self, input)\n"
            "    113     def forward(self, input: Tensor) -> Tensor:\n--> 114         return F.linear(input)\n",
            Frame("<ipython-input-5-1a2b3c>", 3, "<cell line: 3>", "model(x)"),
            id="Colab",
        ),
        pytest.param(
            "/tmp/ipython-input-3-2088.py in <cell line: 0>()\n----> 1 step(model)\n\n"
            "/content/drive/My Drive/nets.py in step(model)\n     11 def step(model):\n---> 12     return model(x)\n",
            Frame("/content/drive/My Drive/nets.py", 12, "step", "return model(x)"),
            id="Colab with a file on Drive",
        ),
        pytest.param(
            "\x1b[1;32m/srv/study/a.ipynb Cell 4\x1b[0m in \x1b[0;36m<cell line: 1>\x1b[1;34m()\x1b[0m\n"
            "\x1b[0;32m----> <a href='vscode-notebook-cell:/srv/study/a.ipynb#W3s?line=0'>1</a>\x1b[0m model(x)\n",
            Frame("/srv/study/a.ipynb Cell 4", 1, "<cell line: 1>", "model(x)"),
            id="VS Code",
        ),
        pytest.param(
            "~\\AppData\\Local\\Temp\\ipykernel_8\\2.py in <module>\n----> 1 model(x)\n\n"
            "c:\\py\\lib\\site-packages\\torch\\nn\\modules\\linear.py in forward(self, input)\n"
            "--> 114  return F.linear(input)\n",
            Frame("~/AppData/Local/Temp/ipykernel_8/2.py", 1, "<module>", "model(x)"),
            id="IPython 7 on Windows",
        ),
        pytest.param(
            '  File "D:\\my study\\train.py", line 7, in <module>\n    out = model(x)\n'
            '  File "C:\\Users\\you\\miniconda3\\lib\\runpy.py", line 9, in run\n    return f(x)\n'
            '  File "C:\\Python312\\Lib\\site-packages\\torch\\nn\\modules\\linear.py", line 125, in forward\n'
            "    return F.linear(\n",
            Frame("D:/my study/train.py", 7, "<module>", "out = model(x)"),
            id="Windows",
        ),
        pytest.param(
            "\u250c\u2500 Traceback (most recent call last) \u2500\u2510\n\u2502 in step:12            \u2502\n"
            "\u2502   11                  \u2502\n\u2502 \u2771 12 \u2502   model(x)       \u2502\n"
            "\u2514\u2500\u2500\u2518\n",
            Frame("", 12, "step", "model(x)"),
            id="rich without a file",
        ),
        pytest.param(
            'Traceback (most recent call last):\n  File "a.py", line 2, in f\n    y = x[mask] + w[m]\n',
            Frame("a.py", 2, "f", "y = x[mask] + w[m]"),
            id="brackets that are no colours",
        ),
        pytest.param(
            '  File "a.py", line 2, in f\n    y = g(x,\n    ~~~~^^^^\n          m)\n    ~~^^\n',
            Frame("a.py", 2, "f", "y = g(x,\n      m)"),
            id="marks between the lines of a statement",
        ),
        pytest.param(
            "E   KeyError: 'a'\n\ntests/test_a.py:3: KeyError\n    def test_b():\n>       assert a + b\n"
            "E       RuntimeError: inner\n\ntests/test_a.py:7: RuntimeError\n",
            Frame("tests/test_a.py", 7, "", "assert a + b"),
            id="pytest twice",
        ),
    ],
)
def test_further_forms(text, expected):
    assert place(text + ERROR) == expected


def test_of_chained_tracebacks_the_one_that_ends_in_the_message_counts():
    other = 'Traceback (most recent call last):\n  File "log.py", line 99, in write\n    disk.full()\nOSError: disk\n'
    chained = f"{PYTHON}\nDuring handling of the above exception, another exception occurred:\n\n{other}"
    assert place(chained).file == TRAIN
    chained = f"{other}\nThe above exception was the direct cause of the following exception:\n\n{PYTHON}"
    assert place(chained).file == TRAIN


def test_the_traceback_inside_a_replicas_counts():
    text = (
        'Traceback (most recent call last):\n  File "main.py", line 5, in <module>\n    model(x)\n'
        "RuntimeError: Caught RuntimeError in replica 1 on device 1.\nOriginal Traceback (most recent call last):\n"
    )
    assert place(text + PYTHON.split("\n", 1)[1]).file == TRAIN


def test_a_message_above_its_traceback_has_the_place_below():
    assert place(f"{ERROR}\n\n{PYTHON.rsplit('RuntimeError', 1)[0]}").file == TRAIN


def test_without_a_frame_of_the_users_own_the_innermost_is_shown():
    outer = '  File "/x/site-packages/torch/a.py", line 1, in a\n    b()\n'
    inner = '  File "/x/site-packages/torch/b.py", line 2, in b\n    c()\n'
    assert place(outer + inner + ERROR) == Frame("/x/site-packages/torch/b.py", 2, "b", "c()")


@pytest.mark.parametrize(
    "text",
    ["", 'File "<stdin>", line 1, in <module>\n', "12:30:45 in epoch 3\n", "I ran train.py in colab:\n", "Cell In\n"],
)
def test_without_code_there_is_no_place(text):
    assert place(text + ERROR) is None


@pytest.mark.parametrize(
    ("file", "library"),
    [
        ("/usr/lib/python3.11/threading.py", True),
        ("/opt/conda/lib/python3.10/site-packages/torch/nn/functional.py", True),
        ("C:/Users/you/anaconda3/lib/threading.py", True),
        ("C:/Users/you/anaconda3/envs/my env/lib/runpy.py", True),
        ("<frozen runpy>", True),
        ("/srv/study/src/pytorch/torch/nn/modules/module.py", True),
        ("torch/_tensor.py", True),
        ("/srv/study/lib/train.py", False),
        ("/srv/study/python/train.py", False),
        ("torch/train.py", False),
        ("torch_utils/nn/train.py", False),
        ("<ipython-input-3-abc>", False),
        ("Cell In[3]", False),
    ],
)
def test_what_belongs_to_a_library(file, library):
    assert Frame(file, 1, "", "").in_library is library
