"""Of a whole log the error that ended it is explained, the others are named once each, and another death is said."""

import json
import tomllib
from itertools import zip_longest
from pathlib import Path

import pytest

from samedevice import explain
from samedevice.doctor.diagnosis_json import as_data
from samedevice.doctor.text import read

LOGS = Path(__file__).parent / "logs"
EXPECTED = tomllib.loads((LOGS / "logs.toml").read_text("utf-8"))
FILES = {file.stem: file for file in LOGS.iterdir() if file.suffix == ".txt"}


def shown(place):
    return f"{place.file.split('/')[-1]}:{place.line}" if place else ""


def of(name):
    return FILES[name].read_bytes().decode()


def answer(diagnosis):
    others = [f"{other.message.id} {shown(other.place)}".rstrip() for other in diagnosis.others]
    told = {"message": diagnosis.message.id if diagnosis.message else "", "place": shown(diagnosis.place)}
    return {**told, "others": others, "last": diagnosis.last}


def expected(name):
    return {
        "place": "",
        "others": [],
        "last": "",
        **{key: EXPECTED[name][key] for key in EXPECTED[name] if key != "of"},
    }


def test_each_log_has_an_answer_that_it_must_get():
    assert EXPECTED.keys() == FILES.keys()
    assert len(FILES) >= 60
    assert not [name for name in FILES if any(folder in of(name) for folder in ("/work/", "/root/", "/tmp/"))]


@pytest.mark.parametrize("name", EXPECTED)
def test_the_error_that_ended_it_is_explained_the_others_are_named_and_another_death_is_said(name):
    assert answer(explain(of(name))) == expected(name)


ERROR = "RuntimeError: indices should be either on cpu or on the same device as the indexed tensor (cpu)"
TRACEBACK = f'Traceback (most recent call last):\n  File "pick.py", line 3, in pick\n    return scores[keep]\n{ERROR}\n'
KEY = "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n    {}['lr']\nKeyError: 'lr'\n"
STEPS = "2026-03-04 10:00:00 epoch 3 step [12/300] loss 0.412 lr 0.0001 on cuda:0\n" * 4_000  # 300 kB


def test_a_death_is_said_however_long_the_log_goes_on_after_the_device_error():
    for between in ("", STEPS):
        diagnosis = explain(STEPS + TRACEBACK + between + KEY)
        assert (diagnosis.message.id, diagnosis.place.line, diagnosis.last) == ("SD030", 3, "KeyError: 'lr'")


def test_an_error_wins_over_a_warning_that_comes_long_after_it():
    warning = "train.py:3: UserWarning: can't convert cuda:0 device type tensor to numpy.\n"
    assert explain(TRACEBACK + STEPS + warning).message.id == "SD030"
    assert explain(STEPS + warning + STEPS).message.id == "SD050"


def test_a_traceback_whose_every_line_a_logger_wrote_wins_over_a_later_warning():
    logged = "".join(f"2026-03-04 10:00:00,123 - ERROR - {line}" for line in TRACEBACK.splitlines(keepends=True))
    warning = "2026-03-04 10:00:01,123 - WARNING - not saved: can't convert cuda:0 device type tensor to numpy.\n"
    assert answer(explain(logged + warning)) == {
        "message": "SD030",
        "place": "pick.py:3",
        "others": ["SD050"],
        "last": "",
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("*** JOB 1071 ON c0617 CANCELLED AT 2026-09-30T16:00:24 DUE TO TIME LIMIT ***", "CANCELLED"),
        ("error: Detected 1 oom_kill event in StepId=1054.0. Some of the step tasks", "Detected 1 oom_kill"),
        ("[rank0]:[E1218 NCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: W", "Watchdog"),
        ("terminate called after throwing an instance of 'c10::Error'", "terminate called after throwing"),
        ("job.sh: line 3: 4711 Killed                  python train.py", "Killed"),
        ("Aborted (core dumped)", "Aborted"),
    ],
)  # fmt: skip
def test_the_death_of_a_process_is_said_in_its_own_words(line, said):
    assert explain(f"{TRACEBACK}step 4\n{line}\nbye\n").last.startswith(said)


@pytest.mark.parametrize(
    "line", ["Killed 3 workers", "epoch 3: Aborted early", "Ran well", "KeyError: 'lr' was handled"]
)
def test_an_ordinary_line_is_no_death(line):
    assert explain(f"{TRACEBACK}{line}\n{line}\n").last == ""


