"""The parameters that DistributedDataParallel still waits for: those whose indices its message names."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from samedevice.doctor.culprits.evidence import Suspect
from samedevice.doctor.culprits.failure import Scene
from samedevice.doctor.culprits.operands import Party
from samedevice.introspect import objects
from samedevice.introspect.origins import Origin
from samedevice.introspect.values import Operand
from samedevice.placement.holders import step


def waited_for(scene: Scene) -> Iterator[Party]:
    """They count, from 0, what requires a gradient, in the order of `named_parameters()`."""
    said = re.search(r"Parameter indices which did not receive grad for rank \d+:((?: \d+)+)", scene.text)
    wrapper = next((held for call in scene.below if _is_wrapper(held := call.locals.get("self"))), None)
    wrapped = objects.attributes(wrapper).get("_modules", {}).get("module")
    names = {id(module): name for name, module in reversed(scene.modules())}
    root = names.get(id(wrapped)) or f"{names.get(id(wrapper), 'model')}.module"
    trained = {id(one): (path, one) for path, one in _parameters(root, wrapped) if objects.requires_grad(one)}
    for index in map(int, said[1].split() if said else ()):
        if index < len(trained):
            path, tensor = list(trained.values())[index]
            named = Operand(ast.parse(path, mode="eval").body, tensor)
            yield Party(tensor, objects.device(tensor), scene.place, named, came=Origin("other", None, None))


def _parameters(path: str, module: Any) -> Iterator[tuple[str, Any]]:
    own = objects.attributes(module)
    for name, tensor in own.get("_parameters", {}).items():
        if tensor is not None:
            yield path + step(module, name), tensor
    for name, child in own.get("_modules", {}).items():
        yield from _parameters(path + step(module, name), child)


def frozen(about: Suspect) -> str:
    """Freezes its layer, before the wrapper looks at what requires a gradient: when it is made."""
    wrapped = re.sub(r"\.module\b", "", about.expression, count=1)
    return f"{wrapped.rpartition('.')[0]}.requires_grad_(False)  # before DistributedDataParallel wraps it"


def _is_wrapper(held: Any) -> bool:
    return objects.is_a(held, "torch.nn.parallel", "DistributedDataParallel")
