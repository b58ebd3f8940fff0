"""What is known about device errors, as data: TOML that a contributor edits without Python.

The doctor (samedevice.doctor), the site's paste box (through `export`) and the error index read the same files:

    messages/        what PyTorch says, and which causes it can have: SD001.toml is one text or family of texts, SD001
    subjects.toml    under which heading the site lists a message
    bases.toml       causes that many messages share
    clues.toml       what else in a paste makes a cause more likely
    causes.toml      why it happened, and the lines to change; ids are `input_not_moved` and the like
    other.toml       errors that are not about devices, so that they are named as such
    claims.toml      what is said about device errors and is not, or not quite, true
    lessons.toml     the curriculum
    practice.toml    the notebooks of puzzles
    operations.toml  what PyTorch calls the arguments of its functions, to find them in the failing line
    factories.toml   what decides the device of what a function, a method or an attribute of PyTorch returns
    applications.toml  programs that people run without having written them, and what their users can do
    libraries.toml   packages, and where their faults are reported

`python -m samedevice.catalog` checks them all and names file, entry and key of a mistake. Patterns are read by Python
and by JavaScript alike; `samedevice.catalog.patterns` says what they may hold.
"""

import functools
import tomllib
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

__all__ = [
    "Application",
    "Catalog",
    "Cause",
    "Claim",
    "Clue",
    "DeviceRule",
    "Devices",
    "InLayer",
    "Lesson",
    "Library",
    "Message",
    "Operation",
    "Other",
    "Possible",
    "Subject",
    "load",
]


@dataclass(frozen=True)
class Possible:
    """One cause that a message can have, and how likely it is.

    `when` maps names read from the text (see Message.patterns) to patterns that must match the whole of what was read;
    it holds only if all do. `because` is the reason shown, a sentence with {names}; without one, the points are how
    often this cause is behind this message.
    """

    id: str
    points: float
    when: dict[str, str] = field(default_factory=dict)
    because: str = ""


@dataclass(frozen=True)
class InLayer:
    """What a message says of an operation that PyTorch calls inside a layer, whose reader sees the layer alone.

    It holds as a cause does, by `when`; `says` is a sentence with {names}.
    """

    when: dict[str, str]
    says: str


@dataclass(frozen=True)
class Message:
    """One text of PyTorch's, or a family of texts that say the same.

    `id` is the name of its file. Messages are tried in the order of their ids, so that a shortened message does not
    hide a whole one.

    `patterns` name what they read: `argument`, `device` (of the accused, or the first printed), `others` (of the
    rest, or the second printed), `method` or `op`, and any further name that `says` uses. From these follow `op` (of
    `wrapper_CUDA__index_select`: index_select), `device_kind` and `others_kind` (cpu, accelerator or meta) and
    `between` ("cpu and accelerator", "two accelerators", "meta"). `says` are sentences with {names}: the first whose
    names were all read is used. Those of `layers` come before them, where the reader's line does not call the operation
    itself: they speak of a layer's input and weights, not of arguments that the reader did not write. `texts` are the
    whole texts by release of torch, newest first; `usual` is how the one begins that most people have, where that is
    not the newest. `note` says how the text misleads; `ask` what to paste where the message alone says little.
    `examples` are tests: `text`, what it `reads`, and the cause that comes `first`.
    """

    id: str
    title: str
    subject: str
    raised: str
    says: list[str]
    patterns: list[str]
    texts: list[dict[str, str]]
    base: str = ""
    layers: list[InLayer] = field(default_factory=list)
    causes: list[Possible] = field(default_factory=list)
    note: str = ""
    ask: str = ""
    between: list[str] = field(default_factory=list)
    usual: str = ""
    reports: float = 0
    examples: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Subject:
    """What some messages are about, and the heading under which the site lists them."""

    name: str
    heading: str


