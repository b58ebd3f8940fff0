"""The line to change where a tensor met NumPy: a copy on the CPU for NumPy, or the array where the tensor is."""

import ast
import re

from samedevice.doctor.causes.rewriting import in_line, set_to
from samedevice.doctor.culprits.evidence import Suspect
from samedevice.doctor.culprits.operands import parties_of
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import parsed, text_of
from samedevice.introspect.values import value


def on_the_cpu(about: Suspect) -> str:
    """The failing line with a copy on the CPU: of the tensor, or of each in the list that the line names."""
    name = about.expression
    whole = re.fullmatch(r"(.+)\[\d+\]", name)
    if whole and name not in text_of(about.call.statement or ast.Pass()):
        kept = [tensor for _, tensor in objects.inside(value(parsed(whole[1]), about.call))]
        detached = ".detach()" * any(objects.requires_grad(tensor) for tensor in kept)
        return in_line(about, f"[value{detached}.cpu() for value in {whole[1]}]", of=whole[1])
    return in_line(about, f"{name}{'.detach()' * _learns(about)}.cpu()")


def array_there(about: Suspect) -> str:
    """The failing line with a tensor in place of the array, of the dtype and on the device of the one beside it."""
    beside = (one for one in parties_of(about.party.call) if one.tensor is not None and one.device != "cpu")
    array, tensor = about.expression, next(beside)
    name = tensor.operand.expression
    # Whole numbers would lose the array's fractions.
    dtype = f", dtype={name}.dtype" if objects.is_floating(tensor.tensor) else ""
    new = f"torch.as_tensor({array}{dtype}, device={name}.device)"
    mended = in_line(about, new)
    return mended if mended != new else set_to(about, new)


def _learns(about: Suspect) -> bool:
    """Whether NumPy would refuse the copy as well, which has a gradient to keep; `.detach()` is right anyway."""
    node = about.call.node if about.call is about.party.call else None
    if any(
        isinstance(part, ast.Attribute) and part.attr in ("detach", "data") for part in ast.walk(node or ast.Pass())
    ):
        return False
    if about.party.tensor is not None and value(parsed(about.expression), about.call) is about.party.tensor:
        return objects.requires_grad(about.party.tensor)
    made = parsed(about.expression)
    if isinstance(made, ast.Call) and origins.called(made).startswith("arg"):
        return False  # places, whole numbers
    held = [value(part, about.call) for part in ast.walk(made) if isinstance(part, (ast.Name, ast.Attribute))]
    return any(objects.requires_grad(one) for one in held if objects.is_tensor(one)) or any(
        objects.requires_grad(one) for module in held if objects.is_module(module) for one in objects.parameters(module)
    )
