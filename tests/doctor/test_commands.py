"""Commands in the text and in a notebook: one block each, and alternatives that are called so."""

import re
from dataclasses import replace

import pytest

from samedevice import explain
from samedevice.catalog import load
from samedevice.doctor.diagnosis import Diagnosis
from samedevice.doctor.report_html import as_html
from samedevice.doctor.text.rank import LikelyCause

CAUSES = load().causes
BUILD = "AssertionError: Torch not compiled with CUDA enabled"
OF_COMMANDS = [cause.id for cause in CAUSES.values() if cause.commands]


def of(id_: str) -> Diagnosis:
    return replace(explain(BUILD), causes=(LikelyCause(CAUSES[id_], ()),))


def test_alternatives_are_named_one_by_one_and_a_new_step_begins_others():
    commands = "$ a\n* x\n$ b\n* y\n$ c\n$ d\n# Check:\n$ e\n* z\n>>> f\n* w\n$ g\n"
    assert replace(CAUSES[OF_COMMANDS[0]], commands=commands).steps == [
        *["$ a", "# Either: x", "$ b", "# Or: y", "$ c", "$ d", "# Check:", "$ e", "# Either: z", ">>> f"],
        *["# Or: w", "$ g"],
    ]
    assert CAUSES["input_not_moved"].steps == []


@pytest.mark.parametrize("id_", OF_COMMANDS)
def test_the_text_has_all_lines_of_the_cause_in_order(id_):
    assert "\n".join(f"    {step}" for step in CAUSES[id_].steps) in str(of(id_))
    assert "An example" not in str(of(id_))


@pytest.mark.parametrize("id_", OF_COMMANDS)
def test_a_notebook_has_each_command_in_a_block_of_its_own(id_):
    shown = as_html(of(id_))
    blocks = re.findall("<pre><code>(.*?)</code></pre>", shown, re.DOTALL)
    assert len(blocks) == sum(not step.startswith("# ") for step in CAUSES[id_].steps)
    assert not any("\n" in block or re.match(r"[$#*]|&gt;", block) for block in blocks)


def test_what_the_commands_are_for_stands_above_them_in_a_notebook():
    shown = as_html(of("cpu_only_build"))
    assert "<p>Or: Linux, AMD GPU</p>\n<pre><code>pip install torch --index-url" in shown


def test_a_hostile_command_stays_text():
    cause = replace(CAUSES["cpu_only_build"], commands="* <b>\n$ <script>\n* x\n$ y")
    shown = as_html(replace(of("cpu_only_build"), causes=(LikelyCause(cause, ()),)))
    assert "<p>Either: &lt;b&gt;</p>" in shown
    assert "<pre><code>&lt;script&gt;</code></pre>" in shown
