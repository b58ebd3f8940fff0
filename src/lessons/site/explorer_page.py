"""What the build writes into the page of the placement explorer: its data file, its table, and how much was recorded.

`<!-- placements: table -->` becomes what needs no JavaScript: for twenty operators, what happens when one tensor is
elsewhere. All of it is looked up in the record.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from lessons.site.dates import written_date
from lessons.site.explorer_data import DEVICES, operator_name, packed, placements, record, usefulness
from lessons.site.notebooks import project
from samedevice import explain

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
    "All on `cuda:0`",
    "One on the CPU",
    "A number on the CPU",
    "One on `cuda:1`",
    "`out=` on the CPU",
)
_MARK = re.compile(r"<!-- placements: (\w+) -->")


def add_explorer_data(files: Files, config: MkDocsConfig) -> Files:
    """Add what the explorer's script loads, if the site has the explorer."""
    if files.get_file_from_path(PAGE):
        files.append(File.generated(config, DATA, content=packed(project(config))))
    return files


def with_placements(markdown: str, config: MkDocsConfig) -> str:
    """`markdown` with the table and the figures of the record in their places."""
    return _MARK.sub(lambda mark: _written(mark[1], project(config)), markdown)


def _written(what: str, root: Path) -> str:
    header, tables = record(root)
    match what:
        case "table":
            return "\n".join(_table(tables))
        case "torch":
            return str(header["torch"].partition("+")[0])
        case "recorded":
            return written_date(header["recorded"])
        case "operators":
            return f"{len({operator_name(table) for table in tables}):,}"
        case "cases":
            return f"{sum(answer is not None for table in tables for answer in table['answers']):,}"
    raise PluginError(f"{PAGE} asks for {what!r} of the record of placements; that is not written.")


def _table(tables: list[dict[str, Any]]) -> Iterator[str]:
    yield "| " + " | ".join(_HEADINGS) + " |"
    yield "|---" * len(_HEADINGS) + "|"
    for name, written in COMMON.items():
        own = [table for table in tables if operator_name(table) == name]
        cells = [f'<span data-operator="{name}">`{written}`</span>', *map(_cell, row(own))]
        yield "| " + " | ".join(cells) + " |"


def row(tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What an operator's tables answer to the question of each column, by the name of the tensor that is elsewhere."""
    calls = sorted((table for table in tables if table["kind"] == "call"), key=usefulness)
    whole = calls[0]
    number = next((table for table in calls if [] in table["shapes"] and any(table["shapes"])), None)
    out = next((table for table in tables if table["kind"] == "out" and table["sample"] == whole["sample"]), None)
    count = len(whole["shapes"])
    return [
        {"": _answer(whole, [_FIRST] * count)},
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
