"""Ask every rival, and write what they do to results/comparison.json: `make comparison`.

Nothing is installed. FakeGPU is asked if PYTHONPATH has its checkout; what it answered last stays otherwise. Each rival
is entered in a process of its own, and each question in a fork of that one, since one may end it: Linux only.
"""

import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from torch import nn

import results
from comparison.abilities import ABILITIES
from comparison.mixes import Mix, mixes, tried
from comparison.rivals import RIVALS, Rival

_TOOLS = Path(__file__).resolve().parents[1]


def main() -> None:
    told = (
        json.loads(before.read_text("utf-8"))["rivals"]
        if (before := results.FOLDER / "comparison.json").exists()
        else {}
    )
    lines = mixes()
    for name in RIVALS:
        if name != "FakeGPU" or find_spec("fakegpu"):
            told[name] = asked(name, lines)
    results.write("comparison", {"lines": len(lines), "rivals": told})


def asked(name: str, lines: list[Mix]) -> dict[str, Any]:
    """Return the answers of a rival, entered in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "comparison", name]
    path = os.pathsep.join(filter(None, [str(_TOOLS), os.environ.get("PYTHONPATH")]))
    run = subprocess.run(
        command,
        input=json.dumps(lines),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    answers: dict[str, Any] = json.loads(run.stdout)
    return answers


def ask(rival: Rival, lines: list[Mix], model: nn.Module) -> dict[str, Any]:
    """Return what the rival that is entered does with each line and in each program."""

    def outcome(mix: Mix) -> list[str | None]:
        """Return what is said of the line with all on the GPU, and of the line as it stands."""
        return [tried(mix.family, mix.line, rival.device, other) for other in (rival.device, "cpu")]

    counts = dict.fromkeys(("refused", "in_the_words_of_cuda", "passed", "not_asked"), 0)
    for mix, answer in zip(lines, in_forks([partial(outcome, mix) for mix in lines]), strict=True):
        works, said = (answer[0] is None, answer[1]) if isinstance(answer, list) else (False, None)
        if not works:  # the line fails for another reason than the mix
            counts["not_asked"] += 1
        else:
            counts["refused" if said is not None else "passed"] += 1
            counts["in_the_words_of_cuda"] += said is not None and as_cuda(said, rival) == mix.said
    can = {}
    for ability in ABILITIES:
        (answer,) = in_forks([partial(ability, rival.device, rival.second, model)])
        can[ability.__name__] = answer is True
    return {"version": rival.version(), "mixes": counts, "can": can}


def as_cuda(said: str, rival: Rival) -> str:
    """Return a text as it would name CUDA's first GPU: another device's name is not another wording."""
    return re.sub(rf"\b{rival.device}\b", "cuda:0", said) if rival.device == "meta" else said


def in_forks(questions: Sequence[Callable[[], object]]) -> list[object]:
    """Return what each question gives, or the name of what it raises; None for one that ends its process."""
    answers: list[object] = []
    while len(answers) < len(questions):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            answer_in_turn(questions[len(answers) :], writing)
        os.close(writing)
        with os.fdopen(reading) as file:
            answers += map(json.loads, file)
        os.waitpid(child, 0)
        if len(answers) < len(questions):
            answers.append(None)
    return answers


def answer_in_turn(questions: Sequence[Callable[[], object]], writing: int) -> NoReturn:
    with os.fdopen(writing, "w") as file:
        for question in questions:
            try:
                answer = question()
            except Exception as error:
                answer = type(error).__name__
            print(json.dumps(answer), file=file, flush=True)
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        warnings.simplefilter("ignore")
        chosen = RIVALS[sys.argv[1]]
        read = [Mix(*mix) for mix in json.load(sys.stdin)]
        made = nn.Linear(3, 1)
        with chosen.entered():
            answers = ask(chosen, read, made)
        print(json.dumps(answers))
