"""Ask the doctor about errors from public threads, and write to results/threads.json how often it is right.

    python tools/public_threads.py LINES.jsonl REPORTS.jsonl

The texts are other people's and are not kept here: tests/doctor/text/public_threads.toml links each thread, and says
what the doctor did when it first saw the text, and what it does now. The latter is written anew. The threads of the two
files have to be those of public_threads.toml, in the same order.

Each line of the two files is an object of JSON. Both have the `url` of the thread and the `text` of the traceback. A
failing line has the `culprits` that are right, and as `fixes` patterns that a right change matches. A report has the
`culprit` ("" if the text does not show it), the `cause` (null if the catalog has none), and a list of causes that are
right too, `also_acceptable`.
"""

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import results

if TYPE_CHECKING:
    from samedevice.doctor.diagnosis import Diagnosis

THREADS = Path(__file__).resolve().parents[1] / "tests/doctor/text/public_threads.toml"
_LATER = re.compile(r"(, later = \{[^{}]*\})?\},$")


def main(lines: str, reports: str) -> int:
    from samedevice import explain

    read = [(_of_line, thread) for thread in _read(lines)] + [(_of_report, thread) for thread in _read(reports)]
    text = THREADS.read_text("utf-8")
    linked = [thread["url"] for thread in tomllib.loads(text)["threads"]]
    if linked != [thread["url"] for _, thread in read]:
        print(f"The threads are not those of {THREADS.name}, or they have another order.", file=sys.stderr)
        return 1
    now = [outcome_of(thread, explain(thread["text"])) for outcome_of, thread in read]
    text = with_later(text, now)
    THREADS.write_text(text, "utf-8")
    results.write("threads", figures(text))
    return 0


def with_later(text: str, outcomes: Iterable[dict[str, Any]]) -> str:
    """Return public_threads.toml with what the doctor does now; each thread has a row of its own."""
    head, begin, rows = text.partition("threads = [\n")
    *threads, end = rows.splitlines()
    written = [_LATER.sub(f", later = {_toml(now)}}},", row) for row, now in zip(threads, outcomes, strict=True)]
    return "\n".join([f"{head}{begin}{written[0]}", *written[1:], end]) + "\n"


def _toml(outcome: dict[str, Any]) -> str:
    # Strings and booleans look alike in JSON and in TOML.
    return f"{{{', '.join(f'{key} = {json.dumps(said)}' for key, said in outcome.items() if said != '')}}}"


def figures(text: str) -> dict[str, Any]:
    """Return what public_threads.toml comes to: of the first run, and of the later one."""
    read = tomllib.loads(text)
    later = [{"kind": thread["kind"], **thread["later"]} for thread in read["threads"]]
    return {"first": {"date": str(read["date"])} | sums(read["threads"]), "now": sums(later)}


def sums(outcomes: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Count outcomes, which are as public_threads.toml has them."""
    counted: dict[str, Counter[str]] = {"line": Counter(), "report": Counter()}
    for outcome in outcomes:
        counted[outcome["kind"]].update(
            {"all": 1, outcome["named"]: 1, "fix": outcome.get("fix", False), f"cause {outcome.get('cause')}": 1}
        )
        if outcome.get("cause") != "not judged":
            said = outcome.get("says", "")
            counted[outcome["kind"]].update({said: 1, f"{said} right": outcome.get("cause") == "first"})
    lines, reports = counted["line"], counted["report"]
    causes = {
        "judged": reports["all"] - reports["cause not judged"],
        "first": reports["cause first"],
        "three": reports["cause first"] + reports["cause among three"],
        "likely": {"said": reports["Most likely"], "right": reports["Most likely right"]},
        "often": {"said": reports["Most often"], "right": reports["Most often right"]},
    }
    return {
        "lines": {"threads": lines["all"], **_named(lines), "fix": lines["fix"]},
        "reports": {"threads": reports["all"], **_named(reports), "unshown": reports["unshown"], "causes": causes},
    }


def _named(counted: Counter[str]) -> dict[str, Any]:
    return {
        "one": {"named": counted["one right"] + counted["one wrong"], "right": counted["one right"]},
        "few": {"named": counted["few right"] + counted["few wrong"], "right": counted["few right"]},
        "none": counted["none"],
    }


def _of_line(thread: dict[str, Any], diagnosis: "Diagnosis") -> dict[str, Any]:
    edits = [(culprit, edit) for culprit in diagnosis.culprits for edit in culprit.edits]
    said = "\n".join(f"{edit.text}\n{culprit.instead}" for culprit, edit in edits)
    fix = any(re.search(pattern, said) for pattern in thread["fixes"])
    return {"named": _outcome(diagnosis, thread["culprits"]), "fix": fix}


def _of_report(thread: dict[str, Any], diagnosis: "Diagnosis") -> dict[str, Any]:
    right = {thread["cause"], *(thread["also_acceptable"] or ())}
    first, *others = [cause.id in right for cause in diagnosis.causes[:3]] or [False]
    cause = "not judged" if not thread["cause"] else "first" if first else "among three" if any(others) else "no"
    named = _outcome(diagnosis, [thread["culprit"]]) if thread["culprit"] else "unshown"
    says = said_before_the_cause(diagnosis)
    return {"named": named, "cause": cause, "says": says}


def said_before_the_cause(diagnosis: "Diagnosis") -> str:
    """Return the words before the first cause; "" where there is none, or alternatives are shown instead."""
    from samedevice.doctor.outline import how_likely

    return how_likely(diagnosis) if diagnosis.causes and not diagnosis.candidates else ""


def _outcome(diagnosis: "Diagnosis", right: Iterable[str]) -> str:
    names = [culprit.expression for culprit in diagnosis.culprits]
    if not names:
        return "none"
    outcome = "right" if any(is_right(name, label) for name in names for label in right) else "wrong"
    return f"{'one' if len(names) == 1 else 'few'} {outcome}"


def is_right(name: str, label: str) -> bool:
    """Tell whether a name is the tensor that a thread blames, holds it, as `batch` holds `batch["x"]`, or is in it."""
    name, label = ("".join(text.split()).replace("'", '"') for text in (name, label))
    return name == label or _holds(name, label) or _holds(label, name)


def _holds(holder: str, part: str) -> bool:
    """Tell whether one expression holds another; `self` holds too much to be an answer."""
    return holder != "self" and part.startswith((f"{holder}.", f"{holder}["))


def _read(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
