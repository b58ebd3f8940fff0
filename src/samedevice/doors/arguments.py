"""How the commands read what follows their name: our own options first, then a program and what is the program's."""

import argparse
from collections.abc import Sequence
from typing import Literal, NoReturn

from samedevice.doors.program import Misuse
from samedevice.doors.which_gpus import MOST
from samedevice.gpu_types import named

_WITH_VALUE = ("--gpus", "--gpu-type", "--rng", "--json", "--output-format", "--steps", "--rounds", "--timeout")

GPU_TYPE = 'the model to simulate, such as "NVIDIA T4": its name, compute capability and memory, which can run out'


class Parser(argparse.ArgumentParser):
    """A parser that complains in one sentence."""

    def error(self, message: str) -> NoReturn:
        raise Misuse(f"{message}. `{self.prog} --help` says more.")


def split(arguments: Sequence[str]) -> tuple[Sequence[str], bool, Sequence[str]]:
    """Return our options, whether -m ended them, and the rest from the program on.

    By hand: argparse would look for options behind the program too.
    """
    index = 0
    while index < len(arguments) and arguments[index].startswith("-") and arguments[index] != "-":
        option = arguments[index]
        if option == "--":
            return arguments[:index], False, arguments[index + 1 :]
        if option == "--pytest":
            return arguments[: index + 1], False, arguments[index + 1 :]
        if option.startswith("-m"):
            named = [option[2:]] if option[2:] else []
            return arguments[:index], True, [*named, *arguments[index + 1 :]]
        index += 2 if option in _WITH_VALUE else 1
    return arguments[:index], False, arguments[index:]


def gpu_count(text: str) -> int | Literal["real"]:
    if text == "real":
        return "real"
    if text.isdecimal() and len(text) < 9 and 1 <= int(text) <= MOST:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is neither a number from 1 to {MOST} nor real")


def gpu_type(text: str) -> str:
    try:
        return named(text).name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def positive(text: str) -> int:
    if text.isdecimal() and len(text) < 9 and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
