"""Compilers, which would see CPU tensors: under a simulation their code runs eagerly, and a notice says so once.

For torch.compile PyTorch has a switch (torch_dynamo.py): what was compiled before runs eagerly too, and what is
compiled here is compiled when the simulation is over. Where it fails, the compiler's own error is raised (dynamo.py).
TorchScript's functions return what they are given, as they do under PYTORCH_JIT=0; PyTorch's own code is scripted as
ever. To trace, PyTorch runs a function once, and so does torch.jit.trace here: it fails where the function does. A
module on the CPU that was scripted or traced is really so when it is saved, or asked for its graph.
"""

import contextlib
import functools
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload
from samedevice.simulation.device import devices
from samedevice.simulation.patches import dynamo, read_first
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor

_compile, _script, _export = torch.compile, torch.jit.script, torch.export.export
_freeze, _optimize_for_inference = torch.jit.freeze, torch.jit.optimize_for_inference
_trace, _trace_module = torch.jit.trace, torch.jit.trace_module
_get = torch.nn.Module.__getattr__
# What compiles its own call in eager code: torch.cond and its kin.
_HIGHER_ORDER = "torch._higher_order_ops.", "torch.nn.attention.flex_attention"
_told = False


def replacements() -> Iterator[tuple[object, str, object]]:
    yield sys.modules[__name__], "_told", False
    yield torch, "compile", compile_
    yield torch.jit, "script", script
    yield torch.jit, "trace", trace
    yield torch.jit, "trace_module", trace_module
    yield torch.jit, "freeze", freeze
    yield torch.jit, "optimize_for_inference", optimize_for_inference
    yield torch.export, "export", export
    # torch.compiler.reset ends CUDA graphs: torch/_inductor/cudagraph_trees.py imports this where CUDA is built.
    state = "_cuda_CUDAAllocator_AllocatorState"
    yield torch._C, state, getattr(torch._C, state, object)


def _tell(name: str) -> None:
    global _told
    if not _told:
        _told = True
        warnings.warn(
            f"samedevice does not simulate compilers: what {name} returns runs eagerly on simulated GPUs", stacklevel=3
        )


@functools.wraps(_compile)
def compile_(model: Any = None, *args: Any, **kwargs: Any) -> Any:
    caller = sys._getframe(1).f_globals.get("__name__", "")
    if not caller.startswith("torch."):
        _tell("torch.compile")
    compiled: Any = _compile(model, *args, **kwargs)
    if model is None or kwargs.get("disable"):  # as a decorator with arguments: it comes back with the function
        return compiled
    if isinstance(compiled, torch.nn.Module):
        compiled.forward = _failing_as_compiled(model, compiled.forward)
        return compiled
    if caller.startswith(_HIGHER_ORDER):
        return _read_first(model, compiled)
    return _failing_as_compiled(model, compiled)


def _failing_as_compiled(function: Any, compiled: Any) -> Any:
    """The compiled function, which raises the compiler's error where it has one."""

    @functools.wraps(compiled)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return compiled(*args, **kwargs)
        except RuntimeError:
            said = dynamo.refusal(function, args, kwargs) if devices.installed() else None
            if said is None:
                raise
        raise said

    return call


def _read_first(function: Any, compiled: Any) -> Any:
    """The compiled call of a higher-order operator, whose functions are read before it runs."""
    run = _failing_as_compiled(function, compiled)

    @functools.wraps(compiled)
    def call(*args: Any, **kwargs: Any) -> Any:
        if dynamo.traced(args, kwargs):
            with dynamo.tracing():
                return compiled(*args, **kwargs)
        said = read_first.refusal(function, args, kwargs)
        if said is not None:
            raise said
        return run(*args, **kwargs)

    return call


