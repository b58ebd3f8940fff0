"""`samedevice explain`: a file, what is piped or pasted in, an id; for people and for machines."""

import io
import json
import os
import shlex
import subprocess
import sys

import pytest

from samedevice import explain
from samedevice.catalog import load
from samedevice.doctor import site_addresses
from samedevice.doctor.pages import page
from samedevice.doctor.report import terminal_width
from samedevice.doctor.text import read
from samedevice.doors.cli import main
from samedevice.doors.ends_of_logs import end_of

TWO = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!\n"
TEXT = (
    "RuntimeError: Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors "
    "on cuda:0 (when checking argument in method wrapper_CUDA_addmm)\n"
)
EXPLAIN = ("-m", "samedevice", "explain")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_piped_in_is_explained_and_torch_is_not_needed(python):
    for dash in ([], ["-"]):
        without = "import sys; sys.modules['torch'] = None; from samedevice.doors.cli import main; sys.exit(main())"
        done = python("-c", without, "explain", *dash, input=TEXT)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == str(explain(TEXT))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_file_is_explained(capsys, here, encoding):
    (here / "job.log").write_bytes(TEXT.encode(encoding))
    assert main(["explain", "job.log"]) == 0
    assert capsys.readouterr() == (str(explain(TEXT)), "")


def test_the_last_megabytes_of_a_file_and_of_a_pipe_are_read_and_it_says_so(capsys, here, monkeypatch, python):
    with (here / "job.log").open("wb") as log:
        log.write(TWO.encode())
        log.truncate(50_000_000)  # it takes no room on the disk
        log.seek(0, 2)
        log.write(b"\n" + TEXT.encode())
    assert main(["explain", "job.log"]) == 0
    told = "samedevice: only the last 20 MB were read: an error stands at the end.\n"
    assert capsys.readouterr() == (str(explain(TEXT)), told)
    monkeypatch.setattr(read, "MOST", 1_000)
    pipe = io.TextIOWrapper(Pipe(TWO.encode() + b"step\n" * 500_000 + TEXT.encode()))
    monkeypatch.setattr(sys, "stdin", pipe)
    assert main(["explain"]) == 0
    assert capsys.readouterr().out == str(explain(TEXT))


class Pipe(io.BytesIO):
    def seekable(self):
        return False


