"""What `samedevice fix` decides between two runs. The runs are made up here: tests/command_line has real ones."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from samedevice.doctor.fix_outcomes import Failure, Files, Fix, Run
from samedevice.doctor.fixing import State, fixing

PROGRAM = ["a = 1", "b = 2", "c = 3", "d = 4"]
DONE = Run((), 0, 1.0)


class Program:
    """A program in a folder, and what its runs come to one after another: each answers from the files it was given."""

    def __init__(self, folder: Path, *runs: "Callable[[str], Run] | Run") -> None:
        self.folder = folder
        self.path = folder / "train.py"
        self.path.write_text("\n".join(PROGRAM) + "\n")
        self.runs = list(runs)
        self.given: list[str] = []

    def run(self, files: Files) -> Run:
        text = files[self.path].content.decode() if self.path in files else self.path.read_text()
        self.given.append(text)
        run = self.runs.pop(0) if len(self.runs) > 1 else self.runs[0]
        return run if isinstance(run, Run) else run(text)

    def fixed(self, rounds: int = 20, tell: Callable[[State, Sequence[Fix]], None] = lambda *_: None) -> State:
        return fixing(self.run, self.folder, rounds, tell)

    def failure(self, line: int, culprit: str = "x", new: str = "", test: str = "", file: str = "") -> Failure:
        """Return a device error at a line, whose fix puts a text in the place of that line; "" for no fix."""
        old = self.given[-1].splitlines()[line - 1].strip() if self.given else PROGRAM[line - 1]
        edit = {
            "file": file or str(self.path),
            "line": line,
            "action": "replace",
            "text": new,
            "function": "f",
            "old": old,
        }
        found = {
            "expression": culprit,
            "device": "cpu",
            "cause": "c",
            "sentence": "",
            "fix": "",
            "edits": [edit] if new else [],
        }
        diagnosis: dict[str, Any] = {"message": {"id": "SD002"}, "culprits": [found]}
        return Failure(test, "RuntimeError", "Expected", ((str(self.path), line),), diagnosis)

    def other(self, line: int, test: str = "") -> Failure:
        """Return an error that is not about devices."""
        diagnosis: dict[str, Any] = {"message": None, "culprits": []}
        return Failure(test, "NameError", "name 'q' is not defined", ((str(self.path), line),), diagnosis)


def failing(*failures: Failure, passed: Sequence[str] = (), seconds: float = 1.0) -> Run:
    return Run(failures, 1, seconds, frozenset(passed))


def of(state: State) -> list[str]:
    return [file.content.decode() for file in state.files.values()]


def test_a_program_that_runs_is_left_as_it_is(tmp_path: Path) -> None:
    state = Program(tmp_path, DONE).fixed()
    assert (state.has_succeeded, state.runs, state.files) == (True, 1, {})


def test_one_error_after_another_is_fixed(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [
        lambda _: failing(program.failure(2, "b", "b = 20")),
        lambda _: failing(program.failure(3, "c", "c = 30")),
        DONE,
    ]
    state = program.fixed()
    assert (state.has_succeeded, state.runs, len(state.fixes)) == (True, 3, 2)
    assert of(state) == ["a = 1\nb = 20\nc = 30\nd = 4\n"]
    assert program.path.read_text().splitlines() == PROGRAM  # nothing is written


def test_a_fix_that_does_not_help_is_taken_back(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [lambda _: failing(program.failure(2, "b", "b = 20"))]
    state = program.fixed()
    assert (state.has_succeeded, state.runs, state.files) == (False, 2, {})
    assert [reason for _, reason in state.taken_back] == ["it did not help"]


def test_a_second_culprit_of_the_line_is_progress(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [
        lambda _: failing(program.failure(2, "x", "b = x.to(d) + y")),
        lambda _: failing(program.failure(2, "y", "b = x.to(d) + y.to(d)")),
        DONE,
    ]
    assert of(program.fixed()) == ["a = 1\nb = x.to(d) + y.to(d)\nc = 3\nd = 4\n"]


def test_a_fix_after_which_its_own_line_fails_otherwise_is_taken_back(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [lambda _: failing(program.failure(3, "c", "c = q")), lambda _: failing(program.other(3))]
    state = program.fixed()
    assert state.files == {}
    assert [reason for _, reason in state.taken_back] == ["it made another error (NameError: name 'q' is not defined)"]


def test_a_fix_after_which_an_earlier_line_fails_is_taken_back(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [lambda _: failing(program.failure(3, "c", "c = 30")), lambda _: failing(program.other(1))]
    assert program.fixed().files == {}


def test_an_earlier_line_of_a_loop_fails_in_its_next_round(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.path.write_text("for a in b:\n    b = 2\n    c = 3\n")
    program.runs = [
        lambda _: failing(program.failure(3, "c", "c = 30")),
        lambda _: failing(program.failure(2, "b", "b = 20")),
        DONE,
    ]
    assert of(program.fixed()) == ["for a in b:\n    b = 20\n    c = 30\n"]


def test_a_fix_stays_if_a_later_line_fails_for_a_reason_of_its_own(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [lambda _: failing(program.failure(2, "b", "b = 20")), lambda _: failing(program.other(4))]
    state = program.fixed()
    assert (state.has_succeeded, of(state)) == (False, ["a = 1\nb = 20\nc = 3\nd = 4\n"])


def test_after_a_fix_that_was_taken_back_the_next_culprit_is_tried(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)

    def run(text: str) -> Run:
        first, second = program.failure(2, "x", "b = 20"), program.failure(2, "y", "b = 21")
        both = {**first.diagnosis, "culprits": [*first.diagnosis["culprits"], *second.diagnosis["culprits"]]}
        return DONE if "b = 21" in text else failing(Failure("", "RuntimeError", "Expected", first.stack, both))

    program.runs = [run]
    assert of(program.fixed()) == ["a = 1\nb = 21\nc = 3\nd = 4\n"]


def test_without_a_line_that_would_only_fail_next_a_fix_may_help(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)

    def run(text: str) -> Run:
        if "c = q" in text:
            return failing(program.other(3))
        failure = program.failure(4, "d", "d = 40")
        (culprit,) = failure.diagnosis["culprits"]
        culprit["fix"] = "d = 40"
        culprit["edits"].append(program.failure(3, "c", "c = q").diagnosis["culprits"][0]["edits"][0])
        return failing(failure) if "d = 4\n" in text else DONE

    program.runs = [run]
    assert of(program.fixed()) == ["a = 1\nb = 2\nc = 3\nd = 40\n"]


def test_a_fix_after_which_the_line_of_an_earlier_one_fails_is_taken_back(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.path.write_text("for a in b:\n    b = 2\n    c = 3\n")
    program.runs = [
        lambda _: failing(program.failure(3, "c", "c = 30")),
        lambda _: failing(program.failure(2, "b", "b = 20")),
        lambda _: failing(program.other(3)),
    ]
    assert of(program.fixed()) == ["for a in b:\n    b = 2\n    c = 30\n"]


def test_fixes_that_undo_each_other_end(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [
        lambda text: failing(
            program.failure(4, "d", "d = 40") if "d = 4\n" in text else program.failure(4, "e", "d = 4")
        )
    ]
    assert program.fixed().runs < 6


def test_the_number_of_runs_is_limited(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [lambda _: failing(program.failure(2, f"x{len(program.given)}", f"b = {len(program.given)}"))]
    assert program.fixed(rounds=4).runs == 4


@pytest.mark.parametrize(
    "file", ["../other.py", "/usr/lib/python3/dist-packages/x.py", ".venv/lib/python3.11/site-packages/x.py"]
)
def test_a_file_outside_the_program_is_not_touched(tmp_path: Path, file: str) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    (tmp_path / "other.py").write_text("\n".join(PROGRAM))
    program = Program(folder, DONE)
    program.runs = [lambda _: failing(program.failure(2, "b", "b = 20", file=str(folder / file)))]
    state = program.fixed()
    assert (state.runs, state.files) == (1, {})


def test_a_link_that_leads_outside_the_program_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    (tmp_path / "other.py").write_text("\n".join(PROGRAM))
    (folder / "link.py").symlink_to(tmp_path / "other.py")
    program = Program(folder, DONE)
    program.runs = [lambda _: failing(program.failure(2, "b", "b = 20", file=str(folder / "link.py")))]
    assert program.fixed().files == {}


def test_a_fix_that_names_a_gpu_by_a_number_which_the_program_does_not_name_is_not_certain(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [lambda _: failing(program.failure(2, "b", 'b = 2 .to("cuda:1")'))]
    assert (program.fixed().runs, program.fixed().files) == (1, {})


def test_a_fix_may_name_a_gpu_that_the_program_names(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.path.write_text(program.path.read_text() + 'e = "cuda:1"\n')
    program.runs = [lambda _: failing(program.failure(2, "b", 'b = (2).to("cuda:1")')), DONE]
    assert len(program.fixed().fixes) == 1


def test_tests_are_fixed_together(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [
        lambda _: failing(program.failure(2, "b", "b = 20", "t1"), program.failure(3, "c", "c = 30", "t2")),
        DONE,
    ]
    state = program.fixed()
    assert (state.runs, of(state)) == (2, ["a = 1\nb = 20\nc = 30\nd = 4\n"])


def test_of_two_fixes_only_the_one_that_did_not_help_is_taken_back(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)

    def run(text: str) -> Run:
        failures = [] if "b = 20" in text else [program.failure(2, "b", "b = 20", "t1")]
        return failing(*failures, program.failure(3, "c", "c = 30", "t2"))

    program.runs = [run]
    state = program.fixed()
    assert of(state) == ["a = 1\nb = 20\nc = 3\nd = 4\n"]


def test_a_fix_after_which_a_test_fails_that_had_passed_is_taken_back(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [
        lambda _: failing(program.failure(2, "b", "b = 20", "t1"), passed=["t2"]),
        lambda _: failing(program.other(4, "t2")),
    ]
    assert program.fixed().files == {}


def test_fixes_that_failed_together_are_tried_one_by_one(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)

    def run(text: str) -> Run:
        if "c = 30" in text:
            return failing(program.other(4, "t3"))
        failures = [] if "b = 20" in text else [program.failure(2, "b", "b = 20", "t1")]
        return failing(*failures, program.failure(3, "c", "c = 30", "t2"), passed=["t3"])

    program.runs = [run]
    state = program.fixed()
    assert of(state) == ["a = 1\nb = 20\nc = 3\nd = 4\n"]
    assert [str(fix) for fix, _ in state.taken_back] == ["SD002: c was on cpu"]


def test_a_test_that_could_not_be_collected_before_blames_nobody(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [
        lambda _: failing(program.failure(3, "c", "c = 30", "test_a.py")),
        lambda _: failing(program.other(1, "test_a.py::test_b")),
    ]
    assert len(program.fixed().fixes) == 1


def test_a_run_that_had_no_time_does_not_prove_a_fix(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [lambda _: failing(program.failure(2, "b", "b = 20"), seconds=10.0), Run((), None, 2.0)]
    assert program.fixed().files == {}


def test_a_run_that_went_on_until_the_time_was_over_proves_its_fix(tmp_path: Path) -> None:
    program = Program(tmp_path, DONE)
    program.runs = [lambda _: failing(program.failure(2, "b", "b = 20"), seconds=10.0), Run((), None, 60.0)]
    state = program.fixed()
    assert (state.has_succeeded, len(state.fixes)) == (False, 1)


def test_what_is_tried_next_is_told(tmp_path: Path) -> None:
    told = []
    program = Program(tmp_path, DONE)
    program.runs = [lambda _: failing(program.failure(2, "b", "b = 20")), DONE]
    program.fixed(tell=lambda state, trying: told.append((state.runs, list(map(str, trying)))))
    assert told == [(1, ["SD002: b was on cpu"]), (2, [])]
