"""The line to change, in the program's own names: what gives the tensor its name, or the failing line, mended."""

import ast
import copy
import re
from typing import Any

from samedevice.doctor.causes.buffers import empty_at_first, put_in_its_place, where_it_was
from samedevice.doctor.causes.checkpoints import mapped
from samedevice.doctor.causes.cpu_only import array_there, on_the_cpu
from samedevice.doctor.causes.distributed import frozen
from samedevice.doctor.causes.ineffective_moves import second_name
from samedevice.doctor.causes.models import assigned_below_an_optimizer, created_once, filled, registered, root_of
from samedevice.doctor.causes.rewriting import LONGEST, in_line, is_code, made_there, set_to
from samedevice.doctor.causes.wanted_device import device_asked_for, device_at, device_of_the_text
from samedevice.doctor.culprits.evidence import Suspect
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.objects import MISSING
from samedevice.introspect.values import value

_ANY = '"cuda" if torch.cuda.is_available() else "cpu"'


def fix(about: Suspect, cause: str) -> str:
    """The line to change, in the program's names."""
    if about.party.mended:
        return about.party.mended
    name, held = about.expression, about.holder
    match cause:
        case "metric_or_accumulator_state" | "tensor_created_in_forward_without_device" if (
            held is not None and (anew := put_in_its_place(about, held)) is not None
        ):
            return where_it_was(held, anew)
        case "cached_before_move" if held is not None:
            return empty_at_first(held)
        case "unregistered_tensor_attribute" | "data_parallel_unreplicated_state" if held is not None:
            return registered(about, held)
        case "model_not_moved" | "registered_after_move" | "model_moved_by_saving" | "data_parallel_root_device" if (
            held is not None
        ):
            root, call = root_of(about, held)
            if assigned := assigned_below_an_optimizer(about, root, call):
                return assigned
            return f"{root}.to({device_at(about, call, call.line)})"
        case "loss_weight_not_moved" if held is not None and held.inner is not None:
            return f"{held.expression.rpartition('.')[0]}.to({device_at(about, about.call, about.call.line)})"
        case "optimizer_state_device":
            root = held.root if held is not None and held.kind == "state" else _optimizer(about)
            return f"{root}.load_state_dict({root}.state_dict())"
        case "submodule_created_in_forward" if held is not None:
            return created_once(about, held)
        case "meta_device_leftover" if held is not None:
            return filled(about, held)
        case "meta_device_leftover":
            return _off_meta(about)
        case "library_bug" if held is not None and held.is_named:
            device = device_at(about, about.scene.place, about.scene.place.line)
            return f"{held.expression} = {held.expression}.to({device})"
        case "library_bug":
            return _under_a_default(about)
        case "in_place_or_copy" if (own := second_name(about)) is not None:
            return in_line(about, own) if about.call is about.scene.place else f"{name} = {own}"
        case "in_place_or_copy" if _discarded(about) is not None:
            moved: Any = _discarded(about).value  # type: ignore[union-attr]
            return f"{text_of(moved.func.value)} = {text_of(moved)}"
        case "numpy_conversion" if objects.is_array(about.party.operand.value):
            return array_there(about)
        case "numpy_conversion" | "cpu_only_argument":
            return on_the_cpu(about)
        case "tensors_of_two_devices_joined":
            return _brought_together(about)
        case "pin_memory_on_cuda_tensor":
            return _unpinned(about)
        case "generator_device":
            return _generator(about)
        case "container_not_moved":
            device = device_asked_for(about)
            if objects.is_one_of(about.party.operand.value, dict):
                return f"{name} = {{key: value.to({device}) for key, value in {name}.items()}}"
            return f"{name} = [value.to({device}) for value in {name}]"
        case "device_ordinal_unavailable":
            return _with_the_gpus_there_are(about)
        case "misspelt_device" if name.endswith(".get_device()"):
            return set_to(about, f"{name.removesuffix('get_device()')}device")
        case "misspelt_device":
            return set_to(about, _spelt(about.party.operand.node, about.party.device))
        case "no_cuda_build_or_driver" | "hardcoded_cuda" if about.party.operand.role == "moved":
            return in_line(about, f"{name}.to({_ANY})", of=f"{name}.cuda()")
        case "mps_or_other_backend" if about.party.tensor is None:
            return set_to(about, 'torch.accelerator.current_accelerator(check_available=True) or "cpu"')
        case "no_cuda_build_or_driver":
            return set_to(about, _ANY)
        case "legacy_constructor_device":
            return _modern(about)
        case "checkpoint_map_location":
            return mapped(about)
        case "ddp_unused_parameters":
            return frozen(about)
    return _moved(about)


def _brought_together(about: Suspect) -> str:
    """The list of the failing line with each of its tensors on one device; else the one tensor there."""
    is_cpu = about.others == ("cpu",)
    move = "cpu()" if is_cpu else f"to({device_at(about, about.call, about.call.line)})"
    whole = re.fullmatch(r"(.+)\[\d+\]", about.expression)
    mended = in_line(about, f"[one.{move} for one in {whole[1]}]", of=whole[1]) if whole else ""
    return mended if mended and not mended.startswith("[") else set_to(about, f"{about.expression}.{move}")


def _off_meta(about: Suspect) -> str:
    """Made elsewhere from the start: what is on meta has no values to move."""
    device = device_at(about, about.call, about.call.line)
    made = ast.parse(about.expression, mode="eval").body if is_code(about.expression) else None
    if isinstance(made, ast.Call) and origins.device_argument(made) is not None:
        made.keywords = [one for one in made.keywords if one.arg != "device"]
        made.keywords.append(ast.keyword("device", ast.parse(device, mode="eval").body))
        return in_line(about, text_of(made))
    if about.came.kind == "made":
        return _moved(about)
    return set_to(about, f"torch.zeros_like({about.expression}, device={device})")


