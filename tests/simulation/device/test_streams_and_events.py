"""What streams and events refuse: each text is what PyTorch's CUDA build says."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.usefixtures("two_gpus")

REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a priority that is no number": (
        lambda: torch.cuda.Stream(priority="high"), TypeError, "'str' object cannot be interpreted as an integer",
    ),
    "a priority with a fraction": (
        lambda: torch.cuda.Stream(priority=1.5), TypeError, "'float' object cannot be interpreted as an integer",
    ),
    "another argument of a stream": (
        lambda: torch.cuda.Stream(flags=1), TypeError, "'flags' is an invalid keyword argument for this function",
    ),
    "too many for a stream": (
        lambda: torch.cuda.Stream(0, 0, 0), TypeError,
        "Stream.__new__() takes from 1 to 3 positional arguments but 4 were given",
    ),
    "a priority for any stream": (
        lambda: torch.Stream("cuda", priority="high"), TypeError,
        "Stream(): argument 'priority' must be int, not str",
    ),
    "another argument of any stream": (
        lambda: torch.Stream("cuda", flags=1), TypeError, "Stream() got an unexpected keyword argument 'flags'",
    ),
    "an address that is none": (
        lambda: torch.cuda.ExternalStream("x"), RuntimeError, "stream_ptr must be an int or None, got str",
    ),
    "no event to wait for": (
        lambda: torch.cuda.Stream().wait_event(), TypeError,
        "Stream.wait_event() missing 1 required positional argument: 'event'",
    ),
    "no event to record": (
        lambda: torch.Stream("cuda").record_event(5), RuntimeError, "expected event to be a torch.Event object",
    ),
    "a stream's attribute": (
        lambda: torch.Stream("cuda").name, AttributeError, "'torch.Stream' object has no attribute 'name'",
    ),
    "the attribute of a stream of torch.cuda": (
        lambda: torch.cuda.Stream().name, AttributeError, "'Stream' object has no attribute 'name'",
    ),
    "another argument of an event": (
        lambda: torch.cuda.Event(timing=True), TypeError,
        "Event.__new__() got an unexpected keyword argument 'timing'",
    ),
    "another argument of any event": (
        lambda: torch.Event("cuda", timing=True), TypeError, "Event() got an unexpected keyword argument 'timing'",
    ),
    "a flag by position": (
        lambda: torch.Event("cuda", True), TypeError, "Event() takes from 0 to 1 positional arguments but 2 were given",
    ),
    "a flag that is a number": (
        lambda: torch.Event("cuda", enable_timing=5), TypeError,
        "Event(): argument 'enable_timing' must be bool, not int",
    ),
    "the time until a number": (
        lambda: torch.Event("cuda").elapsed_time(5), RuntimeError, "expected other to be a torch.Event object",
    ),
    "the time until an event of torch.cuda": (
        lambda: torch.Event("cuda", enable_timing=True).elapsed_time(torch.cuda.Event(enable_timing=True)),
        RuntimeError, "expected other to be a torch.Event object",
    ),
    "the time of torch.cuda until a number": (
        lambda: torch.cuda.Event().elapsed_time(5), RuntimeError, "expected other to be a torch.cuda.Event object",
    ),
    "the time until nothing": (
        lambda: torch.cuda.Event().elapsed_time(), TypeError,
        "Event.elapsed_time() missing 1 required positional argument: 'end_event'",
    ),
    "any event for another process": (
        lambda: torch.Event("cuda").ipc_handle(), NotImplementedError,
        "torch.Event ipc is not supported yet, please open an issue if you need this!",
    ),
    "an accelerator's stream that is none": (
        lambda: torch.accelerator.set_stream(5), TypeError,
        "_accelerator_setStream(): incompatible function arguments. The following argument types are supported:\n"
        "    1. (arg0: torch.Stream) -> None\n\nInvoked with: 5",
    ),
    "an accelerator that is negative": (
        lambda: torch.accelerator.synchronize(-1), RuntimeError, "device id must be non-negative!-1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_stream_or_an_event_does_not_take_is_refused(case: str) -> None:
    act, kind, text = REFUSED[case]
    with pytest.raises(kind) as error:
        act()
    assert str(error.value) == text


def test_a_subclass_of_an_event_may_have_arguments_of_its_own() -> None:
    class Named(torch.cuda.Event):
        def __new__(cls, name: str) -> Any:
            return super().__new__(cls, enable_timing=True)

        def __init__(self, name: str) -> None:
            self.name = name

    first, second = Named("first"), Named("second")
    first.record()
    second.record()
    assert first.elapsed_time(second) >= 0
    assert first.name == "first"


def test_a_stream_of_another_library_is_known_by_its_address(two_gpus: None) -> None:
    own, other = torch.cuda.Stream(), torch.cuda.Stream(1)
    external = torch.cuda.ExternalStream(own.cuda_stream)
    assert (external.cuda_stream, external.stream_id) == (own.cuda_stream, own.cuda_stream)
    assert external != own
    assert (hash(external), repr(external)) == (hash(own), repr(own))
    assert len({own.cuda_stream, other.cuda_stream, own.stream_id, torch.cuda.default_stream().cuda_stream}) == 4
    with torch.cuda.stream(external):
        assert torch.cuda.current_stream() == external
        assert torch.cuda.current_stream().cuda_stream == own.cuda_stream
    assert torch.cuda.get_stream_from_external(other.cuda_stream, 1).cuda_stream == other.cuda_stream


@pytest.mark.parametrize("kind", [torch.cuda, torch], ids=["torch.cuda", "torch"])
def test_no_time_passes_between_events_of_two_gpus(two_gpus: None, kind: Any) -> None:
    first, second = (kind.Event(enable_timing=True) for _ in range(2))
    first.record(kind.Stream("cuda:0"))
    second.record(kind.Stream("cuda:1"))
    for start, end in ((first, second), (second, first)):
        with pytest.raises(torch.AcceleratorError) as refused:
            start.elapsed_time(end)
        assert str(refused.value) == (
            "CUDA error: invalid resource handle\n"
            "Search for `cudaErrorInvalidResourceHandle' in https://docs.nvidia.com/cuda/cuda-runtime-api/"
            "group__CUDART__TYPES.html for more information.\n"
            "For more detailed error information, run with CUDA_LOG_FILE=stderr\n"
        )