@dataclass(frozen=True)
class Clue:
    """A pattern outside the message that makes a cause more likely, if the message can have that cause at all.

    `where`: "trace" (all that was pasted but the message), "own" (the same without the frames of libraries), "line"
    (the failing line of the user's own) or "below" (the frames inside it). `messages` restricts it to these ids. A line
    that `unless` matches too does not count, such as one that creates a tensor and moves it.
    """

    pattern: str
    causes: dict[str, float]
    because: str
    where: str = "trace"
    messages: list[str] = field(default_factory=list)
    unless: str = ""


@dataclass(frozen=True)
class Cause:
    """Why an error happened, and what to change.

    `before` and `after` are the same lines, failing and fixed. A test runs `setup` and `before` on simulated GPUs and
    expects the message `raises`, then `setup` and `after` without an error; `unraised` says why it cannot. Where no
    line of a program is the fix, `commands` are shown instead: each line begins with "$ " for a shell, ">>> " for a
    program, "# " to say what the next ones are for, or "* " to name one of several alternatives.
    `confirm` says how to check that it is this cause, and `sign` in a few words what the check shows if it is: a row of
    a list has no room for more. `confirm_read` says the first of a tensor or a module that was read from
    the reader's own line; `{name}` in it stands for what the line calls it.
    `link` is where to read on, in the words of those who make the library. `failure` is the anchor of the lesson's
    section that raises it. `within` is the wider cause that it is a case of: `explain` counts it as that one, and shows
    the lines of this one. `between` are the pairs of devices that it can have, as messages read them ("cpu and
    accelerator", "two accelerators", "meta"); any by default.
    """

    id: str
    title: str
    why: str
    confirm: str
    sign: str
    lesson: str
    setup: str = ""
    before: str = ""
    after: str = ""
    commands: str = ""
    link: str = ""
    raises: str = ""
    unraised: str = ""
    failure: str = ""
    within: str = ""
    confirm_read: str = ""
    between: list[str] = field(default_factory=list)

    @property
    def steps(self) -> list[str]:
        """The lines of `commands` as they are shown: alternatives begin with "# Either: " and "# Or: "."""
        lines: list[str] = []
        word = "Either"
        for line in self.commands.strip("\n").split("\n") if self.commands else []:
            lines.append(f"# {word}: {line[2:]}" if line.startswith("* ") else line)
            word = "Or" if line.startswith("* ") else "Either" if line.startswith("# ") else word
        return lines


@dataclass(frozen=True)
class Other:
    """An error that is not about devices: named, so that nobody is sent looking for one."""

    id: str
    title: str
    says: str
    patterns: list[str]
    link: str


@dataclass(frozen=True)
class Claim:
    """Something said about device errors that is not plainly true.

    `home` is the lesson or page that settles it. `section` is the anchor of the lesson's section and
    `cell` the id of the code cell there whose output settles it. `short` says in one sentence what is true, where the
    first sentence of `truth` does not. `common` is the reason for which it is shown among the commonest.
    """

    id: str
    claim: str
    verdict: str
    truth: str
    proof: str
    home: str
    seen: list[str]
    section: str = ""
    cell: str = ""
    short: str = ""
    common: str = ""


@dataclass(frozen=True)
class Lesson:
    """A row of the curriculum: notebooks/SLUG.ipynb, its name, and the group in which the site lists it."""

    slug: str
    title: str
    group: str


@dataclass(frozen=True)
class Practice:
    """Puzzles: notebooks/SLUG.ipynb, its name, and the group of lessons that it rests on, or "" for all lessons."""

    slug: str
    title: str
    group: str


@dataclass(frozen=True)
class Operation:
    """What PyTorch calls the arguments of some functions in its messages.

    `arguments` are these names in the order in which Python passes them, of a method the tensor before the dot first;
    `op` is a pattern of the operations that a message may name for such a call. An `elementwise` one is refused without
    a name for its arguments. `keywords` are those of Python's that have another name in messages.
    """

    functions: list[str]
    arguments: list[str]
    op: str
    elementwise: bool = False
    keywords: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Application:
    """A program that people run without having written it, or others' code inside of it: a custom node, an extension.

    `path` is a pattern of the paths of its files, with a "/" before them; where it is a `part` of the program, the
    pattern reads the name of that as `part`. `named` is a pattern of its name in prose. `why` says what it does with
    devices, `tries` are what its user can do, the most promising first, and `report` is where to report.
    """

    name: str
    path: str
    report: str
    part: str = ""
    named: str = ""
    why: str = ""
    tries: list[str] = field(default_factory=list)
    link: str = ""


