"""What a page shows of commands: the files that they need, and what each of them prints."""

import re


def files(page: str) -> dict[str, str]:
    """Return the text of each file that a page shows, by its name."""
    return dict(re.findall(r'```\w+ title="([\w.]+)"\n(.*?)```', page, re.DOTALL))


def sessions(page: str) -> list[tuple[str, str]]:
    """Return each command of a page with what is shown below it."""
    return re.findall(r"```console\n\$ (.*?)\n(.*?)```", page, re.DOTALL)


def is_as_shown(shown: str, printed: str) -> bool:
    """Tell whether a command printed what is shown: `...` stands for any lines, and in a line for any of it."""
    lines = shown.rstrip("\n").split("\n")
    pattern = ["(.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n" for line in lines]
    return re.fullmatch("".join(pattern), printed) is not None
