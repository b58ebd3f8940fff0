"""What `check` says of an answer: `passed`, or what is wrong as PyTorch says it, and the hint that was asked for."""

import re

import pytest
import torch
from torch import nn
from torch.nn import functional

from lessons import check, start
from lessons.exercises import HOW_TO_ASK, Prediction, _find

STEP = _find("02-b")
FIRST = f"Hint 1 of 3: {STEP.on_error[0]}"  # of three, where it raises
RIGHT = ("error", "cpu", "cuda:0", "error", "error", "error")


def right(policy, batch):
    def moved(value):
        if isinstance(value, dict):
            return {key: moved(part) for key, part in value.items()}
        return value.to("cuda") if isinstance(value, torch.Tensor) else value

    batch = moved(batch)
    seen = batch["observation"]
    return functional.mse_loss(policy(torch.cat([seen["image"], seen["state"]], dim=1)), batch["action"])


def right_accuracy(model, images, labels):
    return (model(images.to("cuda")).argmax(dim=1) == labels.to("cuda")).float().mean()


@pytest.fixture
def said(machine, capsys):
    """Call with an answer: what check prints when it is asked for a hint."""
    start(gpus=1)

    def of(answer, exercise="02-b", hint=True):
        capsys.readouterr()
        check(exercise, answer, hint=hint)
        return capsys.readouterr().out

    return of


def test_a_right_answer_passes(said):
    assert said(right) == "passed\n"
    assert said(right, hint=False) == "passed\n"


@pytest.mark.parametrize(
    "answer",
    [
        lambda policy, batch: policy(batch),
        lambda policy, batch: right(policy, batch).cpu(),
        lambda policy, batch: right(policy, batch) + 1,
        lambda policy, batch: right(policy, batch).detach(),
    ],
)
def test_a_wrong_answer_is_told_what_is_wrong_and_how_to_get_a_hint(said, answer):
    told, asked = said(answer, hint=False).splitlines(), said(answer).splitlines()
    assert told[:-1] == asked[:-1]
    assert told[0].startswith("Not right yet.")
    assert told[-1] == HOW_TO_ASK and "hint=True" in HOW_TO_ASK
    assert asked[-1].startswith("Hint")


def test_a_prediction_is_compared_with_what_the_programs_do(said):
    assert isinstance(_find("01-a"), Prediction)
    assert said(RIGHT, "01-a", hint=False) == "passed\n"
    assert said(list(RIGHT), "01-a") == "passed\n"
    assert said((" Error", "CPU", "cuda", "error ", "error", "error"), "01-a") == "passed\n"


def test_of_a_wrong_prediction_the_wrong_parts_are_named_and_never_the_right_ones(said):
    assert said((*RIGHT[:5], "cuda:0"), "01-a", hint=False) == f"Not right yet.\n  6: not cuda:0\n{HOW_TO_ASK}\n"
    told = said(("cuda", "cpu", "?", "", "error", "error"), "01-a", hint=False)
    assert told == f"Not right yet.\n  1: not cuda\n  3: not predicted yet\n  4: not predicted yet\n{HOW_TO_ASK}\n"


@pytest.mark.parametrize(("answer", "number"), [("error", 1), (RIGHT[:5], 5), ((*RIGHT, "cpu"), 7)])
def test_a_prediction_with_parts_too_few_or_too_many_is_counted(said, answer, number):
    counted = f"There are 6 to predict, and you predicted {number}."
    assert said(answer, "01-a", hint=False) == f"{counted}\n{HOW_TO_ASK}\n"


def test_a_prediction_of_one_part_is_a_string(said, monkeypatch):
    made = 'import torch\nx = torch.ones(1, device="cuda")'
    one = Prediction(setup=made, programs=("pass",), result="x", on_wrong="Where is it?")
    monkeypatch.setattr("lessons.exercises.lesson_01.EXERCISES", {"a": one})
    assert said("cuda", "01-a") == "passed\n"
    assert said("cpu", "01-a") == "Not right yet.\n  1: not cpu\nHint: Where is it?\n"


