"""Programs answer as under PyTorch's CUDA build: its recorded answers, replayed by tools/conformance.py."""

import warnings
from collections import Counter

import conformance

# Programs that answer differently, each with the reason. One that begins to agree must leave the list.
DIFFERENT = {
    "default_devices.the_old_default_type": "torch.Tensor(2) asks C++ for the default type, which no simulated GPU is",
}


def test_programs_answer_as_recorded():
    _, rows = conformance.recording("programs")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some programs use what is deprecated
        misses = {case.question: case for case in conformance.replay_programs(rows) if not case.exact}
    assert set(misses) == set(DIFFERENT), "\n".join(str(miss) for name, miss in misses.items() if name not in DIFFERENT)


def test_every_program_is_recorded_once():
    header, rows = conformance.recording("programs")
    recorded = Counter(row["program"] for row in rows)
    assert set(recorded.values()) == {1}
    assert set(recorded) == set(conformance.programs.programs()), f"run {header['how']}"