def test_the_note_on_the_last_error_and_the_other_errors_are_shown_in_one_line_each():
    text = explain(of("several").replace("10:00", "") + KEY)
    shown = str(text)
    assert "Note: The last error in this text is another one: `KeyError: 'lr'`.\n" in shown
    assert "Also in this text: SD050 (/home/me/study/net.py, line 28, in plot).\n" in shown
    assert "Also in this text: SD030 (/home/me/study/net.py, line 24, in pick).\n" in shown
    assert "SD030" in text._repr_html_()


def test_of_many_other_errors_the_last_are_named_and_the_others_counted():
    tests = "".join(
        f"____ test_{number} ____\n{TRACEBACK.replace('line 3', f'line {number}')}" for number in range(1, 9)
    )
    shown = str(explain(tests))
    assert [line[19:] for line in shown.splitlines() if line.startswith("Also in this text: ")] == [
        "4 more.",
        *(f"SD030 (pick.py, line {number}, in pick)." for number in (5, 6, 7)),
    ]


def test_an_error_is_named_once_however_often_it_comes():
    assert explain(TRACEBACK * 50).others == ()
    assert [other.place.line for other in explain(TRACEBACK * 9 + of("plain")).others] == [3]


PLAIN = of("plain")
OWN = PLAIN.index('  File "/home/me/study/net.py", line 12')


@pytest.mark.parametrize("cut", range(len('  File "/home/me/study/')))
def test_a_log_that_was_cut_in_the_middle_of_a_frame_keeps_its_place(cut):
    place = explain(PLAIN[OWN + cut :]).place
    assert place.file.endswith("net.py")
    assert (place.line, place.function, place.code) == (12, "forward", "return self.fc(x)")


@pytest.mark.parametrize(
    "folder", ["lib/python3.11/site-packages/", "site-packages/", "../env/lib/python3.11/site-packages/"]
)
def test_a_relative_path_of_an_installed_package_is_no_file_of_the_users(folder):
    text = PLAIN.replace("/home/me/env/lib/python3.11/site-packages/", folder)
    assert folder in text
    assert shown(explain(text).place) == "net.py:12"
    text = text.replace('"/home/me/study/', '"')
    assert explain(text).place.file == "net.py"


def test_ranks_that_write_into_each_others_lines_are_told_apart():
    lines = [line for line in of("torchrun-tee").split("\n") if line.startswith("[default")]
    ranks = [[line for line in lines if line.startswith(f"[default{rank}]")] for rank in (0, 1)]
    mixed = "\n".join(line for pair in zip_longest(*ranks, fillvalue="[default0]:") for line in pair)
    found = answer(explain(mixed))
    assert (found["message"], found["place"], found["others"]) == ("SD001", "net.py:12", ["SD030 net.py:24"])


TROJAN = (
    'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    y = net(x)  # \u202e\u2066 ) x(ten\u2069\n'
)


@pytest.mark.parametrize("sign", ["\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"])
def test_signs_that_turn_the_order_of_others_are_written_out_wherever_they_are_shown(sign):
    diagnosis = explain(TROJAN.replace("\u202e", sign) + ERROR.replace("cpu or", f"cpu{sign} or"))
    written = f"\\u{ord(sign):04x}"
    assert diagnosis.message.id == "SD030"
    assert written in diagnosis.place.code
    for text in (
        str(diagnosis),
        diagnosis.more,
        diagnosis._repr_html_(),
        json.dumps(as_data(diagnosis), ensure_ascii=False),
    ):
        assert written in text
        assert not set(text) & set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def test_of_a_longer_text_its_end_is_read(monkeypatch):
    monkeypatch.setattr(read, "MOST", 1_000)
    assert explain(TRACEBACK + "step\n" * 300).message is None
    assert explain("step\n" * 300 + TRACEBACK).message.id == "SD030"


def test_the_line_that_raises_a_message_is_no_error_of_its_own():
    frame = '  File "net.py", line 8, in forward\n'
    raised = f'{frame}    raise RuntimeError("Expected all tensors to be on the same device, b\n'
    whole = (
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    )
    assert explain(f"{raised}{whole}").others == ()
    assert explain(raised).message.id == "SD004", "where it is all that is left, it tells what was raised"
