"""The doctor in the browser finds in every text what `samedevice.explain` finds."""

import itertools
import random
import re
import warnings
from dataclasses import asdict
from pathlib import Path

from tests.doctor.test_live_and_pasted import COMPUTED, CREATED, FOLLOWING, INDEXED
from tests.doctor.text.test_failing_line import CASES, FRAME, LIBRARY, paste
from tests.doctor.text.test_failing_line import FILE as LINES
from tests.doctor.text.test_logs import FILES as LOGS
from tests.doctor.text.test_logs import of
from tests.doctor.text.test_traced import PASTES as TRACED
from tests.doctor.text.test_traced import paste as traced
from tests.doctor.text.test_typed import CAPITALS, PROSE, QUERIES
from tests.site.pasted import AWKWARD

from drawn_lines.cases import cases
from samedevice import explain, simulate_cuda
from samedevice.catalog import load
from samedevice.doctor.text.traceback import Frame
from samedevice.doctor.text.whose import name_of

ROOT = Path(__file__).parents[2]


def shown(place):
    return place and {**asdict(place), "marked": list(place.marked)}


def found_by_python(text):
    diagnosis = explain(text)
    return {
        "message": diagnosis.message and diagnosis.message.id,
        "reads": dict(diagnosis.reads),
        "says": diagnosis.says,
        "causes": [{"id": likely.cause.id, "because": list(likely.because)} for likely in diagnosis.causes],
        "place": shown(diagnosis.place),
        "culprits": [
            {
                "expression": culprit.expression,
                "device": culprit.device,
                "cause": culprit.cause,
                "case": culprit.case,
                "sentence": culprit.sentence,
                "fix": culprit.fix,
                "edits": [asdict(edit) for edit in culprit.edits],
                "instead": culprit.instead,
                "owner": name_of(Frame(culprit.edits[0].file, 0, "", "")) if culprit.edits else "",
            }
            for culprit in diagnosis.culprits
        ],
        "tell": diagnosis.tell,
        "ways": [asdict(way) for way in diagnosis.ways],
        "owner": diagnosis.owner and {**asdict(diagnosis.owner), "tries": list(diagnosis.owner.tries)},
        "others": [{"message": other.message.id, "place": shown(other.place)} for other in diagnosis.others],
        "last": diagnosis.last,
        "other": diagnosis.other and diagnosis.other.id,
        "ask": diagnosis.ask,
    }


FOUND_BY_THE_PAGE = """async (texts) => {
  const { explain } = await import(new URL("assets/doctor.js", document.baseURI));
  const catalog = await (await fetch("assets/catalog.json")).json();
  return texts.map((text) => {
    const { message, other, others, ...rest } = explain(catalog, text);
    const named = others.map(({ message, place }) => ({ message: message.id, place }));
    return { ...rest, message: message && message.id, other: other && other.id, others: named };
  });
}"""


def differences(page, texts):
    """What the page says otherwise than Python, by the name of the text: its answer, then Python's."""
    answers = page.evaluate(FOUND_BY_THE_PAGE, list(texts.values()))
    both = {name: (answer, found_by_python(texts[name])) for name, answer in zip(texts, answers, strict=True)}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


def test_the_page_finds_what_python_finds_in_every_text_of_the_catalog(visit):
    texts = {}
    for message in load().messages.values():
        for number, text in enumerate([*message.texts, *message.examples]):
            texts[f"{message.id}, text {number}"] = text["text"]
    assert differences(visit(), texts) == {}


def test_the_page_finds_what_python_finds_in_awkward_pastes(visit):
    assert differences(visit(), AWKWARD) == {}


def test_the_page_finds_what_python_finds_in_tracebacks_of_every_form(visit):
    doctor = ROOT / "tests" / "doctor"
    files = [*doctor.glob("text/tracebacks/*.txt"), *doctor.glob("golden/*.paste")]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    texts |= enumerate(
        re.split(r"^====.*\n", (doctor / "not_device_errors.txt").read_text(encoding="utf-8"), flags=re.M)
    )
    texts |= {name: of(name) for name in LOGS}
    assert len(texts) > 20
    assert differences(visit(), texts) == {}


def test_the_page_finds_what_python_finds_in_what_is_typed(visit):
    texts = [*itertools.chain.from_iterable(QUERIES.values()), *PROSE, "\u017found at lea\u017ft two devices", "\u0130"]
    assert differences(visit(), dict(enumerate(form(text) for text in texts for form in [str, *CAPITALS]))) == {}


def test_the_page_reads_where_the_tensors_of_a_traced_call_are(visit):
    assert differences(visit(), {name: traced(*parts) for name, (*parts, _) in TRACED.items()}) == {}


