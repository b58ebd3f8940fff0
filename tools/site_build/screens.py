"""The five screens of docs/two-minutes.md: what is where, and one line of code, for each.

They are data, because the site is built without torch. The tests build the same things and run the same lines.
"""

from dataclasses import dataclass

from samedevice.placement.drawing import drawn
from samedevice.placement.placements import Placement, Thing, Verdict
from site_build.build_error import BuildError


@dataclass(frozen=True)
class Screen:
    """A picture and a line of code.

    Args:
        code: the line, as the page shows it.
        call: what the picture says below its boxes; "" for nothing.
        things: what the picture shows.
        says: what becomes of the call, if the devices alone do not tell it.
    """

    code: str
    call: str
    things: tuple[Thing, ...]
    says: Verdict | None = None


def screen_picture(name: str) -> str:
    """Return the SVG of one of SCREENS."""
    if name not in SCREENS:
        raise BuildError(f"A page wants the screen {name!r}, and {__name__} has none of that name.")
    screen = SCREENS[name]
    return drawn(screen.call, screen.things, screen.says)


def _model(device: str, *others: Placement) -> Thing:
    layer = (Placement(device, "layer.weight", (1, 3)), Placement(device, "layer.bias", (1,)))
    return Thing("model", (*others, *layer))


def _batch(device: str) -> Thing:
    return Thing("batch", (Placement(device, shape=(16, 3)),))


_MEAN = Placement("cpu", "mean", (3,), "plain attribute")

SCREENS = {
    "device": Screen("print(batch.device)", "", (_batch("cpu"), _model("cuda:0"))),
    "meet": Screen(
        "model(batch)", "model(batch)", (_batch("cpu"), _model("cuda:0")), Verdict("no", "refused: two devices")
    ),
    "to": Screen('batch = batch.to("cuda")', "model(batch)", (_batch("cuda:0"), _model("cuda:0"))),
    "misses": Screen('model.to("cuda")', "", (_model("cuda:0", _MEAN),)),
    "find": Screen(
        "print(x.device, self.mean.device)",
        "x - self.mean",
        (
            Thing("self.mean", (Placement("cpu", shape=(3,)),)),
            Thing("x", (Placement("cuda:0", shape=(16, 3)),)),
        ),
        Verdict("no", "refused: self.mean is on cpu"),
    ),
}
