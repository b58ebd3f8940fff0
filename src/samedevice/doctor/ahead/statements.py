"""Statements of a function, read one after another as far as they can run."""

import ast
from dataclasses import replace

from samedevice.doctor.ahead.calls import Calls
from samedevice.doctor.ahead.seen import UNKNOWN, Place, Root, Seen, joined, of_live
from samedevice.introspect import objects

_ASK_FOR_A_DEVICE = ("device", "is_cuda", "is_available", "cuda", "cpu", "get_device")


class Statements(Calls):
    """Reads the statements of functions."""

    def run_body(self, body: list[ast.stmt], place: Place) -> bool:
        """Read statements in their order; tell whether the last one that runs leaves them."""
        return any(self.run_one(statement, place) for statement in body)

    def run_one(self, statement: ast.stmt, place: Place) -> bool:
        """Read one statement; tell whether it leaves those around it."""
        self.step()
        self.statement = statement
        match statement:
            case ast.Assign(targets=targets, value=value):
                seen = _named(self.read(value, place), statement, place)
                for target in targets:
                    self._give(target, seen, value, place)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._give(target, self.read(value, place), value, place)
            case ast.AugAssign(target=target, value=value):
                self._augment(statement, place)
            case ast.Return(value=value):
                place.returned.append(self.read(value, place))
                return True
            case ast.Raise() | ast.Continue() | ast.Break():
                return True
            case ast.Expr(value=value) | ast.Assert(test=value):
                self.read(value, place)
            case ast.If():
                return self._branches(statement, place)
            case ast.For() | ast.While():
                return self._loop(statement, place)
            case ast.With(items=items, body=body):
                for item in items:
                    self.read(item.context_expr, place)
                    if item.optional_vars is not None:
                        self.assign(item.optional_vars, UNKNOWN, place)
                return self.run_body(body, place)
            case ast.Try(body=body, orelse=orelse, finalbody=finalbody):
                is_left = self.run_body([*body, *orelse], place)
                return self.run_body(finalbody, place) or is_left
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                place.env[name] = UNKNOWN
        return False

    def _loop(self, statement: ast.For | ast.While, place: Place) -> bool:
        """Read the body of a loop once, for the first item."""
        if isinstance(statement, ast.For):
            over = statement.iter
            seen = self.read(over, place)
            self.assign(statement.target, self.an_item(seen, over, place), place)
            self.run_body(statement.body, place)
            self.run_for_other_layers(statement, seen, place)
        else:
            self.read(statement.test, place)
            self.run_body(statement.body, place)
        return self.run_body(statement.orelse, place)

    def run_for_other_layers(self, loop: ast.For, over: Seen, place: Place) -> None:
        """Read the body of a loop over modules once for each further class of them, as each computes otherwise."""
        items = objects.items(over.value) or [*objects.attributes(over.value).get("_modules", {}).items()]
        modules = [module for _, module in items if objects.is_module(module)]
        before = place.env.get(loop.target.id) if isinstance(loop.target, ast.Name) else None
        read = type(before.value) if before is not None else type(modules[0]) if modules else None
        kinds = {type(module): module for module in reversed(modules) if type(module) is not read}
        for module in reversed(kinds.values()) if isinstance(loop.target, ast.Name) else ():
            self.assign(loop.target, Seen(module), place)
            self.run_body(loop.body, place)

    def _give(self, target: ast.expr, seen: Seen, value: ast.expr, place: Place) -> None:
        """Assign; at an index of a tensor, the new value meets the tensor."""
        if isinstance(target, ast.Subscript):
            base, key = self.read(target.value, place), self.read(target.slice, place)
            if base.device:
                operands = [(target.value, base), (value, seen)]
                self.found.meet(
                    [*operands, (target.slice, key)] if key.device == self.found.wanted else operands,
                    self.statement,
                    place,
                )
                return
        self.assign(target, seen, place)

    def _augment(self, statement: ast.AugAssign, place: Place) -> None:
        target = statement.target
        before, new = self.read(target, place), self.read(statement.value, place)
        if before.items is not None or new.items is not None:
            items = (*(before.items or ()), *(new.items or ()))
            self.assign(target, Seen(items=items, is_list=before.is_list), place)
            return
        # What is written to must be where the result is, even if it is one number.
        before = replace(before, may_be_number=False)
        result = self.found.meet([(target, before), (statement.value, new)], statement, place)
        if not isinstance(target, ast.Subscript):
            self.assign(target, result, place)

    def _branches(self, statement: ast.If, place: Place) -> bool:
        """Read both branches, or the one that runs; what they make different of a name is not known after them."""
        test = self.read(statement.test, place)
        held = self.holds(statement.test, test, place)
        if held is not None:
            return self.run_body(statement.body if held else statement.orelse, place)
        was_sure, asks = self.found.is_sure, _asks_for_a_device(statement.test)
        self.found.is_sure = was_sure and not asks
        before = dict(place.env)
        is_left = self.run_body(statement.body, place)
        after, place.env = place.env, before
        other_is_left = self.run_body(statement.orelse, place)
        self.found.is_sure = was_sure
        if other_is_left:
            place.env = after
        elif not is_left:
            names = {*after, *place.env}
            place.env = {name: _both(name, after, place) for name in names}
        return is_left and other_is_left


def _both(name: str, one: dict[str, Seen], place: Place) -> Seen:
    """Return what is known of a name after two branches; what one of them alone has is read after that one."""
    found = [env[name] for env in (one, place.env) if name in env]
    if len(found) == 1 and name in place.locals:
        found.append(of_live(place.locals[name], ast.Name(name, ast.Load()), place))
    return joined(found[0], found[-1])


def _named(seen: Seen, statement: ast.Assign, place: Place) -> Seen:
    """Note which statement gave what was just created, moved or returned to a name."""
    match statement.targets:
        case [ast.Name(id=name)]:
            roots = tuple(
                replace(root, statement=statement, name=name) if _is_new(root, place) else root for root in seen.roots
            )
            return replace(seen, roots=roots)
    return seen


def _is_new(root: Root, place: Place) -> bool:
    return root.tensor is None and root.statement is None and root.place is place


def _asks_for_a_device(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr in _ASK_FOR_A_DEVICE for node in ast.walk(test))
