"""Checks of PyTorch's, and those that the simulation does in its place, each with the switch that turns it off.

Nothing of this is in the product, which has no option for it. A lesson's error has to come from one of these checks,
and so it fails to come when they are off. In a process that a lesson starts as `torchrun` does, they are off too:

    python checks_off.py program.py
"""

import os
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._functorch.config
from torch.distributed.fsdp._fully_shard._fsdp_param_group import FSDPParamGroup
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from lessons import ranks
from samedevice.simulation import state
from samedevice.simulation.device import sync_debug
from samedevice.simulation.patches import autograd, multiprocessing
from samedevice.simulation.rules import judgement
from samedevice.simulation.tensor import pinning, set_data

TEXTS: dict[str, re.Pattern[str]] = {}
_SWITCHES: list[Callable[[], None]] = []


def switch(check: str, texts: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register what turns a check off, with the texts that it raises."""

    def register(turn_off: Callable[[], None]) -> Callable[[], None]:
        TEXTS[check] = re.compile(texts)
        _SWITCHES.append(turn_off)
        return turn_off

    return register


def switch_the_checks_off() -> None:
    """Turn all of them off in this process, before a simulation starts in it."""
    for turn_off in _SWITCHES:
        turn_off()
    run = ranks._run
    ranks._run = lambda program, *rest: run([__file__, *program], *rest)


def checks_of(text: str) -> set[str]:
    """Name the checks that an error's text is of."""
    return {check for check, texts in TEXTS.items() if texts.search(text)}


@switch(
    "device",
    "Expected all tensors to be on the same device,|"
    "Trying to pass too many CPU scalars|Expected out tensor to have device|Input type .* and weight type|"
    "indices should be either on cpu|expected self and mask to be on the same device",
)
def all_devices_are_taken_for_one() -> None:
    """Let an operation take what is on two devices. A gradient that a move left behind is compared apart."""
    judge = judgement.judge

    def anything_goes(*args: Any, **kwargs: Any) -> Any:
        try:
            return judge(*args, **kwargs)
        except RuntimeError:
            return torch.device("cuda", 0)

    judgement.judge = anything_goes
    set_data.found_two_devices = lambda *devices: None


@switch("reduction", "Expected to have finished reduction in the prior iteration")
def no_gradient_is_reduced() -> None:
    """Let each rank of DDP keep its own gradients, as under `no_sync`: then none can be missing in the average."""
    never = property(lambda self: False, lambda self, value: None)
    DistributedDataParallel.require_backward_grad_sync = never  # type: ignore[assignment]


@switch("pinning", "cannot pin ")
def any_tensor_is_pinned() -> None:
    """Take a tensor for pinned wherever it is."""
    pinning.pin_memory = lambda self, device=None: self


@switch("waiting", "called a synchronizing CUDA operation")
def nobody_waits() -> None:
    """Forget what `set_sync_debug_mode` asked for."""
    sync_debug.wait = lambda: None


@switch("no gradient", "element 0 of tensors does not require grad")
def every_loss_requires_a_gradient() -> None:
    """Hand autograd's engine a loss that was computed from something, where the program's was not."""
    run = autograd._engine_run_backward

    def engine(outputs: Any, given: Any, *rest: Any, **options: Any) -> Any:
        begun = tuple(torch.ones_like(out) if grad is None else grad for out, grad in zip(outputs, given, strict=True))
        asked = tuple(out if out.requires_grad else out.detach().requires_grad_() for out in outputs)
        return run(asked, begun, *rest, **options)

    autograd._engine_run_backward = engine


@switch("fork", "Cannot re-initialize CUDA in forked subprocess|CUDA error: initialization error")
def a_fork_keeps_its_gpus() -> None:
    """Undo what the simulation notes in a forked child: this runs there after it, in the order of registration."""

    def keep() -> None:
        state.now.forked = False
        state.now.present.update(state.now.gpus)

    os.register_at_fork(after_in_child=keep)


@switch("sending on", "Attempted to send CUDA tensor received from another process")
def what_was_received_may_be_sent() -> None:
    """Forget that memory came from another process."""
    share = multiprocessing.share_cuda

    def share_cuda(self: torch.UntypedStorage) -> Any:
        self.__dict__.pop("_samedevice_received", None)
        return share(self)

    multiprocessing.share_cuda = share_cuda


@switch("mixed", "got mixed torch.Tensor and DTensor")
def a_plain_tensor_is_taken_for_replicated() -> None:
    """Use DTensor's own switch for this; where a plain tensor is the destination, it is what the operation returns."""
    dispatcher = DTensor._op_dispatcher
    dispatcher._allow_implicit_replication = True
    tail = type(dispatcher)._dispatch_fast_path_python_tail

    def end(self: Any, op: Any, args: Any, *rest: Any) -> Any:
        *_, is_inplace, _is_out = rest
        return args[0] if is_inplace and not isinstance(args[0], DTensor) else tail(self, op, args, *rest)

    type(dispatcher)._dispatch_fast_path_python_tail = end


@switch("meta", "Cannot copy out of meta tensor|parameters should be materialized from meta device")
def meta_holds_zeros() -> None:
    """Copy zeros from a tensor on meta, and let FSDP begin with some."""
    FSDPParamGroup._validate_no_meta_params = lambda self: None
    _ATEN.impl("copy_", lambda self, source, non_blocking=False: self if self.is_meta else self.zero_(), "Meta")


_ATEN = torch.library.Library("aten", "IMPL")  # what it registers ends with it


@switch("traced", "Tensor device mismatch")
def a_gpu_is_preferred() -> None:
    """Use the switch of FakeTensors: where two devices meet, the result is on the GPU."""
    torch._functorch.config.fake_tensor_prefer_device_type = "cuda"


if __name__ == "__main__":
    switch_the_checks_off()
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path.cwd())
    runpy.run_path(sys.argv[0], run_name="__main__")
