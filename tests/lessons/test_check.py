"""What `check` says of an answer: `passed`, one fixed sentence, or the hint that was asked for; never an exception."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from lessons import check, start
from lessons.exercises import NOT_YET, Prediction, _find

STEP = _find("02-b")
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
        lambda policy, batch: None,
    ],
)
def test_without_a_hint_every_wrong_answer_gets_the_same_sentence(said, answer):
    assert said(answer, hint=False) == NOT_YET + "\n"
    assert said(answer) not in ("passed\n", NOT_YET + "\n")
    assert said(("?",) * 6, "01-a", hint=False) == NOT_YET + "\n"


def test_the_fixed_sentence_says_how_to_get_a_hint():
    assert "hint=True" in NOT_YET


def test_a_prediction_is_compared_with_what_the_programs_do(said):
    assert isinstance(_find("01-a"), Prediction)
    assert said(RIGHT, "01-a", hint=False) == "passed\n"
    assert said(list(RIGHT), "01-a") == "passed\n"
    assert said((" Error", "CPU", "cuda", "error ", "error", "error"), "01-a") == "passed\n"
    wrong = said((*RIGHT[:5], "cuda:0"), "01-a")
    assert wrong == f"5 of 6 are right. {_find('01-a').on_wrong}\n"


@pytest.mark.parametrize("answer", ["error", RIGHT[:5], (*RIGHT, "cpu")])
def test_a_prediction_with_parts_too_few_or_too_many_is_not_right(said, answer):
    assert said(answer, "01-a", hint=False) == NOT_YET + "\n"


def test_a_prediction_of_one_part_is_a_string(said, monkeypatch):
    made = 'import torch\nx = torch.ones(1, device="cuda")'
    one = Prediction(setup=made, programs=("pass",), result="x", on_wrong="Where is it?")
    monkeypatch.setattr("lessons.exercises.lesson_01.EXERCISES", {"a": one})
    assert said("cuda", "01-a") == "passed\n"
    assert said("cpu", "01-a") == "Where is it?\n"


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


def test_an_error_is_shown_in_one_line_with_the_exercises_hint(said):
    raised, hint = said(lambda policy, batch: policy(torch.cat([*batch["observation"].values()], dim=1))).splitlines()
    assert "RuntimeError: Expected all tensors to be on the same device, but got mat1 is on cpu" in raised
    assert hint == STEP.on_error


@pytest.mark.parametrize("error", [SystemExit(1), ValueError(), RuntimeError("one\ntwo"), AssertionError("no")])
def test_no_error_of_an_answer_escapes(said, error):
    def answer(policy, batch):
        raise error

    raised, hint = said(answer).splitlines()
    assert type(error).__name__ in raised
    assert hint == STEP.on_error


@pytest.mark.parametrize("result", [None, 0.5, [], "passed"])
def test_a_result_that_is_no_tensor_is_named(said, result):
    assert f"return a tensor; it returned {type(result).__name__!r}" in said(lambda policy, batch: result)


def test_a_result_on_the_wrong_device_gets_its_hint(said):
    answer = said(lambda *batch: right(*batch).cpu())
    assert "cpu" in answer
    assert STEP.on_wrong_device in answer


def test_a_result_on_another_gpu_than_the_one_asked_for_gets_its_hint(said):
    start(gpus=2)
    assert STEP.on_wrong_device in said(lambda *batch: right(*batch).to("cuda:1"))


def test_what_has_to_stay_may_not_go_to_another_gpu_either(said):
    def labels(model, epochs):
        return torch.stack([label.to("cuda:1") for batches in epochs for _, label in batches]).to("cuda:0")

    start(gpus=2)
    assert "leave on cuda:0 what is there." in said(labels, "07-b")


def test_numbers_a_little_off_are_wrong(said):
    """TF32 may round to 10 bits of mantissa: that passes, ten times as much does not."""

    def mask(query, decay):
        steps = torch.arange(query.shape[-2], device=query.device)
        distance = steps.unsqueeze(1) - steps
        return decay.view(-1, 1, 1) ** distance * query.new_ones(distance.shape).tril()

    assert said(mask, "05-b") == "passed\n"
    assert said(lambda *batch: right(*batch) * (1 + 2**-10)) == "passed\n"
    assert said(lambda *batch: right(*batch) * 1.05) == STEP.on_wrong_numbers + "\n"
    assert said(lambda *arguments: mask(*arguments) + 0.005, "05-b").endswith("keep its numbers, on another device.\n")


def test_wrong_numbers_get_their_hint(said):
    assert said(lambda *batch: right(*batch) + 1) == STEP.on_wrong_numbers + "\n"
    assert said(lambda *batch: right(*batch) * float("nan")) == STEP.on_wrong_numbers + "\n"


def test_a_wrong_shape_is_named(said):
    assert "(1,)" in said(lambda *batch: right(*batch).reshape(1))


def test_a_result_cut_from_its_gradient_is_named(said):
    assert "gradient" in said(lambda *batch: right(*batch).detach())


def test_a_result_that_cannot_be_compared_gets_a_hint(said):
    answer = said(lambda model, images, labels: torch.zeros((), device="meta"), "01-b")
    assert answer.splitlines()[-1] == _find("01-b").on_error


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
