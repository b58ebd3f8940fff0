"""Every exercise as the notebooks print it: the code to fix gives nothing away, the folded solution passes."""

import ast
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from torch import distributed

from lessons import check, start
from lessons.exercises import HOW_TO_ASK, Prediction, _find
from lessons.exercises.kinds import each

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork.* may lead to deadlocks:DeprecationWarning")

CALL = re.compile(r'^check\("(\d\d-[a-z]|p\d-\d)", \w+\)$', re.M)
SOLUTION = re.compile(r"<details>.*?^```python\n(.*?)^```.*?</details>", re.M | re.S)
# The page asks for a number of the CPU's, for none of a device, or for a model that is moved afterwards.
MAY_BE_ON_THE_CPU = {
    *("01-b", "04-b", "18-b", "15-b", "11-b", "12-b", "13-b", "21-b"),
    *("p1-4", "p1-8", "p2-4", "p3-7", "p3-8", "p4-8"),
}
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def exercises():
    """(name, imports, code to mend with its call of check, solution) of every exercise of every notebook."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        imports = "\n".join(map(imports_of, (cell.source for cell in cells if cell.cell_type == "code")))
        for cell, following in zip(cells, [*cells[1:], None], strict=True):
            call = cell.cell_type == "code" and CALL.search(cell.source)
            if call:
                name = call[1]
                solution = SOLUTION.search(following.source)
                own = re.sub(r"^practice-", "p", path.name).partition("-")[0]  # 04 of a lesson, p1 of practice
                assert name.startswith(f"{own}-"), f"{path.name} calls check({name!r}): its own begin with {own}-"
                assert solution, f"{path.name}: below exercise {name}, put its solution, folded as in other lessons"
                yield pytest.param(name, imports, cell.source, f"{solution[1]}\n{call[0]}", id=name)


def imports_of(source):
    """The imports of a cell, but for those of modules that the lesson itself writes."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:  # the first cell and others have lines that are IPython's
        return ""
    modules = {node: node.names[0].name for node in statements if isinstance(node, ast.Import)}
    modules |= {node: node.module for node in statements if isinstance(node, ast.ImportFrom)}
    return "\n".join(ast.unparse(node) for node, name in modules.items() if find_spec(name.partition(".")[0]))


EXERCISES = list(exercises())


@pytest.fixture
def run(machine, capsys):
    start(gpus=2)

    def said(imports, code):
        capsys.readouterr()
        exec(f"{imports}\n{code}", {"check": check})
        return capsys.readouterr().out

    return said


def test_a_prediction_is_asked_of_the_very_programs_that_are_run():
    names = [name for name, *_ in (exercise.values for exercise in EXERCISES)]
    predictions = {name: _find(name) for name in names if isinstance(_find(name), Prediction)}
    assert predictions
    for name, prediction in predictions.items():
        (path,) = NOTEBOOKS.glob(f"{name[:2]}-*.ipynb")
        page = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
        for line in prediction.setup.splitlines():
            assert line in page
        for number, program in enumerate(prediction.programs, 1):
            assert f"\n{number}. `{program}`" in page


def test_there_are_exercises():
    assert EXERCISES


@pytest.mark.parametrize(("name", "imports", "to_mend", "solution"), EXERCISES)
def test_the_code_to_fix_gets_what_pytorch_says_of_it_and_no_hint(run, name, imports, to_mend, solution):
    """It is what the lesson stores: who has not answered yet must not read the answer there."""
    said = run(imports, to_mend).splitlines()
    assert said[-1] == HOW_TO_ASK
    if isinstance(_find(name), Prediction):
        assert said[:-1] == ['Write your prediction in place of each "?".']
    elif name.startswith("p") and not said[0].endswith("This fails:"):
        assert said[0].startswith("Not right yet."), "a puzzle may run, and be wrong all the same"
    else:
        assert said[0] == "Not right yet. This fails:"
        assert re.match(r"\w+: ", said[-2]) and "RefusedError" not in said[-2]


@pytest.mark.parametrize(("name", "imports", "to_mend", "solution"), EXERCISES)
def test_who_asks_for_a_hint_about_the_code_to_fix_gets_it(run, name, imports, to_mend, solution):
    exercise = _find(name)
    hints = each(exercise.on_wrong if isinstance(exercise, Prediction) else exercise.on_error)
    if "\n  yours:    on " in run(imports, to_mend):  # a puzzle that runs
        hints = each(exercise.on_wrong_device)
    elif "\n  yours: " in run(imports, to_mend):
        hints = each(exercise.on_wrong_numbers)
    asking = CALL.sub(lambda call: call[0][:-1] + ", hint=True)", to_mend)
    assert 1 <= len(hints) <= 3
    for hint in hints:
        assert run(imports, asking).splitlines()[-1].partition(": ")[2] == hint


@pytest.mark.parametrize(("name", "imports", "to_mend", "solution"), EXERCISES)
def test_the_folded_solution_passes(run, name, imports, to_mend, solution):
    run(imports, "")  # PyTorch sets filters of its own where it is imported
    filters = warnings.filters[:]
    assert run(imports, solution) == "passed\n"
    assert warnings.filters == filters, "the check changed which warnings the reader sees"
    assert not distributed.is_initialized(), "the check left its process group behind"


@pytest.mark.parametrize(("name", "imports", "to_mend", "solution"), EXERCISES)
def test_the_result_of_the_folded_solution_brought_to_the_cpu_gets_its_hint(run, name, imports, to_mend, solution):
    if isinstance(_find(name), Prediction):
        pytest.skip("a prediction has no result")
    called = "(*given).cpu(), hint=True)"
    brought = CALL.sub(lambda call: call[0][:-1].replace(", ", ", lambda *given: ") + called, solution)
    said = run(imports, brought)
    if "has no attribute 'cpu'" in said:
        pytest.skip("it returns an array or an optimizer")
    if name in MAY_BE_ON_THE_CPU:
        assert said == "passed\n"
    else:
        assert said.startswith("Not right yet.\n  yours:    on cpu\n  expected: on cuda:")
        assert said.splitlines()[-1].partition(": ")[2] in each(_find(name).on_wrong_device)
