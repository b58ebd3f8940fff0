"""Stored text made fit to publish: what is cut from tracebacks and paths, and what is left alone."""

import pytest

from site_build.tracebacks import LONGEST, plain, shorten


@pytest.mark.parametrize(
    ("stored", "published"),
    [
        ("/home/me/run/model.pt", "model.pt"),
        ("~/run/model.pt", "model.pt"),
        (r"C:\Users\me\model.pt", "model.pt"),
        ("open('/root/a/b.py')", "open('b.py')"),
        ("/usr/lib/python3/dist-packages/torch/nn/functional.py:12", "torch/nn/functional.py:12"),
        (r"C:\py\Lib\site-packages\torch\nn\functional.py:12", "torch/nn/functional.py:12"),
        ("\x1b[38;5;28;01mdef\x1b[39;00m f", "def f"),
        ("https://pytorch.org/docs/stable/cuda.html", "https://pytorch.org/docs/stable/cuda.html"),
        ("torch/nn/functional.py", "torch/nn/functional.py"),
        ("cpu/cuda:0, 3 / 4, a//b", "cpu/cuda:0, 3 / 4, a//b"),
    ],
)
def test_absolute_paths_and_colours_go_and_the_rest_stays(stored, published):
    assert plain(stored) == published


def test_the_cells_frames_are_kept_whole():
    stored = "Cell In[2], line 3, in f(x)\n      1 def f(x):\n   (...)      2     # a\n----> 3     g(x)\n\nError: no"
    assert shorten(stored) == stored


def test_a_long_traceback_keeps_its_first_and_last_lines():
    stored = "\n".join(f"Cell In[{n}], line 1\n----> 1 f()\n" for n in range(50)) + "\nRuntimeError: the end"
    lines = shorten(stored).splitlines()
    assert len(lines) == LONGEST
    assert lines[0] == "Cell In[0], line 1"
    assert lines[-1] == "RuntimeError: the end"
    assert f"... {len(stored.splitlines()) - LONGEST + 1} lines ..." in lines


def test_a_message_of_several_lines_is_kept():
    stored = "File /a/site-packages/torch/f.py:9, in f(x)\n----> 9 raise e\n\nRuntimeError: first\n\nsecond\n3 third"
    assert shorten(stored) == "File torch/f.py:9, in f(x)\n\nRuntimeError: first\n\nsecond\n3 third"


def test_a_chained_error_keeps_both():
    first = "Cell In[1], line 1\n----> 1 f()\n\nKeyError: 'a'"
    second = "Cell In[1], line 2\n----> 2 g()\n\nValueError: b"
    stored = f"{first}\n\nThe above exception was the direct cause of the following exception:\n\n{second}"
    assert shorten(stored) == stored


def test_what_another_process_said_before_the_error_goes():
    stored = (
        "---------\n_RemoteTraceback      Traceback (most recent call last)\n_RemoteTraceback: \n"
        '"""\nTraceback (most recent call last):\n  File "/usr/lib/python3.11/pool.py", line 125\n"""\n\n'
        "The above exception was the direct cause of the following exception:\n\n"
        "RuntimeError     Traceback (most recent call last)\nCell In[2], line 1\n----> 1 pool.map(f, x)\n\n"
        "RuntimeError: no"
    )
    assert shorten(stored) == stored[stored.index("RuntimeError  ") :]
