"""Which GPU and which streams are current while a program's own code runs in backward: those of the node that calls it.

Autograd has a thread for each GPU. It runs a node that made a tensor on a GPU in the thread of that GPU, and makes the
stream current in which the node ran forward (torch/csrc/autograd/engine.cpp, thread_init and evaluate_function;
function.h, Node::stream). Here every node runs in the thread that called backward. Operators go where their tensors
are, so only the program's own code can see what is current: hooks, Function.backward, a TorchDispatchMode, and what
packs and unpacks saved tensors. Each of these is called inside `running`. A node that made tensors on the CPU alone
runs in the thread that called backward on CUDA, too, so nothing changes for it.

The thread of a GPU is not made, because what autograd knows of the node that runs cannot be given to another thread.
"""

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import torch

from samedevice.simulation import state
from samedevice.simulation.device import streams
from samedevice.simulation.device.devices import CPU, device_of

_NO_STREAMS: dict[str, int] = {}  # but the default ones
_AccumulateGrad = torch._C._functions.AccumulateGrad
current_node = torch._C._current_autograd_node  # the node that runs in this thread, and None outside of backward


class Saved(Protocol):
    """A saved tensor that a hook has packed."""

    home: torch.device  # where the node runs that saved it


class _Engine(threading.local):
    """What a thread remembers while backward runs in it, and of the last node that it made."""

    # The node whose code of the program's runs now, and the GPU in whose thread CUDA runs it
    node: Any = None
    gpu = 0
    # Code that a node called may leave another GPU or stream: the node, the GPU and the streams, for what it calls next
    left: tuple[Any, int | None, dict[str, int]] | None = None
    last: torch.device = CPU  # where the last node ran that called code of the program's
    roots: tuple[Any, ...] = ()  # where backward began
    first_uses: dict[Any, int] | None = None  # of each leaf's node in the graph, the number of the first that used it
    saved: tuple[int, list[weakref.ref[Any]]] = 0, []  # the number of the next node, and what the last one saved


_engine = _Engine()  # of no use outside of backward, so it need not be made anew for each simulation


class running:  # noqa: N801 - reads as `with running(gpu)`
    """Inside, this GPU is current, and the stream on which the node that now runs was made.

    Outside of backward, on the CPU, and inside other code that the same node called, nothing changes.
    """

    __slots__ = ("_before", "_entered", "_home", "_now", "_outer")

    def __init__(self, home: torch.device) -> None:
        self._home = home

    def __enter__(self) -> None:
        self._now: Any = None
        node = current_node()
        if node is None or node is _engine.node:
            return
        _engine.last = self._home
        if self._home.type != "cuda":
            return
        self._now = now = state.now
        self._before = _current(now)
        self._outer = _engine.node, _engine.gpu
        _engine.node, _engine.gpu = node, self._home.index
        left = _engine.left
        if left is not None and left[0] is node:
            self._entered = left[1:]
        else:
            stream = _stream_of(node, self._home.index)
            self._entered = self._home.index, {str(self._home.index): stream} if stream else _NO_STREAMS
        _set(now, *self._entered)

    def __exit__(self, *exception: object) -> None:
        now = self._now
        if now is None:
            return
        left = _current(now)
        if left != self._entered:
            _engine.left = _engine.node, *left
        _engine.node, _engine.gpu = self._outer
        _set(now, *self._before)


def _current(now: state.State) -> tuple[int | None, dict[str, int]]:
    """The GPU that was made current in this thread, and the streams, each by the index of its GPU."""
    current_streams = vars(now.current_streams)
    return vars(now.current_gpu).get("index"), dict(current_streams) if current_streams else _NO_STREAMS


def _set_gpu(now: state.State, gpu: int | None) -> None:
    if gpu is None:
        vars(now.current_gpu).pop("index", None)
    else:
        now.current_gpu.index = gpu


def _set(now: state.State, gpu: int | None, current_streams: dict[str, int]) -> None:
    _set_gpu(now, gpu)
    if current_streams or vars(now.current_streams):
        streams.set_all(current_streams)


