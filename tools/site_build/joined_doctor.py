"""The doctor of the paste box in one file, as visitors get it.

It is twenty modules, of which each names those that it needs. A browser would ask for them one level after the other,
and each would be compressed by itself: joined, and without their indents, they weigh a fifth less.
"""

import re
from pathlib import Path

_IMPORT = re.compile(r'^import \{ ([^}]+) \} from "\./(?:doctor/)?([\w-]+)\.js";\n', re.M)
_LEFT = re.compile(r'from\s*"\./([^"]+)"')
_EXPORT = re.compile("^export ", re.M)
_INDENT = re.compile(r"\n\s+")  # with empty lines before it; no text of the doctor's has several lines
_LOADED = "normalise"  # the page has it by then


def join_doctor(site: Path) -> None:
    """Write the doctor of the built site anew, with all that it imports."""
    assets = site / "assets"
    modules = {file.stem: file.read_text("utf-8") for file in (assets / "doctor").glob("*.js")}
    entry = assets / "doctor.js"
    entry.write_text(joined(entry.read_text("utf-8"), modules), "utf-8")


def joined(entry: str, modules: dict[str, str]) -> str:
    """Make each module that is needed a function, which is called once and returns what others import.

    Raises:
        ValueError: if a module imports another in a way that is not read here, so that the other would be missing.
    """
    needed: list[str] = []
    asked: dict[str, set[str]] = {}

    def need(source: str) -> None:
        for names, module in _IMPORT.findall(source):
            asked.setdefault(module, set()).update(name.split(" as ")[0] for name in names.split(", "))
            if module not in (*needed, _LOADED):
                need(modules[module])
                needed.append(module)

    need(entry)
    parts = [f'import * as {_name(_LOADED)} from "./doctor/{_LOADED}.js";\n']
    for module in needed:
        body = _EXPORT.sub("", _local(modules[module]))
        names = ", ".join(sorted(asked[module]))
        parts.append(f"const {_name(module)} = (() => {{\n{body}return {{ {names} }};\n}})();\n")
    text = "".join([*parts, _local(entry)])
    _, *left = _LEFT.findall(text)  # the first is the one module that the page has already
    if left:
        raise ValueError(
            f"The doctor imports {', '.join(left)} in a form that cannot be joined."
            ' Write it in one line: import { name } from "./module.js";'
        )
    return _INDENT.sub("\n", text)


def _local(source: str) -> str:
    """Take what a module imports from the variables that hold the modules."""
    return _IMPORT.sub(lambda it: f"const {{ {it[1].replace(' as ', ': ')} }} = {_name(it[2])};\n", source)


def _name(module: str) -> str:
    return "_" + module.replace("-", "_")