def test_the_awkward_pastes_reach_messages_other_errors_places_and_nothing():
    found = {name: found_by_python(text) for name, text in AWKWARD.items()}
    assert sum(bool(one["message"]) for one in found.values()) > 30
    assert found["wrapped inside words"]["message"] == found["a traceback"]["message"]
    assert found["out of memory"]["other"]
    assert not found["what it is not about"]["message"]
    assert sum(bool(one["place"]) for one in found.values()) > 15


def test_the_page_reads_failing_lines_as_python_reads_them(visit):
    texts = {name: paste(case) for name, case in CASES.items()}
    line = CASES["an input of a linear layer"]["line"]
    for number, (name, message) in enumerate(LINES["messages"].items()):
        inner = f'  File "/home/me/net.py", line 3, in forward\n    x = self.first(x)\n{message}'
        texts[f"{name}, from outside"] = f"{FRAME}    {line}\n{inner}"
        texts[f"{name}, underlined"] = f"{FRAME}    {line}\n    {' ' * number}^^^^^^^^^^^^^\n{message}"
        texts[f"{name}, in a library"] = LIBRARY + message
        texts[f"{name}, in prose"] = f"I get this:\n> loss = F.mse_loss(self.net(x), y) + torch.zeros(3)\n{message}"
        texts[f"{name}, by its name"] = f"{FRAME}    y = torch.addmm(b, x, w)\n{message}"
        package = '  File "/env/site-packages/peft/lora.py", line 3, in forward\n    y = torch.addmm(b, x, w)\n'
        texts[f"{name}, by its name in a package"] = f"{FRAME}    y = net(x)\n{package}{message}"
        texts[f"{name}, thrown away"] = f"{FRAME}    images.to(device)\n    y = f(images)\n{message}"
    found = [found_by_python(text) for text in texts.values()]
    assert sum(bool(one["culprits"]) for one in found) > 60
    assert differences(visit(), texts) == {}


def test_the_page_reads_what_a_line_creates_as_python_reads_it(visit):
    lines = [f"x + {expression}" for expression in (*CREATED, *COMPUTED, *FOLLOWING)]
    lines += [f"{expression}[i]" for expression in (*CREATED, *INDEXED)]
    texts = {
        f"{line}, {name}": f"{FRAME}    return {line}\n{LINES['messages'][name]}"
        for line in lines
        for name in ("two", "indices")
    }
    assert differences(visit(), texts) == {}


def mangled_lines(count):
    """Yield lines of the cases that were cut, and signs and words in any order; the same each time."""
    chance = random.Random(20)
    lines = [case["line"].strip("\n") for case in CASES.values()]
    tokens = re.findall(r"\w+|[^\w ]", "\n".join(lines))
    tokens += [
        "not",
        "is",
        "if",
        "else",
        "for",
        "lambda",
        "**",
        "->",
        '"""',
        '"open',
        "'",
        "\\",
        "#",
        "é",
        "\U0001d51f",
        "\n",
    ]
    for _ in range(count):
        line = chance.choice(lines)
        start, length = chance.randrange(len(line)), chance.randrange(4)
        yield (line[:start] + chance.choice(tokens) + line[start + length :])[: chance.randrange(1, len(line) + 2)]
        yield chance.choice(["", " "]).join(chance.choices(tokens, k=chance.randrange(1, 40)))


def test_the_page_explains_mangled_lines_as_python_does(visit):
    messages = list(LINES["messages"].values())
    texts = {
        number: f"{FRAME}    {line.replace(chr(10), ' ')}\n{messages[number % len(messages)]}"
        for number, line in enumerate(mangled_lines(150))
    }
    assert differences(visit(), texts) == {}


def drawn_pastes(count, seed):
    with warnings.catch_warnings(), simulate_cuda(devices=2):
        warnings.simplefilter("ignore")  # of the drawn programs
        return [case.paste.text for case in cases(count, seed)]


def mangled(texts):
    """Yield the texts with a few characters of a line cut out or put elsewhere; the same each time."""
    chance = random.Random(3)
    for text in texts:
        lines = text.split("\n")
        at = chance.randrange(len(lines))
        line = lines[at]
        start, length, to = (chance.randrange(most) for most in (len(line) + 1, 6, len(line) + 1))
        piece, rest = line[start : start + length], line[:start] + line[start + length :]
        lines[at] = rest[:to] + chance.choice(["", piece, piece * 2, "(", ")", ", ", " += "]) + rest[to:]
        yield "\n".join(lines)


def test_the_page_explains_drawn_lines_as_python_does_whole_and_mangled(visit):
    pastes = drawn_pastes(300, 5)
    assert sum(bool(found_by_python(text)["culprits"]) for text in pastes) > 200
    assert differences(visit(), dict(enumerate([*pastes, *mangled(pastes * 2)]))) == {}