def home_of(node: Any, gradients: Iterable[Any], otherwise: torch.device = CPU) -> torch.device:
    """The GPU in whose thread a node runs, which is that of the first tensor that it made on any; else the CPU.

    A Function and a leaf's node say where their tensors are. Another node made all of its tensors on one device, where
    its gradients are too, or `otherwise` if they do not tell.
    """
    if isinstance(node, _AccumulateGrad):
        return device_of(node.variable)
    home: torch.device | None = getattr(node, "_samedevice_home", None)
    if home is not None:
        return home
    devices = (device_of(x) for x in gradients if isinstance(x, torch.Tensor))
    return next((device for device in devices if device.type == "cuda"), otherwise)


class run:  # noqa: N801 - reads as `with run(outputs)`
    """Inside, backward runs from these tensors.

    Called by a node on a GPU, it makes that GPU current before it begins (engine.cpp, execute_with_graph_task).
    """

    __slots__ = ("_before", "_outputs")

    def __init__(self, outputs: Any) -> None:
        self._outputs = outputs

    def __enter__(self) -> None:
        self._before = _engine.left, _engine.last, _engine.roots, _engine.first_uses
        nodes: tuple[Any, ...] = ()
        if streams.changes():
            nodes = tuple(x.grad_fn if isinstance(x, torch.Tensor) else x.node for x in self._outputs)
        _engine.left, _engine.last, _engine.roots, _engine.first_uses = None, CPU, nodes, None
        if _engine.node is not None:
            state.now.current_gpu.index = _engine.gpu

    def __exit__(self, *exception: object) -> None:
        _engine.left, _engine.last, _engine.roots, _engine.first_uses = self._before


def at_the_end(callback: Callable[[], object]) -> Callable[[], None]:
    """The same callback, to be called when backward has ended, in the thread that ran the last node.

    The caller's streams are current then (graph_task.h and engine.cpp, exec_post_processing). Which node is the last,
    only code of the program's tells.
    """

    def call() -> None:
        now, gpu = state.now, vars(state.now.current_gpu).get("index")
        if _engine.last.type == "cuda":
            now.current_gpu.index = _engine.last.index
        try:
            callback()
        finally:
            if _engine.last.type == "cuda":
                _set_gpu(now, gpu)

    return call


def saves(saved: Saved) -> None:
    """Note that the node that autograd has just made saves a tensor on the CPU, so that `settle` says where it runs."""
    number = streams.next_number()
    if _engine.saved[0] != number:
        _engine.saved = number, []
    _engine.saved[1].append(weakref.ref(saved))


def settle(home: torch.device) -> None:
    """Note that the operator whose node autograd has just made runs on this GPU, though it has tensors on the CPU.

    Autograd saves what an operator is given before it runs. No other node was made if the next number is the same.
    """
    number, saved = _engine.saved
    if saved and number == streams.next_number():
        for reference in saved:
            if (of_node := reference()) is not None:
                of_node.home = home


def _stream_of(node: Any, gpu: int) -> int:
    """The stream of this GPU that was current when the node was made; a leaf's node is made where it is first used."""
    changes = streams.changes()
    if not changes:
        return 0
    if isinstance(node, _AccumulateGrad):
        if _engine.first_uses is None:
            _engine.first_uses = _first_uses(_engine.roots)
        number = _engine.first_uses.get(node, 0)
    else:
        number = node._sequence_nr()
    return next((change.stream for change in reversed(changes) if change.number <= number and change.gpu == gpu), 0)


def _first_uses(roots: Iterable[Any]) -> dict[Any, int]:
    """The number of the first node that used each leaf of the graph, by the node of the leaf."""
    first: dict[Any, int] = {}
    waiting = deque(node for node in roots if node is not None)
    seen = set(waiting)
    while waiting:
        node = waiting.popleft()
        for following, _ in node.next_functions:
            if isinstance(following, _AccumulateGrad):
                first[following] = min(node._sequence_nr(), first.get(following, node._sequence_nr()))
            elif following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return first