@dataclass(frozen=True)
class Library:
    """A package by the name that Python imports: where to report, and what pip calls it, by default the same.

    The path of a `known` one tells that it is a library, also where it was not installed into site-packages.
    """

    name: str
    report: str
    pip: str = ""
    known: bool = False


@dataclass(frozen=True)
class DeviceRule:
    """What decides the device of a result, and for which functions, methods and attributes of PyTorch it does.

    `by` is one of the words that factories.toml explains: "default", "data", "size", "cpu", "like", "operands", "move",
    "argument", "view" and "copy", or, where the result is no tensor, "values", "facts" and "settings".
    """

    by: str
    functions: list[str] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Devices:
    """The rules by name: `functions["zeros"]` is "default", `methods["view"]` is "view"."""

    functions: dict[str, str]
    methods: dict[str, str]
    attributes: dict[str, str]


@dataclass(frozen=True)
class Catalog:
    messages: dict[str, Message]
    subjects: dict[str, Subject]
    causes: dict[str, Cause]
    clues: list[Clue]
    other: dict[str, Other]
    claims: dict[str, Claim]
    lessons: dict[str, Lesson]
    practice: dict[str, Practice]
    operations: dict[str, Operation]
    applications: list[Application]
    libraries: dict[str, Library]
    devices: Devices


def message_files() -> dict[str, Traversable]:
    """Return the files of messages by the ids of these, which are the files' names."""
    folder = resources.files(__package__) / "messages"
    return {file.name.removesuffix(".toml"): file for file in folder.iterdir() if file.name.endswith(".toml")}


@functools.cache
def load() -> Catalog:
    """Return the whole catalog, which is read once."""
    folder = resources.files(__package__)

    def content(file: Traversable) -> dict[str, Any]:
        return tomllib.loads(file.read_text(encoding="utf-8"))

    def rows(name: str, table: str) -> list[dict[str, Any]]:
        return content(folder / name)[table]

    bases = {base["name"]: base["causes"] for base in rows("bases.toml", "base")}
    messages = {}
    for name, file in sorted(message_files().items()):
        row = content(file)
        causes = [*row.pop("causes", []), *bases.get(row.get("base", ""), [])]
        layers = [InLayer(**layer) for layer in row.pop("layers", [])]
        examples = row.pop("example", [])
        messages[name] = Message(
            **row, id=name, layers=layers, causes=[Possible(**cause) for cause in causes], examples=examples
        )
    rules = rows("factories.toml", "rule")
    return Catalog(
        messages=messages,
        subjects={row["name"]: Subject(**row) for row in rows("subjects.toml", "subject")},
        causes={row["id"]: Cause(**row) for row in rows("causes.toml", "cause")},
        clues=[Clue(**row) for row in rows("clues.toml", "clue")],
        other={row["id"]: Other(**row) for row in rows("other.toml", "other")},
        claims={row["id"]: Claim(**row) for row in rows("claims.toml", "claim")},
        lessons={row["slug"]: Lesson(**row) for row in rows("lessons.toml", "lesson")},
        practice={row["slug"]: Practice(**row) for row in rows("practice.toml", "practice")},
        operations={
            function: Operation(**row) for row in rows("operations.toml", "operation") for function in row["functions"]
        },
        applications=[Application(**row) for row in rows("applications.toml", "application")],
        libraries={row["name"]: Library(**{"pip": row["name"], **row}) for row in rows("libraries.toml", "library")},
        devices=Devices(
            **{
                key: {name: row["by"] for row in rules for name in row.get(key, [])}
                for key in ("functions", "methods", "attributes")
            }
        ),
    )
