"""No text keeps the doctor busy, breaks it, or hides a message on its last line."""

import datetime
import io
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from samedevice import explain
from samedevice.catalog import load
from samedevice.catalog.patterns import needle

ERROR = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
LOG = "2026-03-04 10:00:00 epoch 3 step [12/300] loss 0.412 lr 0.0001 on cuda:0\n"
MEGABYTES = 10_000_000

MESSAGES = load().messages.values()
NEEDLES = sorted({needle(pattern) for message in MESSAGES for pattern in message.patterns})
TEXTS = sorted({(message.id, text["text"]) for message in MESSAGES for text in message.texts})


def filled(text, size):
    return (text * (size // len(text) + 1))[:size]


def rendered(diagnosis):
    """Everything that can be shown, as a UTF-8 terminal or page would take it."""
    Console(file=io.StringIO(), width=80).print(diagnosis)
    for shown in (str(diagnosis), diagnosis._repr_html_(), repr(diagnosis)):
        shown.encode("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\n",
        b"",
        "\0",
        "\ud800",
        "\udfff " + ERROR,
        "\x1b[",
        "\x1b]0;",
        "\u2028",
        "\ufeff",
        b"\xff\xfe",
        b"\xc3(",
    ],
    ids=ascii,
)
def test_texts_that_hold_next_to_nothing_break_nothing(text):
    rendered(explain(text))


def test_only_text_can_be_explained():
    with pytest.raises(TypeError, match="not int"):
        explain(3)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_bytes_of_the_usual_encodings_are_read(encoding):
    assert explain(f"Fehler: \xe4\n{ERROR}".encode(encoding)).message.id == "SD002"


def test_a_traceback_that_a_surrogate_stands_in_can_be_shown():
    diagnosis = explain(f'  File "\ud800.py", line 1, in f\n    x = "\udc80"\n{ERROR}')
    assert diagnosis.place.line == 1
    rendered(diagnosis)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(ERROR + "\n" + filled(LOG, MEGABYTES), "SD002", id="an error at the start of a log"),
        pytest.param(filled(LOG, MEGABYTES).encode() + ERROR.encode(), "SD002", id="bytes, an error at their end"),
        pytest.param(filled("x", MEGABYTES), None, id="one word"),
        pytest.param(filled("Input type (", MEGABYTES), None, id="a message's beginning, over and over"),
    ],
)
def test_ten_megabytes_are_read_in_seconds(text, expected):
    # About one second on two slow cores; the bound is for a machine that does other things too.
    start = time.process_time()
    diagnosis = explain(text)
    assert time.process_time() - start < 10
    assert (diagnosis.message and diagnosis.message.id) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(" ".join(words[:-1] for words in NEEDLES) + "\n", id="almost every message on a line"),
        pytest.param(" ( ".join(reversed(NEEDLES)) + "\n", id="the words of every message on a line"),
        pytest.param("".join(NEEDLES).replace(" ", ""), id="the same without blanks"),
        pytest.param(("a" * 300).join(NEEDLES), id="long words between them"),
        pytest.param(("1" * 300).join(NEEDLES), id="long numbers between them"),
        pytest.param(("a.a:a(a)a[a]a'a, " * 20).join(NEEDLES), id="signs between them"),
        pytest.param("([{'\"`\u2018\u201c<&quot;\uff08", id="brackets and quotes"),
        pytest.param('File "', id="half a frame"),
        pytest.param("\x1b[31", id="half a colour"),
        pytest.param("\\n    ", id="written line ends"),
        pytest.param("\u2502 \u2771 12 \u2502  x = [m]\n", id="boxes"),
        pytest.param("\n", id="line ends"),
        pytest.param("> " * 40 + "\n", id="quotations"),
    ],
)
def test_text_made_to_keep_the_doctor_busy_does_not(text):
    start = time.process_time()
    rendered(explain(filled(text, 400_000)))
    assert time.process_time() - start < 10


def test_a_long_traceback_before_a_message_costs_its_last_frames_only():
    frame = '  File "train.py", line {0}, in f\n    x = f(x)  # {0}\n'
    text = "".join(frame.format(number) for number in range(100_000)) + ERROR
    start = time.process_time()
    assert explain(text).place.line == 99_999
    assert time.process_time() - start < 5


@pytest.mark.parametrize("after", [100_000, 192_500, 197_000, 199_700, 205_000])
def test_a_traceback_is_whole_wherever_in_a_log_it_stands(after):
    traceback = f'Traceback (most recent call last):\n  File "train.py", line 7, in f\n    loss = g(x)\n{ERROR}\n'
    diagnosis = explain(filled(LOG, 300_000) + "\n" + traceback + filled(LOG, after))
    assert diagnosis.place.line == 7


PIECES = st.one_of(
    st.sampled_from(NEEDLES),
    st.sampled_from([text for _, text in TEXTS]).flatmap(
        lambda text: st.integers(0, len(text)).map(lambda cut: text[:cut])
    ),
    st.sampled_from(
        [
            "\x1b[31m",
            "\x1b[0m",
            "[0;31m",
            "\x1b]8;;file:///a\x1b\\",
            "\u2502 \u2771 12 \u2502 x = f(",
            "\u256d\u2500\u2500 Traceback (most recent call last) \u2500\u256e",
            '  File "/a/b.py", line 3, in f\n    y = f(x)\n',
            "File ~/a.py:3, in f(x)\n----> 3 y = f(x,\n      4       z)",
            "Cell In[3], line 4\n",
            "<ipython-input-1-a> in <module>\n",
            "a.py:3: RuntimeError\n",
            "E   RuntimeError: a\n",
            ">       assert f(\n",
            "[rank0]: ",
            "(f pid=3) ",
            "During handling of the above exception, another exception occurred:\n",
            "\u8bbe\u5907\u9519\u8bef\uff0c\u8bf7\u95ee\uff1a",
            "\u30a8\u30e9\u30fc",
            "\ud800",
            "\r",
            "\t",
            "\n",
            "\\n",
            "&lt;",
            "wrapper_CUDA__",
            "cuda:0",
            "\0",
        ]
    ),
    st.text(max_size=30),
    st.text(alphabet="([{<>}]).,:;'\"`|\\/ \n", max_size=40),
)
NOISE = st.tuples(st.lists(PIECES, max_size=12), st.sampled_from(["", " ", "\n"])).map(
    lambda made: made[1].join(made[0])
)
FUZZ = settings(
    max_examples=200,
    derandomize=True,  # the same texts each time: a failure is the change's, not chance's
    database=None,
    deadline=datetime.timedelta(seconds=5),
    suppress_health_check=[HealthCheck.too_slow],
)


@FUZZ
@given(text=NOISE)
def test_no_text_raises_or_takes_long(text):
    rendered(explain(text))


@FUZZ
@given(noise=NOISE, known=st.sampled_from(TEXTS))
def test_a_message_on_the_last_line_is_found_whatever_stands_before_it(noise, known):
    message, text = known
    # The rule keeps the noise from going on in the message, as the first half of another message would.
    assert explain(f"{noise}\n{'-' * 75}\nRuntimeError: {text}").message.id == message