def test_hints_come_one_by_one_and_first_those_about_the_first_part_that_is_wrong(said, monkeypatch):
    hints, about = ("Where is it?", "Who made it?"), {2: "Look at the second."}
    two = Prediction("import torch\nx = torch.ones(1)", ("pass", "pass"), "x", on_wrong=hints, about=about)
    monkeypatch.setattr("lessons.exercises.lesson_01.EXERCISES", {"a": two})
    given = [said(("cpu", "error"), "01-a").splitlines()[-1] for _ in range(4)]
    assert given == [
        "Hint 1 of 3: Look at the second.",
        "Hint 2 of 3: Where is it?",
        "Hint 3 of 3: Who made it?",
        "Hint 3 of 3: Who made it?",
    ]
    assert said(("error", "cpu"), "01-a").splitlines()[-1] == "Hint 1 of 2: Where is it?"  # another mistake


@pytest.mark.parametrize("answer", [..., None, 1, torch.ones(1), ("cpu", 0), right])
def test_what_is_no_prediction_is_named(said, answer):
    assert said(answer, "01-a", hint=False) == 'A prediction is a string, such as "cpu", or a tuple of strings.\n'


def test_before_start_the_first_cell_is_named(machine, capsys):
    check("02-b", right)
    assert "first code cell" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["01-z", "99-a", "a", "", "../01-a", "01", "01.x-a", "٠١-a", "\0-a", None, 1])  # noqa: RUF001
def test_an_unknown_exercise_is_named(said, name):
    assert repr(name) in said(right, name, hint=False)


@pytest.mark.parametrize("answer", [None, 0.5, torch.ones(1), "cpu"])
def test_what_is_no_function_is_named(said, answer):
    assert type(answer).__name__ in said(answer, hint=False)


@pytest.mark.parametrize("function", [lambda: 0, lambda policy: 0, lambda a, b, c, d: 0])
def test_a_wrong_signature_gets_the_right_one(said, function):
    assert "(policy, batch)" in said(function, hint=False)


def test_an_error_is_shown_as_pytorch_says_it_below_the_readers_line(said, tmp_path):
    """The line is the reader's own, in a file or a cell, not that of the library below it."""
    file = tmp_path / "answer.py"
    seen = "    x = torch.cat([*batch['observation'].values()], 1)"
    file.write_text(f"import torch\n\ndef answer(policy, batch):\n{seen}\n    return policy(x)\n")
    names = {}
    exec(compile(file.read_text(), file, "exec"), names)
    begin, line, raised, hint = said(names["answer"]).splitlines()
    assert (begin, line) == ("Not right yet. This fails:", "    return policy(x)")
    assert raised.startswith("RuntimeError: Expected all tensors to be on the same device, but got mat1 is on cpu")
    assert hint == FIRST


@pytest.mark.parametrize("error", [SystemExit(1), ValueError(), RuntimeError("one\ntwo"), AssertionError("no")])
def test_no_error_of_an_answer_escapes(said, error):
    def answer(policy, batch):
        raise error

    begin, line, raised, hint = said(answer).splitlines()
    assert (begin, line) == ("Not right yet. This fails:", "    raise error")
    assert raised == f"{type(error).__name__}: {str(error).partition(chr(10))[0] or '(no message)'}"
    assert hint == FIRST


@pytest.mark.parametrize("result", [None, 0.5, [], "passed"])
def test_a_result_that_is_no_tensor_is_named(said, result):
    expected = f"Not right yet.\n  yours:    {type(result).__name__}\n  expected: a tensor\n"
    assert said(lambda policy, batch: result) == expected


def test_a_result_on_the_wrong_device_gets_its_hint(said):
    expected = f"Not right yet.\n  yours:    on cpu\n  expected: on cuda:0\nHint: {STEP.on_wrong_device}\n"
    assert said(lambda *batch: right(*batch).cpu()) == expected


def test_a_result_on_another_gpu_than_the_one_asked_for_gets_its_hint(said):
    start(gpus=2)
    assert STEP.on_wrong_device in said(lambda *batch: right(*batch).to("cuda:1"))


