"""A drawn program: its text, the place of its failing line, and what the drawing knows about its culprit."""

import textwrap
from dataclasses import dataclass

from drawn_lines.scope import Scope

IMPORTS = """\
import math
import types

import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda:0")
"""


@dataclass(frozen=True)
class Program:
    """A program that fails at one line, since one tensor of it is on the wrong device.

    Attributes:
        text: the program.
        line, end: the first and the last line of its failing statement, from 1.
        healed: the same program where the culprit is moved, which must run: then nothing else is wrong.
        culprits: the spellings of the culprit, as `templates.spelled` gives them.
        owners: the spellings of a layer, or of a loss, whose own tensors are the culprit too.
        candidates: how many expressions of the line a reader of it could take for the culprit.
        culprit: the operand that the culprit is, or is in, as the line has it.
        form: what the culprit is: "attribute", "factory", "name", "item", "call", "layer", "loss" or "loop variable".
        operation: the template of the operation that fails.
        loops: the variables of loops around the failing expression, each with the list that it runs over.
        is_between_gpus: whether the culprit is on another GPU, and not on the CPU.
        partners: the spellings of the tensors that the culprit meets, which can be moved to it just as well.
    """

    text: str
    line: int
    end: int
    healed: str
    culprits: frozenset[str]
    owners: frozenset[str]
    culprit: str
    candidates: int
    form: str
    operation: str
    loops: tuple[tuple[str, str], ...]
    is_between_gpus: bool
    partners: frozenset[str]

    @property
    def statement(self) -> list[str]:
        """The lines of the failing statement, as they stand in the program."""
        return self.text.split("\n")[self.line - 1 : self.end]


def assembled(scope: Scope, body: str) -> str:
    """Return the text of a program whose function, or script, has a body."""
    containers = {name: _container(name, entries) for name, entries in scope.containers.items()}
    init = [*scope.init, *(f"{name} = {value}" for name, value in containers.items() if name.startswith("self."))]
    arguments = scope.arguments | {name: value for name, value in containers.items() if not name.startswith("self.")}
    made, called = {
        "forward": (["net = Net().to(device)"], f"result = net({', '.join(arguments)})"),
        "method": (["trainer = Trainer()"], f"result = trainer.step({', '.join(arguments)})"),
        "function": ([], f"result = train_step({', '.join(arguments)})"),
        "script": ([], body),
    }[scope.style]
    created = [f"{name} = {value}" for name, value in scope.globals.items() if value]
    passed = [f"{name} = {value}" for name, value in arguments.items()]
    outer = []
    if scope.is_wrapped and scope.style != "script":
        outer = ["def run(*args):\n    return " + called.partition(" = ")[2].partition("(")[0] + "(*args)\n"]
        called = f"result = run({', '.join(arguments)})"
    script = "\n".join([*outer, *created, *made, *scope.late, *passed, called])
    definition = "" if scope.style == "script" else _definition(scope, list(arguments), init, body)
    return "\n\n".join(filter(None, (IMPORTS, *scope.functions, definition, script))) + "\n"


def _definition(scope: Scope, arguments: list[str], init: list[str], body: str) -> str:
    """Return the function that the failing line is in, with its class."""
    name = {"forward": "forward", "method": "step", "function": "train_step"}[scope.style]
    parameters = ", ".join(["self", *arguments] if scope.has_self else arguments)
    function = f"def {name}({parameters}):\n{textwrap.indent(body, '    ')}"
    if not scope.has_self:
        return function
    is_module = scope.style == "forward"
    lines = ["super().__init__()", *init] if is_module else init
    initial = "def __init__(self):\n" + textwrap.indent("\n".join(lines) or "pass", "    ")
    members = "\n\n".join(textwrap.indent(each, "    ") for each in (initial, *scope.methods, function))
    return f"class {'Net(nn.Module)' if is_module else 'Trainer'}:\n{members}"


def _container(name: str, entries: list[tuple[str, str]]) -> str:
    if name in ("xs", "pair"):
        values = ", ".join(value for _, value in entries)
        return f"({values},)" if name == "pair" else f"[{values}]"
    return "{" + ", ".join(f'"{key}": {value}' for key, value in entries) + "}"
