"""The parts of the placement explorer's page that the build writes: data file, table, and how much was recorded.

The table needs no JavaScript: it says for twenty operators what happens when one tensor is elsewhere. All of it is
looked up in the record.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from samedevice import explain
from site_build.dates import written_date
from site_build.explorer_data import DEVICES, operator_name, packed, placements, record, usefulness
from site_build.notebooks import project

PAGE = "placement-explorer.md"
DATA = "assets/explorer.json.gz"
# Each is what a lesson calls or what a message of the error index names, by the name that people write.
COMMON = {
    "add": "a + b",
    "mul": "a * b",
    "eq": "a == b",
    "matmul": "a @ b",
    "__getitem__": "x[index]",
    "index_put": "x[index] = v",
    "where": "torch.where",
    "masked_fill": "masked_fill",
    "cat": "torch.cat",
    "index_select": "index_select",
    "gather": "gather",
    "clamp": "clamp",
    "nn.functional.linear": "nn.Linear",
    "nn.functional.conv2d": "nn.Conv2d",
    "nn.functional.embedding": "nn.Embedding",
    "nn.functional.batch_norm": "nn.BatchNorm1d",
    "nn.functional.layer_norm": "nn.LayerNorm",
    "nn.functional.scaled_dot_product_attention": "attention",
    "nn.functional.cross_entropy": "cross_entropy",
    "nn.functional.mse_loss": "mse_loss",
}
_CPU, _FIRST, _SECOND = range(len(DEVICES))
_HEADINGS = (
    "Operator",
    "One on `cpu`",
    "A number on `cpu`",
    "One on `cuda:1`",
    "`out=` on `cpu`",
)


def add_explorer_data(files: Files, config: MkDocsConfig) -> Files:
    """Add what the explorer's script loads, if the site has the explorer."""
    if files.get_file_from_path(PAGE):
        files.append(File.generated(config, DATA, content=packed(project(config))))
    return files


class Placements:
    """The facts of the record that a page may state; the record is among the files of the project at `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def table(self) -> str:
        return "\n".join(_table(self._tables()))

    def torch(self) -> str:
        return str(self._header()["torch"].partition("+")[0])

    def recorded(self) -> str:
        return written_date(self._header()["recorded"])

    def operators(self) -> int:
        return len({operator_name(table) for table in self._tables()})

    def cases(self) -> int:
        return sum(answer is not None for table in self._tables() for answer in table["answers"])

    def _header(self) -> dict[str, Any]:
        return record(self._root)[0]

    def _tables(self) -> list[dict[str, Any]]:
        return record(self._root)[1]


def _table(tables: list[dict[str, Any]]) -> Iterator[str]:
    yield "| " + " | ".join(_HEADINGS) + " |"
    yield "|---" * len(_HEADINGS) + "|"
    tables_of: dict[str, list[dict[str, Any]]] = {}
    for table in tables:
        tables_of.setdefault(operator_name(table), []).append(table)
    for name, written in COMMON.items():
        cells = [f'<span data-operator="{name}">`{written}`</span>', *map(_cell, row(tables_of[name]))]
        yield "| " + " | ".join(cells) + " |"


def row(tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers of an operator's tables for each column, by the name of the tensor that is elsewhere."""
    calls = sorted((table for table in tables if table["kind"] == "call"), key=usefulness)
    whole = calls[0]
    number = next((table for table in calls if [] in table["shapes"] and any(table["shapes"])), None)
    out = next((table for table in tables if table["kind"] == "out" and table["sample"] == whole["sample"]), None)
    count = len(whole["shapes"])
    return [
        {_name(whole, at): _answer(whole, _moved(count, at, _CPU)) for at in range(count)},
        {
            _name(number, at): _answer(number, _moved(len(number["shapes"]), at, _CPU))
            for at, shape in enumerate(number["shapes"])
            if not shape
        }
        if number
        else {},
        {_name(whole, at): _answer(whole, _moved(count, at, _SECOND)) for at in range(count)},
        {"": _answer(out, [*[_FIRST] * count, _CPU])} if out else {},
    ]


def _moved(count: int, at: int, device: int) -> list[int]:
    return [device if index == at else _FIRST for index in range(count)]


def _name(table: dict[str, Any], at: int) -> str:
    return table["names"][at] or f"tensor {at + 1}"


def _answer(table: dict[str, Any], placement: list[int]) -> Any:
    return table["answers"][placements(table).index(tuple(placement))]


def _cell(answers: dict[str, Any]) -> str:
    told = {name: _outcome(answer) for name, answer in answers.items()}
    if len(set(told.values())) == 1:
        return next(iter(told.values()))
    return "<br>".join(f"`{name}`: {outcome}" for name, outcome in told.items()) or "no such case"


def _outcome(answer: Any) -> str:
    if answer is None:
        return "not recorded"
    if not isinstance(answer[0], str):
        return "runs"
    message = explain(f"{answer[0]}: {answer[1]}").message
    return f"fails, [{message.id}](errors/{message.id.lower()}.md)" if message else "fails"