def test_what_an_exercise_refuses_never_poses_as_an_error_of_pytorchs(said):
    def accuracy(model, images, labels):
        return (model.cpu()(images).argmax(dim=1) == labels).float().mean()

    begin, line, refused, _ = said(accuracy, "01-b").splitlines()
    assert begin == "Not right yet. The exercise does not allow this:"
    assert line == "    return (model.cpu()(images).argmax(dim=1) == labels).float().mean()"
    assert refused == "All of it is on cpu here. Compute on cuda:0."


def test_what_has_to_stay_may_not_go_to_another_gpu_either(said):
    def labels(model, epochs):
        return torch.stack([label.to("cuda:1") for batches in epochs for _, label in batches]).to("cuda:0")

    start(gpus=2)
    assert "What is on cuda:0 has to stay there." in said(labels, "07-b")


def test_numbers_a_little_off_are_wrong(said):
    """TF32 may round to 10 bits of mantissa: that passes, ten times as much does not."""

    def mask(query, decay):
        steps = torch.arange(query.shape[-2], device=query.device)
        distance = steps.unsqueeze(1) - steps
        return decay.view(-1, 1, 1) ** distance * query.new_ones(distance.shape).tril()

    assert said(mask, "05-b") == "passed\n"
    assert said(lambda *batch: right(*batch) * (1 + 2**-10)) == "passed\n"
    assert STEP.on_wrong_numbers in said(lambda *batch: right(*batch) * 1.05)
    assert said(lambda *arguments: mask(*arguments) + 0.005, "05-b").endswith("keep its numbers, on another device.\n")


def test_wrong_numbers_get_their_hint(said):
    told = said(lambda *batch: right(*batch) + 1)
    yours, expected, hint = re.fullmatch(r"Not right yet.\n  yours:    (\S+)\n  expected: (\S+)\n(.*)\n", told).groups()
    assert float(yours) == pytest.approx(float(expected) + 1, abs=0.02)
    assert hint == f"Hint: {STEP.on_wrong_numbers}"
    assert "  yours:    nan\n" in said(lambda *batch: right(*batch) * float("nan"))


def test_of_many_numbers_the_first_that_differs_is_shown(said):
    def mask(query, decay):
        values = torch.zeros(1, device="cuda") + decay.view(-1, 1, 1) ** 0
        return values.expand(-1, query.shape[-2], query.shape[-2])

    assert re.search(r"yours:    \[0, 0, 1\] is 1\n  expected: \[0, 0, 1\] is 0\n", said(mask, "05-b"))


def test_a_wrong_shape_is_named(said):
    assert "yours:    shape (1,)\n  expected: shape ()" in said(lambda *batch: right(*batch).reshape(1))


def test_a_result_cut_from_its_gradient_is_named(said):
    assert "gradient" in said(lambda *batch: right(*batch).detach())


def test_a_result_that_cannot_be_compared_gets_a_hint(said):
    answer = said(lambda model, images, labels: torch.zeros((), device="meta"), "01-b")
    assert answer.splitlines()[-1] == f"Hint 1 of 3: {_find('01-b').on_error[0]}"


def test_the_readers_random_numbers_stay_and_change_nothing(said):
    seen = []

    def answer(*batch):
        seen.append(batch[1]["action"])
        return right(*batch)

    for seed in (1, 2):
        torch.manual_seed(seed)
        expected = torch.rand(2)
        torch.manual_seed(seed)
        assert said(answer) == "passed\n"
        assert torch.equal(torch.rand(2), expected)
    assert torch.equal(*seen)


@pytest.mark.parametrize(("exercise", "answer"), [("01-a", RIGHT), ("01-b", right_accuracy), ("02-b", right)])
def test_the_readers_default_device_stays_and_changes_nothing(said, exercise, answer):
    torch.set_default_device("cuda")
    try:
        assert said(answer, exercise) == "passed\n"
        assert nn.Linear(1, 1).weight.device == torch.device("cuda:0")
    finally:
        torch.set_default_device(None)