@functools.wraps(_script)
def script(obj: Any, *args: Any, _frames_up: int = 0, **kwargs: Any) -> Any:
    if not isinstance(obj, torch.nn.Module) and getattr(obj, "__module__", "").startswith("torch."):
        with _known_to_torchscript():  # its decompositions and functional optimizers
            return _script(obj, *args, _frames_up=_frames_up + 1, **kwargs)
    _tell("torch.jit.script")
    _remember(obj, lambda module: _script(module, *args, **kwargs))
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
def trace(func: Overload, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
    _tell("torch.jit.trace")
    named = kwargs.get("example_kwarg_inputs")
    # torch/jit/_trace.py, _trace_impl
    if isinstance(func, torch.nn.Module) and example_inputs is None and not isinstance(named, dict):
        raise RuntimeError("example_kwarg_inputs should be a dict")
    if isinstance(named, dict):
        _refuse_untraceable(func(**named))
    else:
        if isinstance(example_inputs, torch.Tensor | dict):
            example_inputs = (example_inputs,)
        _refuse_untraceable(func(*tuple(example_inputs)))
    kwargs = kwargs | {"check_trace": False}  # by torch.jit.trace again
    _remember(func, lambda module: _trace(module, *_on_cpu((example_inputs, *args)), **_on_cpu(kwargs)))
    return func


@functools.wraps(_trace_module)
def trace_module(mod: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    _tell("torch.jit.trace_module")
    if isinstance(mod, torch.nn.Module) and isinstance(inputs, dict):  # PyTorch refuses all else
        for name, given in inputs.items():
            method = mod if name == "forward" else getattr(mod, name)
            _refuse_untraceable(method(*given) if isinstance(given, tuple) else method(given))
    else:
        return _trace_module(mod, inputs, *args, **kwargs)
    kwargs = kwargs | {"check_trace": False}
    _remember(mod, lambda module: _trace_module(module, _on_cpu(inputs), *args, **kwargs))
    return mod


@functools.wraps(_freeze)
def freeze(mod: Any, *args: Any, **kwargs: Any) -> Any:
    if not isinstance(mod, torch.nn.Module) or mod not in _makers:
        return _freeze(mod, *args, **kwargs)
    if mod.training:  # torch/jit/_freeze.py, freeze
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module "
            "before freezing."
        )
    return mod


@functools.wraps(_optimize_for_inference)
def optimize_for_inference(mod: Any, *args: Any, **kwargs: Any) -> Any:
    if not isinstance(mod, torch.nn.Module) or mod not in _makers:
        return _optimize_for_inference(mod, *args, **kwargs)
    return freeze(mod.eval())  # torch/jit/_freeze.py, optimize_for_inference


def _refuse_untraceable(output: Any) -> None:
    """torch/csrc/jit/python/python_tracer.cpp, createGraphByTracing."""
    if isinstance(output, list | tuple | dict):
        for item in output.values() if isinstance(output, dict) else output:
            _refuse_untraceable(item)
    elif not isinstance(output, torch.Tensor | None):
        raise RuntimeError(
            "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions"
        )


def _on_cpu(values: Any) -> Any:
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().cpu(), values)


# How to make the module of TorchScript for each module that was scripted or traced.
_makers: "weakref.WeakKeyDictionary[torch.nn.Module, Callable[[torch.nn.Module], Any]]" = weakref.WeakKeyDictionary()


def _remember(module: Any, maker: Callable[[torch.nn.Module], Any]) -> None:
    if isinstance(module, torch.nn.Module):
        _makers[module] = maker
        if torch.nn.Module.__getattr__ is not _get_of_torchscript and state.now.session is not None:
            state.now.session.replace(iter([(torch.nn.Module, "__getattr__", _get_of_torchscript)]))


# Attributes that only modules of TorchScript have.
_OF_TORCHSCRIPT = frozenset(("save", "save_to_buffer", "graph", "code"))


@functools.wraps(_get)
def _get_of_torchscript(module: Any, name: str) -> Any:
    """nn.Module.__getattr__, which Python calls for an attribute that neither a module nor its class has.

    It is put in place when the first module is scripted or traced: every parameter is read by it. A class knows nothing
    of these names, so what a program's own classes call `save` or `graph` is found before.
    """
    maker = _makers.get(module) if name in _OF_TORCHSCRIPT else None
    if maker is None:
        return _get(module, name)
    if any(isinstance(x, SimulatedTensor) for x in (*module.parameters(), *module.buffers())):
        raise NotImplementedError(
            "samedevice does not simulate TorchScript on a GPU: move the module to the CPU before you save it"
        )
    del _makers[module]  # TorchScript looks at each attribute, so the module must not have more than others
    try:
        with _known_to_torchscript():
            return getattr(maker(module), name)
    finally:
        _makers[module] = maker


@functools.wraps(_export)
def export(mod: Any, args: Arguments, kwargs: Keywords | None = None, **options: Any) -> Any:
    if not options.get("strict"):
        return _export(mod, args, kwargs, **options)
    with dynamo.tracing():
        return _export(mod, args, kwargs, **options)
