"""The placement explorer shows what was recorded, and why: its data file, its table, and where it says what it says."""

import gzip
import importlib.metadata
import importlib.resources
import itertools
import json
import random
import re
from pathlib import Path

import pytest

from site_build.explorer_data import DEVICES, operator_name, packed, placements, record, usefulness
from site_build.explorer_page import COMMON

ROOT = Path(__file__).parents[2]
KB = 1000
PAGE = "placement-explorer/"


@pytest.fixture(scope="module")
def tables():
    return record(ROOT)[1]


@pytest.fixture(scope="module")
def file():
    return packed(ROOT)


@pytest.fixture(scope="module")
def data(file):
    return json.loads(gzip.decompress(file))


@pytest.fixture(scope="module")
def replayed():
    """What `make record` asked for the simulation's sake: the same PyTorch, other questions."""
    lines = gzip.decompress((ROOT / "tests/conformance/torch-2.13.0-operators.jsonl.gz").read_bytes()).splitlines()
    return [json.loads(line) for line in lines[1:]]


def outcome(answer):
    return None if answer is None else "fails" if isinstance(answer[0], str) else "runs"


def test_the_data_is_one_compressed_file_of_at_most_150_kb(site, file):
    assert (site.folder / "assets/explorer.json.gz").read_bytes() == file
    assert len(file) <= 150 * KB


def test_no_page_but_its_own_loads_the_explorer(tags):
    asks = {
        path.parent.name
        for path, found in tags.items()
        if any("assets/explorer" in attributes.get("href", "") + attributes.get("src", "") for _, attributes in found)
    }
    assert asks == {PAGE.rstrip("/")}


def test_every_recorded_operator_can_be_chosen(data, tables, replayed):
    names = [name for name, _ in data["operators"]]
    assert len(names) == len(set(names)) > 600
    assert set(names) == {operator_name(table) for table in tables} >= {operator_name(row) for row in replayed}


def test_up_to_three_tensors_are_recorded_at_every_placement(tables):
    for table in tables:
        if table["kind"] in ("call", "inplace") and len(table["shapes"]) <= 3:
            everywhere = list(itertools.product(range(3), repeat=len(table["shapes"])))
            assert placements(table) == everywhere
            assert len(table["answers"]) == len(everywhere)


def test_the_two_records_agree(tables, replayed):
    known = {}
    for table in tables:
        for placement, answer in zip(placements(table), table["answers"], strict=True):
            devices = tuple(DEVICES[device] for device in placement)
            known[table["op"], table["variant"], table["sample"], table["kind"], devices] = answer
    shared = 0
    for row in replayed:
        kind, _, out = row["kind"].partition("=")
        devices = (*row["placement"], *([out] if out else []))
        answer = known.get((row["op"], row["variant"], row["sample"], kind, devices))
        if answer:
            shared += 1
            assert answer[:2] == [row["error"], row["message"]] if "error" in row else answer[0] == row["ok"]
    assert shared > 0.99 * len(replayed)


def test_why_follows_from_the_line_that_raised_and_from_the_table_of_operators(data):
    entries = record(ROOT)[0]["operators"]
    rules = set()
    for answer in filter(None, data["answers"]):
        for rule, op, line in [answer[2]] if answer[0] >= 0 else answer[2]:
            rules.add(rule)
            place = data["lines"][line] if line >= 0 else ""
            entry = entries.get(data["aten"][op][0]) if op >= 0 else None
            if rule == "generated":
                assert place.endswith("adaption.cpp:7")
                assert entry["check"]
                said = data["texts"][answer[0]][1]
                assert "wrapper_SparseCsrCUDA_" in said or (entry["cuda"] and "wrapper_CUDA_" in said)
            elif rule in ("iterator", "scalars"):
                assert "aten/src/ATen/TensorIterator.cpp" in place
            elif rule == "scalar":
                assert entry["iterator"]
            elif rule == "unchecked":
                assert entry["cuda"]
                assert not entry["check"]
            elif rule == "composite":
                assert not entry["cuda"]
            elif rule == "written":
                assert re.fullmatch(r"\S+ (aten|c10|torch)/\S+\.(cpp|h|cu):\d+", place)
    assert {"generated", "iterator", "scalars", "scalar", "written", "same", "apart", "index", "composite"} <= rules
    assert rules <= set(data["rules"])


