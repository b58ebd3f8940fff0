"""The pictures of the home page, one for each failure: what is where, and why the call fails.

They are data, because the site is built without torch. The tests build the same things, and the call raises.
"""

from dataclasses import dataclass

from samedevice.placement.drawing import colour_of, drawn
from samedevice.placement.model import Placement, Thing, Verdict, devices_of


@dataclass(frozen=True)
class Failure:
    """A call that fails: the things that it uses, and what to say of it.

    Arguments:
        missing: the device that the call asks for and the machine lacks.
    """

    call: str
    things: tuple[Thing, ...]
    says: str
    missing: str | None = None


def failure_picture(name: str) -> str:
    """The SVG of one of FAILURES."""
    failure = FAILURES[name]
    return drawn(failure.call, failure.things, Verdict("no", failure.says), failure.missing)


def failure_devices(name: str) -> str:
    """The devices of one of FAILURES, each with its sign: what is seen of the picture while the card is folded."""
    failure = FAILURES[name]
    devices = devices_of(placement for thing in failure.things for placement in thing.placements)
    marks = [(colour_of(device), f"no {device}" if device == failure.missing else device) for device in devices]
    return " ".join(f'<span class="device {colour}">{label}</span>' for colour, label in marks)


def _tensor(name: str, device: str, *shape: int) -> Thing:
    return Thing(name, (Placement(device, shape=shape),))


def _linear(name: str, device: str, inputs: int, outputs: int) -> Thing:
    weight = Placement(device, "weight", (outputs, inputs))
    return Thing(name, (weight, Placement(device, "bias", (outputs,))))


# By the id of the cause that a card leads to; the first one, which leads to a lesson, by the lesson's name.
FAILURES = {
    "two-tensors": Failure(
        "layer(batch)",
        (_tensor("batch", "cpu", 16, 3), _linear("layer", "cuda:0", 3, 1)),
        "refused: two devices",
    ),
    "input_not_moved": Failure(
        "model(batch)",
        (
            Thing(
                "model",
                (
                    Placement("cuda:0", "0.weight", (50, 8)),
                    Placement("cuda:0", "1.weight", (2, 8)),
                    Placement("cuda:0", "1.bias", (2,)),
                ),
            ),
            _tensor("batch", "cpu", 16, 20),
        ),
        "refused: batch is on cpu",
    ),
    "model_not_moved": Failure(
        "model(images)",
        (
            Thing("model", (Placement("cpu", "weight", (8, 3, 3, 3)), Placement("cpu", "bias", (8,)))),
            _tensor("images", "cuda:0", 16, 3, 9, 9),
        ),
        "refused: model is on cpu",
    ),
    "unregistered_tensor_attribute": Failure(
        "model(batch)",
        (
            Thing(
                "model",
                (
                    Placement("cuda:0", "weight", (1, 3)),
                    Placement("cuda:0", "bias", (1,)),
                    Placement("cpu", "scale", (3,), note="plain attribute"),
                ),
            ),
            _tensor("batch", "cuda:0", 16, 3),
        ),
        "refused: scale is on cpu",
    ),
    "tensor_created_in_forward_without_device": Failure(
        "embed(positions)",
        (_tensor("positions", "cpu", 20), Thing("embed", (Placement("cuda:0", "weight", (20, 8)),))),
        "refused: positions is on cpu",
    ),
    "split_model_activation_not_moved": Failure(
        "second(hidden)",
        (
            _linear("first", "cuda:0", 3, 8),
            _tensor("hidden", "cuda:0", 16, 8),
            _linear("second", "cuda:1", 8, 1),
        ),
        "refused: hidden is on cuda:0",
    ),
    "data_parallel_root_device": Failure(
        "DataParallel(model)(batch)",
        (
            _linear("model", "cpu", 3, 1),
            Thing("device_ids[0]", (Placement("cuda:0", note="model goes here"),)),
        ),
        "refused: model is not on cuda:0",
    ),
    "in_place_or_copy": Failure(
        "total += scores",
        (_tensor("total", "cpu", 10), _tensor("scores", "cuda:0", 10)),
        "refused: += moves nothing",
    ),
    "metric_or_accumulator_state": Failure(
        "torch.cat(results)",
        (
            Thing(
                "results",
                (
                    Placement("cpu", "[0]", (1, 10)),
                    Placement("cuda:0", "[1]", (16, 10)),
                    Placement("cuda:0", "[2]", (16, 10)),
                ),
            ),
        ),
        "refused: results[0] is on cpu",
    ),
    "index_on_wrong_device": Failure(
        "weights[labels]",
        (_tensor("weights", "cpu", 10), _tensor("labels", "cuda:0", 16)),
        "refused: labels is on cuda:0",
    ),
    "numpy_conversion": Failure(
        "scores.numpy()",
        (Thing("NumPy", (Placement("cpu", note="reads only this"),)), _tensor("scores", "cuda:0", 16, 10)),
        "refused: scores is on cuda:0",
    ),
    "optimizer_state_device": Failure(
        "optimizer.step()",
        (
            Thing(
                "optimizer",
                (
                    Placement("cuda:0", "params \N{MULTIPLICATION SIGN}2"),
                    Placement("cpu", "step \N{MULTIPLICATION SIGN}2", (), aside=True),
                    Placement("cpu", "exp_avg \N{MULTIPLICATION SIGN}2"),
                    Placement("cpu", "exp_avg_sq \N{MULTIPLICATION SIGN}2"),
                ),
            ),
        ),
        "refused: its state is on cpu",
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
    "wrong_default_index": Failure(
        "model(batch)",
        (_tensor("batch", "cuda:0", 16, 3), _linear("model", "cuda:1", 3, 1)),
        'refused: "cuda" was cuda:0',
    ),
    "no_cuda_build_or_driver": Failure(
        'model.to("cuda")',
        (_linear("model", "cpu", 3, 1), Thing("the call", (Placement("cuda:0", note="asks for it"),))),
        "refused: no GPU here",
        missing="cuda:0",
    ),
}
