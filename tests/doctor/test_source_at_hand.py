"""`samedevice explain LOG` in the checkout that the log came from: the source is read, and nothing else is."""

import os

import pytest

from samedevice.doctor.explanation import explain_log

MESSAGE = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
MODEL = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = torch.tril(torch.ones(8, 8))
        self.scale = nn.Parameter(torch.ones(8))
        self.register_buffer("pe", torch.zeros(8))

    def forward(self, x):
        pos = torch.arange(x.shape[1])
        y = x + pos
        y = y * self.mask
        y = y + self.pe
        return combine(y, pos)


def combine(a, b):
    return a * b
"""


def log(*frames, file="net.py"):
    """A log whose traceback has these frames: the line of MODEL, and the function."""
    lines = MODEL.split("\n")
    shown = [f'  File "{file}", line {n}, in {name}\n    {lines[n - 1].strip()}\n' for n, name in frames]
    return f"epoch 1\nTraceback (most recent call last):\n{''.join(shown)}{MESSAGE}\n".encode()


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "net.py").write_text(MODEL, encoding="utf-8")
    return tmp_path


def edit_of(diagnosis):
    (culprit,) = diagnosis.culprits
    (edit,) = culprit.edits
    return culprit, edit


def test_a_name_is_followed_to_the_line_that_created_it(checkout):
    culprit, edit = edit_of(explain_log(log((14, "forward")), checkout))
    assert culprit.expression == "pos"
    assert culprit.cause == "tensor_created_in_forward_without_device"
    assert "read from net.py, line 13" in culprit.sentence
    assert (edit.line, edit.old) == (13, "pos = torch.arange(x.shape[1])")
    assert edit.text == "pos = torch.arange(x.shape[1], device=x.device)"


def test_an_attribute_is_followed_to_the_line_that_assigns_it(checkout):
    culprit, edit = edit_of(explain_log(log((15, "forward")), checkout))
    assert culprit.cause == "unregistered_tensor_attribute"
    assert (edit.line, edit.function) == (8, "__init__")
    assert edit.text == 'self.register_buffer("mask", torch.tril(torch.ones(8, 8)), persistent=False)'


def test_a_registered_attribute_is_not_accused_by_its_source(checkout):
    diagnosis = explain_log(log((16, "forward")), checkout)
    assert not any("read from" in culprit.sentence for culprit in diagnosis.culprits)


def test_an_argument_is_followed_to_the_caller(checkout):
    culprit, edit = edit_of(explain_log(log((17, "forward"), (21, "combine")), checkout))
    assert (culprit.expression, edit.line) == ("pos", 13)


@pytest.mark.parametrize("file", ["/home/you/other/place/net.py", r"C:\Users\you\net.py"])
def test_a_log_of_another_machine_is_read_by_the_end_of_its_paths(checkout, file):
    assert edit_of(explain_log(log((14, "forward"), file=file), checkout))[1].line == 13


def test_a_file_that_has_changed_is_left_and_said_to_have_changed(checkout):
    (checkout / "net.py").write_text("# a new first line\n" + MODEL, encoding="utf-8")
    diagnosis = explain_log(log((14, "forward")), checkout)
    assert "net.py has changed since: its line 14 is another" in diagnosis.note
    assert diagnosis.culprits == explain_log(log((14, "forward")), None).culprits


def unread(checkout, file="net.py"):
    """Whether the log is explained as without any source."""
    diagnosis = explain_log(log((14, "forward"), file=file), checkout)
    return diagnosis.culprits == explain_log(log((14, "forward"), file=file), None).culprits and not diagnosis.note


@pytest.mark.parametrize(
    "file", ["//server/share/net.py", r"\\server\share\net.py", "../net.py", "sub/../../net.py", "net.txt", "net.py\0"]
)
def test_no_path_leads_out_of_the_folder(checkout, file):
    inside = checkout / "inside"
    inside.mkdir()
    assert unread(inside, file)


def test_no_link_leads_out_of_the_folder(checkout):
    inside = checkout / "inside"
    inside.mkdir()
    try:
        (inside / "net.py").symlink_to(checkout / "net.py")
    except OSError:
        pytest.skip("links need a right here")
    assert unread(inside)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "net.py")
    assert unread(tmp_path)


def test_a_large_file_is_not_read(tmp_path):
    (tmp_path / "net.py").write_text(MODEL + "#" * 1_000_000, encoding="utf-8")
    assert unread(tmp_path)


@pytest.mark.parametrize("text", ["def f(:\n" * 14, "(" * 5_000 + "\n" * 20, "\0" * 100])
def test_a_file_that_is_no_python_is_left(tmp_path, text):
    lines = text.split("\n")
    lines += [""] * 20
    lines[13] = "        y = x + pos"
    (tmp_path / "net.py").write_text("\n".join(lines), encoding="utf-8")
    assert unread(tmp_path)


def test_nothing_of_the_file_is_run(checkout):
    marker = checkout / "ran"
    (checkout / "net.py").write_text(MODEL + f"\nopen({str(marker)!r}, 'w')\n", encoding="utf-8")
    explain_log(log((14, "forward")), checkout)
    assert not marker.exists()