def test_a_number_joins_only_where_the_cpu_has_a_number_alone(tables, data):
    """Of operators that TensorIterator prepares as a whole; what others are made of cannot be seen from outside."""
    entries = record(ROOT)[0]["operators"]
    seen = 0
    for table in tables:
        for placement, answer in zip(placements(table), table["answers"], strict=True):
            if table["kind"] != "call" or outcome(answer) != "runs" or len(answer[1]) != 1:
                continue
            name, _, scalar = answer[1][0].partition(" ")
            if scalar and name.partition(".")[0] == table["op"] and entries[name]["iterator"]:
                seen += 1
                assert [shape for shape, at in zip(table["shapes"], placement, strict=True) if at == 0] == [[]]
                assert "cpu" not in answer[0]
    assert seen > 100


@pytest.mark.skipif(not importlib.metadata.version("torch").startswith("2.13."), reason="lines are those of torch 2.13")
def test_links_lead_to_the_lines_that_they_name(data):
    torch, torchgen = (importlib.resources.files(package) for package in ("torch", "torchgen"))
    yaml = (torchgen / "packaged/ATen/native/native_functions.yaml").read_text("utf-8").splitlines()
    named = [(name, line) for name, line in data["aten"] if line]
    assert len(named) > 300
    assert all(yaml[line - 1].startswith(f"- func: {name}(") for name, line in named)
    headers = [place.partition(" ")[2].split(":") for place in data["lines"] if ".h:" in place]
    assert len(headers) > 3
    for file, line in headers:  # what PyTorch ships of its C++
        lines = (torch / "include" / file.removeprefix("aten/src/")).read_text("utf-8").splitlines()
        assert "CHECK" in " ".join(lines[int(line) - 1 : int(line) + 2]), (file, line)


def test_the_table_says_what_the_other_record_says(site, replayed):
    """Where every recorded case of that form answers alike, the cell does so too."""
    rows = site.page(PAGE).select("table tbody tr")
    assert len(rows) == len(COMMON) == 20
    compared = 0
    for (name, written), row in zip(COMMON.items(), rows, strict=True):
        cells = [cell.get_text(" ", strip=True) for cell in row.select("td")]
        assert cells[0] == written
        own = [case for case in replayed if operator_name(case) == name]
        for cell, form in zip(cells[1:], FORMS, strict=True):
            answers = {"error" in case for case in own if form(case)}
            if len(answers) == 1:
                compared += 1
                assert ("fails" in cell, "runs" in cell) == (answers == {True}, answers == {False}), (name, cell)
    assert compared > 50


def alone(case, device):
    where = case["placement"]
    return (
        case["kind"] == "call"
        and all(case["shapes"])
        and len(where) > 1
        and sorted(where) == sorted(["cuda:0"] * (len(where) - 1) + [device])
    )


FORMS = [
    lambda case: alone(case, "cpu"),
    lambda case: (
        case["kind"] == "call"
        and any(case["shapes"])
        and [shape for shape, device in zip(case["shapes"], case["placement"], strict=True) if device == "cpu"] == [[]]
        and "cuda:1" not in case["placement"]
    ),
    lambda case: alone(case, "cuda:1"),
    lambda case: case["kind"] == "out=cpu" and set(case["placement"]) == {"cuda:0"},
]


def test_each_operator_of_the_table_is_named_by_a_lesson_or_by_an_error():
    lessons = [json.loads(path.read_text("utf-8")) for path in (ROOT / "notebooks").glob("*.ipynb")]
    code = ["".join(cell["source"]) for lesson in lessons for cell in lesson["cells"]]
    catalog = [path.read_text("utf-8") for path in (ROOT / "src/samedevice/catalog").rglob("*.toml")]
    text = "\n".join([*code, *catalog])
    signs = {"a + b": " + ", "a * b": " * ", "a == b": " == ", "a @ b": " @ ", "attention": "attention"}
    signs |= {"x[index]": "weights[label]", "x[index] = v": "index_put"}
    for written in COMMON.values():
        assert signs.get(written, written.removeprefix("torch.").removeprefix("nn.")) in text, written


def test_its_lines_of_python_do_what_was_recorded(tables):
    """On simulated GPUs; when they were recorded they were run on PyTorch's CUDA build."""
    import torch

    from samedevice import simulate_cuda

    ran = 0
    with simulate_cuda(devices=2):
        for name in COMMON:
            calls = [table for table in tables if operator_name(table) == name and table["kind"] == "call"]
            table = min(calls, key=usefulness)
            cases = [case for case in zip(placements(table), table["answers"], strict=True) if case[1]]
            for placement, answer in random.Random(0).sample(cases, min(5, len(cases))) if table["code"] else []:
                line = table["code"].format(*(DEVICES[device] for device in placement))
                try:
                    found = ["runs", str(eval(line, {"torch": torch}).device)]
                except RuntimeError as error:
                    found = ["RuntimeError", str(error)]
                assert found == (["runs", answer[0][0]] if outcome(answer) == "runs" else answer[:2]), line
                ran += 1
    assert ran > 50
