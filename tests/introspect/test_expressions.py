"""Expressions are printed as most people write them, and what is printed can be parsed again."""

import ast

import pytest
import torch

from samedevice import explain, simulate_cuda, where
from samedevice.introspect.expressions import text_of

WRITTEN = [
    'batch["labels"]',
    """batch["it's"]""",
    """batch['say "x"']""",
    '''batch["""it's "x" """]''',
    r'batch["a\nb"]',
    r'batch["back\\slash"]',
    'model(x, mode="train", name="")',
    "b[\"x\"][b'y']",
    'f"{name}.weight"',
    "f\"{d['it']}\"",
    'table[f"{key}"]["a"]',
    "x[0, ..., None, 1:2]",
    '"a" "b"',
    "lambda x: x",
]


@pytest.mark.parametrize("source", WRITTEN)
def test_what_is_printed_means_the_same(source):
    node = ast.parse(source, mode="eval").body
    assert ast.dump(ast.parse(text_of(node), mode="eval").body) == ast.dump(node)


@pytest.mark.parametrize("source", ['batch["labels"]', """batch["it's"]""", """batch['say "x"']""", 'f"{name}.weight"'])
def test_double_quotation_marks_are_written_where_the_text_has_none(source):
    assert text_of(ast.parse(source, mode="eval").body) == source


BATCHES = {
    """batch["it's"]""": "it's",
    """batch['say "x"']""": 'say "x"',
    'batch["labels"]': "labels",
}


@pytest.mark.parametrize("expression", BATCHES)
def test_a_key_with_quotation_marks_is_named_and_fixed(expression, tmp_path):
    batch = {BATCHES[expression]: torch.ones(3)}
    names = {"batch": batch, "torch": torch}
    path = tmp_path / "training.py"
    path.write_text(f"def step(x):\n    return x * {expression}\n")
    exec(compile(path.read_text(), str(path), "exec"), names)
    with simulate_cuda(1):
        x = torch.ones(3, device="cuda")
        with pytest.raises(RuntimeError) as failure:
            names["step"](x)
        diagnosis = explain(failure.value)
        assert diagnosis.note == ""
        assert diagnosis.culprits[0].expression == expression
        fixed = path.read_text().replace(f"return x * {expression}", diagnosis.culprits[0].fix)
        exec(compile(fixed, str(path), "exec"), names)
        assert names["step"](x).tolist() == [1, 1, 1]


def test_where_names_its_arguments_as_the_call_has_them():
    batch = {"it's": torch.ones(3)}
    assert [row.name for row in where(batch["it's"]).rows] == ["""batch["it's"]"""]
