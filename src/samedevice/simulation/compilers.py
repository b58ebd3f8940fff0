"""Compilers, which would see CPU tensors: under a simulation their code runs eagerly, and a notice says so once.

For torch.compile PyTorch has a switch, torch.compiler.set_stance("force_eager"): what was compiled before runs eagerly
too, and what is compiled here is compiled when the simulation is over. TorchScript's functions return what they are
given, as they do under PYTORCH_JIT=0; PyTorch's own code is scripted as ever.
"""

import contextlib
import functools
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation.tensor import SimulatedTensor

_compile, _script, _export = torch.compile, torch.jit.script, torch.export.export
_trace, _trace_module = torch.jit.trace, torch.jit.trace_module
_lock = threading.Lock()
_stance: Any = None  # the one to return to
_told = False


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""
    yield sys.modules[__name__], "_told", False
    yield torch, "compile", compile_
    yield torch.jit, "script", script
    yield torch.jit, "trace", trace
    yield torch.jit, "trace_module", trace_module
    yield torch.export, "export", export
    # torch.compiler.reset ends CUDA graphs: torch/_inductor/cudagraph_trees.py imports this where CUDA is built.
    state = "_cuda_CUDAAllocator_AllocatorState"
    yield torch._C, state, getattr(torch._C, state, object)
    dynamo = sys.modules.get("torch._dynamo.eval_frame")
    if dynamo is not None:
        yield dynamo, "_stance", dynamo.DynamoStance("force_eager")


def stop() -> None:
    """Let torch.compile compile again."""
    global _stance
    if _stance is not None:
        vars(sys.modules["torch._dynamo.eval_frame"])["_stance"] = _stance
    _stance = None


def _tell(name: str) -> None:
    global _told
    if not _told:
        _told = True
        warnings.warn(
            f"samedevice does not simulate compilers: what {name} returns runs eagerly on simulated GPUs", stacklevel=3
        )


@functools.wraps(_compile)
def compile_(*args: Any, **kwargs: Any) -> Any:
    global _stance
    _tell("torch.compile")
    from torch._dynamo import eval_frame  # seconds to import, so only when something is compiled

    with _lock:
        if eval_frame._stance.stance != "force_eager":
            _stance, eval_frame._stance = eval_frame._stance, eval_frame.DynamoStance("force_eager")
    return _compile(*args, **kwargs)


@functools.wraps(_script)
def script(obj: Any, *args: Any, _frames_up: int = 0, **kwargs: Any) -> Any:
    if not isinstance(obj, torch.nn.Module) and getattr(obj, "__module__", "").startswith("torch."):
        with _known_to_torchscript():  # its decompositions and functional optimizers
            return _script(obj, *args, _frames_up=_frames_up + 1, **kwargs)
    _tell("torch.jit.script")
    return obj


@contextlib.contextmanager
def _known_to_torchscript() -> Iterator[None]:
    """TorchScript knows PyTorch's functions by their identity: inside, it knows those that stand in for them too."""
    table = torch.jit._builtins._get_builtin_table()
    replaced = [x for x in vars(torch).values() if id(x) not in table and id(getattr(x, "__wrapped__", None)) in table]
    table.update({id(function): table[id(function.__wrapped__)] for function in replaced})
    try:
        yield
    finally:
        for function in replaced:
            del table[id(function)]


@functools.wraps(_trace)
def trace(func: Any, *args: Any, **kwargs: Any) -> Any:
    _tell("torch.jit.trace")
    return func


@functools.wraps(_trace_module)
def trace_module(mod: Any, *args: Any, **kwargs: Any) -> Any:
    _tell("torch.jit.trace_module")
    return mod


@functools.wraps(_export)
def export(mod: Any, args: Any, kwargs: Any = None, **options: Any) -> Any:
    state = [*mod.parameters(), *mod.buffers()] if isinstance(mod, torch.nn.Module) else []
    if any(isinstance(x, SimulatedTensor) for x in (*state, *torch.utils._pytree.tree_leaves((args, kwargs)))):
        raise NotImplementedError(
            "samedevice does not simulate torch.export: move the module and its arguments to the CPU and export there"
        )
    return _export(mod, args, kwargs, **options)