def _moved(about: Suspect) -> str:
    """Make it where it is wanted, else move it there before the failing line, else in it."""
    made, statement = about.came.value, about.came.statement
    if made is not None and about.came.kind in ("made", "moved"):
        at = getattr(statement, "lineno", about.call.line)
        device = device_at(about, about.scope, at)
        if about.scope.in_library:
            pass
        elif isinstance(statement, ast.Assign) and _gives_only(statement, about):
            return f"{about.name} = {made_there(made, device)}"
        elif statement is None and text_of(made) == about.expression:
            return in_line(about, made_there(made, device))
    device = device_at(about, about.call, about.call.line)
    moved = ast.parse(about.expression, mode="eval").body if is_code(about.expression) else None
    if isinstance(moved, ast.Call) and origins.called(moved) in ("to", "cuda") and not about.call.in_library:
        return in_line(about, made_there(moved, device))
    return set_to(about, f"{about.expression}.to({device})")


def _gives_only(statement: ast.Assign, about: Suspect) -> bool:
    """Whether a statement gives this name, and no other, its value."""
    return len(statement.targets) == 1 and text_of(statement.targets[0]) == about.name


def _discarded(about: Suspect) -> ast.Expr | None:
    tree = about.scope.scope
    if about.holder is not None:
        return origins.discarded_in(about.holder.module, about.holder.name)
    return origins.discarded_move(about.name, tree) if tree is not None and about.name == about.expression else None


def _optimizer(about: Suspect) -> str:
    return next((name for name, _ in about.scene.optimizers()), "optimizer")


def _under_a_default(about: Suspect) -> str:
    """The user's line with the wanted device as the default, where the library then makes its tensors."""
    place = about.scene.place
    device = device_at(about, place, place.line)
    statement = text_of(place.statement) if place.statement is not None else "..."
    return f"with torch.device({device}): {statement if len(statement) <= LONGEST else '...'}"


def _unpinned(about: Suspect) -> str:
    if about.party.tensor is not None and not about.party.call.in_library:
        return in_line(about, f"{about.expression}.cpu()")
    return _loader(about, "pin_memory", None)


def _loader(about: Suspect, argument: str, new: ast.expr | None) -> str:
    """The statement that makes the DataLoader of the failing loop, with another argument."""
    call = about.scene.place
    for made in ast.walk(call.scope) if call.scope is not None else ():
        if isinstance(made, ast.Call) and origins.called(made) == "DataLoader":
            mended = copy.deepcopy(made)
            mended.keywords = [one for one in mended.keywords if one.arg != argument]
            mended.keywords += [ast.keyword(argument, new)] if new is not None else []
            for statement in ast.walk(call.scope):  # type: ignore[arg-type]
                if isinstance(statement, ast.Assign) and statement.value is made:
                    return f"{text_of(statement.targets[0])} = {text_of(mended)}"
            return in_line(about, text_of(mended), of=text_of(made))
    return f"DataLoader(..., {argument}={text_of(new) if new is not None else 'False'})"


def _generator(about: Suspect) -> str:
    """The generator's own statement, on the device of what it draws."""
    home = (device_of_the_text(about) or "cuda").removesuffix(":0")
    there = ast.parse(f'torch.Generator(device="{home}")', mode="eval").body
    if about.party.call.in_library:
        return _loader(about, "generator", there)
    base, _, key = about.expression.rpartition(".")
    of = value(ast.parse(base, mode="eval").body, about.call) if base and is_code(base) else None
    tree = copy.deepcopy(about.came.value or origins.assigned(of, key))
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and origins.called(node) == "Generator":
            node.args, node.keywords = [], [ast.keyword("device", ast.Constant(home))]
            return f"{about.expression} = {text_of(tree)}"  # type: ignore[arg-type]
    return f"{about.expression} = {text_of(there)}"


def _with_the_gpus_there_are(about: Suspect) -> str:
    asked, name = about.party.operand.value, about.expression
    if re.search("""["']RANK["']""", name):  # counts the processes of all machines
        return in_line(about, re.sub("""(["'])RANK(?=["'])""", r"\1LOCAL_RANK", name))
    if "rank" in name.lower():  # with another number, two processes would share one GPU
        return "torchrun --nproc-per-node=gpu ..."
    if objects.is_one_of(asked, list, tuple):
        return set_to(about, "None")
    # torch.cuda.set_device takes no "cuda" without a number.
    return set_to(about, "0" if type(asked) is int or asked is MISSING else '"cuda"')


def _spelt(node: ast.expr, text: str) -> str:
    """The device that a misspelt name most likely means."""
    number = re.search(r"\d+$", text)
    if isinstance(node, ast.JoinedStr) and "cuda{" in (joined := text_of(node)):
        return joined.replace("cuda{", "cuda:{")
    return f'"cuda:{number[0]}"' if number else '"cuda"'


def _modern(about: Suspect) -> str:
    """`torch.tensor` of data and `torch.empty` of sizes, in place of `torch.Tensor`."""
    node = about.scene.place.node
    if not isinstance(node, ast.Call) or about.scene.place.statement is None:
        return "torch.tensor(data, device=device)"
    made = copy.deepcopy(node)
    first = value(node.args[0], about.scene.place) if node.args else MISSING
    made.func = ast.parse("torch.empty" if type(first) is int else "torch.tensor", mode="eval").body
    return in_line(about, text_of(made), of=text_of(node))