@pytest.mark.parametrize("most", [16, 1_200_000])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 16, 17, 2_500_000])
@pytest.mark.parametrize("kind", [io.BytesIO, Pipe])
def test_the_end_of_a_stream_is_whole_and_of_utf_16_no_character_is_halved(kind, length, most):
    data = ("\ufeff" + "step" * (length // 8 + 1)).encode("utf-16-le")[:length]
    end, is_cut = end_of(kind(data), most)
    assert is_cut == (length > most)
    assert end == data if not is_cut else data.endswith(end[2:])
    assert not is_cut or end.decode("utf-16", "replace").strip("step\ufffd") == ""


@pytest.mark.parametrize("text", ["", "all is well\n", "ValueError: too many values to unpack (expected 2)\n"])
def test_what_is_no_device_error_we_know_has_exit_code_1(capsys, here, text):
    (here / "job.log").write_text(text)
    assert main(["explain", "job.log"]) == 1
    assert capsys.readouterr() == (str(explain(text)), "")


@pytest.mark.parametrize("asked", ["SD001", "sd001"])
def test_an_id_prints_the_page_of_its_message(capsys, asked):
    assert main(["explain", asked]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == page(load().messages["SD001"], terminal_width())
    assert out.startswith("SD001: Expected all tensors to be on the same device")
    for part in ("    Expected all tensors to be on the same device, but got", "Most likely: ", "explain ID`"):
        assert part in out


def test_an_answer_names_the_command_that_prints_the_page(capsys, here):
    assert main(["explain", TEXT]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    label, _, command = last.partition(": ")
    assert label == "More"
    name, *arguments = shlex.split(command)
    assert (name, main(arguments)) == ("samedevice", 0)
    assert capsys.readouterr().out.startswith("SD001: ")


def test_the_id_of_a_cause_prints_its_page(capsys):
    assert main(["explain", "input_not_moved"]) == 0
    assert capsys.readouterr() == (page(load().causes["input_not_moved"], terminal_width()), "")


def test_the_columns_of_the_terminal_are_those_of_a_page(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["explain", "SD031"]) == 0
    prose = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("    ")]
    assert 50 < max(map(len, prose)) <= 60


def test_machines_read_the_newest_wording_of_a_message(capsys):
    for id_ in load().messages:
        assert main(["explain", id_, "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert (data["message"]["id"], data["ask"]) == (id_, "")
    assert main(["explain", "SD030", "--output-format", "github"]) == 0
    assert capsys.readouterr().out.startswith("::error title=SD030%3A ")


def test_a_file_named_like_an_id_wins_and_that_is_said(capsys, here):
    (here / "SD002").write_text(TEXT)
    assert main(["explain", "SD002"]) == 0
    out, err = capsys.readouterr()
    assert out == str(explain(TEXT))
    assert err.startswith("samedevice: SD002 is a file here")
    assert err.count("\n") == 1


def test_a_directory_named_like_an_id_does_not_win(capsys, here):
    (here / "SD002").mkdir()
    assert main(["explain", "SD002"]) == 0
    out, err = capsys.readouterr()
    assert (out.startswith("SD002: "), err) == (True, "")


@pytest.mark.parametrize("text", [TEXT.strip(), TEXT, f"[rank0]: {TEXT}", TEXT.partition(": ")[2].strip()])
def test_the_text_itself_may_be_given(capsys, text):
    assert main(["explain", text]) == 0
    assert capsys.readouterr() == (str(explain(text)), "")


@pytest.mark.parametrize("text", ["too many values to unpack (expected 2)", "all is\nwell.log"])
def test_a_text_that_is_no_device_error_is_no_misuse(capsys, text):
    assert main(["explain", text]) == 1
    assert capsys.readouterr() == (str(explain(text)), "")


def test_json_has_the_address_of_a_page_once_there_is_one(capsys, monkeypatch):
    monkeypatch.setattr(site_addresses, "REPOSITORY", "https://github.com/some_name/any-name")
    assert main(["explain", "--json", TEXT]) == 0
    assert (
        json.loads(capsys.readouterr().out)["message"]["page"] == "https://some_name.github.io/any-name/errors/sd001/"
    )


def test_json_has_what_a_machine_needs(capsys, here, monkeypatch):
    monkeypatch.setattr(site_addresses, "REPOSITORY", f"https://github.com/{site_addresses._NOBODY}/any-name")
    frame = f'Traceback (most recent call last):\n  File "train.py", line 12, in step\n    y = layer(x)\n{TEXT}'
    (here / "job.log").write_text(frame)
    assert main(["explain", "--json", "job.log"]) == 0
    data = json.loads(capsys.readouterr().out)
    before, after = (
        ["schema", "message", "says", "reads", "place", "culprits"],
        ["causes", "others", "last", "other", "ask"],
    )
    assert list(data) == [*before, "certain", "tell", "ways", "owner", *after]
    assert data["message"]["id"] == "SD001"
    assert data["message"]["page"] is None
    assert (data["reads"]["argument"], data["reads"]["device"], data["reads"]["others"]) == ("mat1", "cpu", "cuda:0")
    assert data["place"] == {"file": "train.py", "line": 12, "function": "step", "code": "y = layer(x)"}
    assert data["causes"][0]["id"] == "input_not_moved"
    assert set(data["causes"][0]) == {"id", "case", "title", "because", "why", "fix", "lesson"}
    assert data["other"] is None
    (culprit,) = data["culprits"]
    assert (culprit["expression"], culprit["cause"]) == ("x", "input_not_moved")
    (edit,) = culprit["edits"]
    assert (edit["file"], edit["line"], edit["action"]) == ("train.py", 12, "replace")
    assert edit["text"] == "y = layer(x.to(next(layer.parameters()).device))"


def test_more_tells_why_and_what_else_it_may_be(capsys, here):
    (here / "job.log").write_text(TWO)
    assert main(["explain", "job.log"]) == 0
    short = capsys.readouterr().out
    assert main(["explain", "--more", "job.log"]) == 0
    more = capsys.readouterr().out
    assert "Why: " in more
    assert "Why: " not in short
    assert "\nOr: " in more


def test_source_at_hand_is_read_unless_that_is_declined(capsys, here):
    (here / "net.py").write_text("import torch\n\ndef step(x):\n    pos = torch.arange(3)\n    return x + pos\n")
    devices = "found at least two devices, cuda:0 and cpu!"
    message = f"RuntimeError: Expected all tensors to be on the same device, but {devices}"
    frame = 'Traceback (most recent call last):\n  File "net.py", line 5, in step\n    return x + pos\n'
    (here / "job.log").write_text(f"{frame}{message}\n")
    assert main(["explain", "job.log"]) == 0
    assert "your line 4 of net.py, in step:\n    - pos = torch.arange(3)" in capsys.readouterr().out
    assert main(["explain", "--more", "job.log"]) == 0
    assert "read from net.py, line 4" in " ".join(capsys.readouterr().out.split())
    assert main(["explain", "--more", "--no-source", "job.log"]) == 0
    assert "line 4" not in capsys.readouterr().out


def test_json_of_what_is_not_recognised_is_json_too(capsys, here):
    (here / "job.log").write_text("all is well")
    assert main(["explain", "job.log", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["message"], data["causes"], data["place"]) == (None, [], None)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["missing.log"], ["'missing.log'", "SD001", "pipe or paste"]),
        (["my training job.log"], ["there is no file 'my training job.log'", "into quotes"]),
        (["x" * 5000], ["there is no file"]),
        (["SD999"], ["SD999", "from SD001 to SD"]),
        (["input_not_moved", "--json"], ["a cause is no error", "samedevice explain input_not_moved"]),
        (["."], ["'.' is a directory"]),
        (["a", "b"], ["unrecognized arguments: b"]),
        (["--jso"], ["--jso", "samedevice explain --help"]),
        (["a\x1b[31m"], [r"'a\x1b[31m'"]),
    ],
)
def test_misuse_of_explain_is_one_sentence_and_exit_code_2(capsys, arguments, says):
    assert main(["explain", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    for part in says:
        assert part in err


@pytest.mark.skipif(os.name == "nt", reason="a shell closes it by <&-")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("explain <&-", "there is no standard input to read: name a file."),
        ("explain 0>log", "standard input cannot be read: Bad file descriptor."),
        ("--help >&-", "there is no standard output to write the answer to."),
    ],
)
def test_a_closed_stdin_or_stdout_is_misuse(here, arguments, says):
    done = subprocess.run(
        f"exec {shlex.quote(sys.executable)} -m samedevice {arguments}", shell=True, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"samedevice: {says}\n")


@pytest.mark.skipif(os.name == "nt", reason="a pipe that breaks is told otherwise there")
def test_a_reader_that_has_enough_is_no_error():
    command = [sys.executable, *EXPLAIN, "SD001"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            process.stdout.close()
            assert process.stderr.read() == b""
        finally:
            process.kill()
    assert process.returncode == 0


@pytest.mark.parametrize(("keys", "code"), [(b"\n\x04", 0), (b"\x03", 130)])
def test_at_a_terminal_it_says_how_to_end_the_paste(keys, code):
    pty = pytest.importorskip("pty", reason="no terminals of this kind here", exc_type=ImportError)
    import termios

    ours, theirs = pty.openpty()
    # Only a controlling terminal turns Ctrl+C into a signal.
    lead = "import os, fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    lead += "import sys; from samedevice.doors.cli import main; sys.exit(main(['explain']))"
    with subprocess.Popen(
        [sys.executable, "-c", lead], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert termios.tcgetattr(theirs)
            os.close(theirs)
            hint = process.stderr.readline()
            os.write(ours, b"RuntimeError: Expected all tensors to be on the same device, but found at least two "
                     b"devices, cuda:0 and cpu!\n" + keys)  # fmt: skip
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()  # at the end of `with`, a process that still reads would be waited for, without end
    os.close(ours)
    assert hint.startswith("samedevice: paste the error")
    assert "Ctrl+D" in hint
    assert (process.returncode, err) == (code, "")
    assert ("SD00" in out) == (code == 0)
