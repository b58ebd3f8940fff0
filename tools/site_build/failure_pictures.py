"""Pictures of failures, for the home page and the pages of causes: what is where, and why the call fails.

They are data, because the site is built without torch. The tests build the same things, and the call raises.
"""

from dataclasses import dataclass

from samedevice.placement.drawing import drawn
from samedevice.placement.placements import Placement, Thing, Verdict
from site_build.build_error import BuildError


@dataclass(frozen=True)
class Failure:
    """A call that fails: the things that it uses, and what to say of it.

    Args:
        missing: the device that the call asks for and the machine lacks.
    """

    call: str
    things: tuple[Thing, ...]
    says: str
    missing: str | None = None


def failure_picture(name: str) -> str:
    """Return the SVG of one of FAILURES."""
    failure = _failure(name)
    return drawn(failure.call, failure.things, Verdict("no", failure.says), failure.missing)


def _failure(name: str) -> Failure:
    if name not in FAILURES:
        raise BuildError(f"A page wants the picture of {name!r}, and {__name__} has none of that name.")
    return FAILURES[name]


def _tensor(name: str, device: str, *shape: int) -> Thing:
    return Thing(name, (Placement(device, shape=shape),))


def _linear(name: str, device: str, inputs: int, outputs: int) -> Thing:
    weight = Placement(device, "weight", (outputs, inputs))
    return Thing(name, (weight, Placement(device, "bias", (outputs,))))


# By the id of the cause; the home page's, which leads to a lesson, by the lesson's name.
FAILURES = {
    "two-tensors": Failure(
        "layer(batch)",
        (_tensor("batch", "cpu", 16, 3), _linear("layer", "cuda:0", 3, 1)),
        "refused: two devices",
    ),
    "data_parallel_root_device": Failure(
        "DataParallel(model)(batch)",
        (
            _linear("model", "cpu", 3, 1),
            Thing("device_ids[0]", (Placement("cuda:0", note="model goes here"),)),
        ),
        "refused: model is not on cuda:0",
    ),
    "metric_or_accumulator_state": Failure(
        "total += loss",
        (_tensor("total", "cpu", 1), _tensor("loss", "cuda:0")),
        "refused: total is on cpu",
    ),
    "index_on_wrong_device": Failure(
        "class_weights[labels]",
        (_tensor("class_weights", "cpu", 3), _tensor("labels", "cuda:0", 16)),
        "refused: labels is on cuda:0",
    ),
    "checkpoint_map_location": Failure(
        'torch.load("model.pt")',
        (
            Thing("this machine", (Placement("cpu", note="has no GPU"),)),
            Thing(
                "model.pt",
                (
                    Placement("cuda:0", "weight", (1, 3)),
                    Placement("cuda:0", "bias", (1,)),
                ),
            ),
        ),
        "refused: no cuda:0 here",
        missing="cuda:0",
    ),
    "no_cuda_build_or_driver": Failure(
        'model.to("cuda")',
        (_linear("model", "cpu", 3, 1), Thing("the call", (Placement("cuda:0", note="asks for it"),))),
        "refused: no GPU here",
        missing="cuda:0",
    ),
}
