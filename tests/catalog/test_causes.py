"""The lines of every cause really fail, with the message that it names, and the mended lines really run."""

import contextlib
import traceback

import pytest
import torch

from samedevice import explain, simulate_cuda
from samedevice.catalog import Cause, load
from warm import run

CAUSES = load().causes

# A machine without GPUs is what these are about, or all that they need.
ON_THE_MACHINE_AS_IT_IS = {
    "checkpoint_map_location",
    "ddp_backward_cut_short",
    "ddp_output_left_out_of_loss",
    "ddp_static_graph_changed",
    "ddp_unused_parameters",
    "no_cuda_build_or_driver",
    "plain_tensor_met_dtensor",
}
# They set what the whole process shares and cannot well be undone: a process group, a start method. Or they need a
# process in which PyTorch's C++ has never asked a simulated CUDA to begin, since it asks only once, or one in which
# a warning is no error.
AS_A_SCRIPT = {
    "ddp_backward_cut_short",
    "ddp_output_left_out_of_loss",
    "ddp_static_graph_changed",
    "ddp_unused_parameters",
    "device_id_without_index",
    "fork_cuda",
    "no_cuda_build_or_driver",
    "offloaded_model_moved",
    "plain_tensor_met_dtensor",
    "rank_without_its_gpu",
    "synchronizing_call",
}

# What starts processes takes seconds: `make test-rest` runs it.
RUN = [
    pytest.param(cause, id=cause.id, marks=[pytest.mark.slow] if cause.id in AS_A_SCRIPT else [])
    for cause in CAUSES.values()
    if cause.raises
]

SIMULATION = "from samedevice import simulate_cuda; simulate_cuda(devices=2).start()\n"


def error_of(cause: Cause, lines: str) -> str:
    """The traceback that `lines` of a cause end in, or "" if they run to their end."""
    if cause.id == "no_cuda_build_or_driver" and torch.backends.cuda.is_built():
        pytest.skip("needs a CPU build of PyTorch")
    if cause.id == "checkpoint_map_location" and torch.cuda.is_available():
        pytest.skip("needs a machine without GPUs")
    if cause.id in AS_A_SCRIPT:
        return error_of_a_script(cause, lines)
    try:
        with contextlib.nullcontext() if cause.id in ON_THE_MACHINE_AS_IT_IS else simulate_cuda(devices=2):
            exec(compile(cause.setup + lines, cause.id, "exec"), {"__name__": cause.id})
    except Exception as error:
        return "".join(traceback.format_exception(error))
    finally:
        torch.set_default_device(None)
    return ""


def error_of_a_script(cause: Cause, lines: str) -> str:
    start = "" if cause.id in ON_THE_MACHINE_AS_IT_IS else SIMULATION
    process = run(["-c", start + cause.setup + lines], timeout=60)
    return process.stderr if process.returncode else ""


@pytest.mark.filterwarnings("ignore:for .* copying from a non-meta parameter:UserWarning")
@pytest.mark.parametrize("cause", RUN)
def test_the_failing_lines_raise_the_message_that_the_cause_names(cause: Cause) -> None:
    diagnosis = explain(error_of(cause, cause.before))
    assert diagnosis.message is not None, diagnosis.says
    assert diagnosis.message.id == cause.raises


@pytest.mark.parametrize("cause", RUN)
def test_the_mended_lines_run_to_their_end(cause: Cause) -> None:
    assert error_of(cause, cause.after) == ""
