"""What a line does: each operation in which tensors can meet, with PyTorch's names for what it works on."""

import pytest

from samedevice.introspect.lines import read_line
from samedevice.introspect.operations import operations


def read(text, **options):
    """Write the operations of a line as "kind: role expression, role expression"."""
    line = read_line(text)
    return [
        f"{each.kind}: " + ", ".join(f"{role} {line.text_of(node)}".strip() for role, node in each.arguments)
        for each in operations(line, **options)
    ]


@pytest.mark.parametrize(
    ("line", "done"),
    [
        ("y = a + b", ["operator: self a, other b"]),
        ("total += loss", ["operator: self total, other loss"]),
        ("mask = a < b", ["operator: self a, other b"]),
        ("ok = a is b", []),
        ("y = a @ b", ["function: mat1 a, mat2 b"]),
        ("y = x[idx]", ["index: self x, index idx"]),
        ("y = x[0]", []),
        ("y = x[:, 0]", []),
        ("x[mask] = y", ["assignment: self x, values y"]),
        ("x[mask] += y", ["index: self x, index mask", "operator: self x[mask], other y"]),
        ("y = torch.cat([a, b], dim=1)", ["function: tensors [a, b], - 1"]),
        ("y = t.cat([a, b])", ["function: tensors [a, b]"]),
        ("y = torch.where(c, a, b)", ["function: condition c, self a, other b"]),
        ("y = a.index_select(0, i)", ["function: self a, dim 0, index i"]),
        ("y = F.linear(x, w, bias=b)", ["function: mat1 x, mat2 w, bias b"]),
        ("y = self.fc1(x)", ["layer: module self.fc1, input x"]),
        ("y = self.layers[0](x)", ["layer: module self.layers[0], input x"]),
        ("ids = model.generate(ids)", ["layer: module model, input ids", "method: model, ids"]),
        ("loss = criterion(model(x), y)", ["function: self model(x), target y", "layer: module model, input x"]),
        ("y = sum([a, b])", ["operator: other a, other b"]),
        ("y = f(*(a, b))", ["layer: module f, input a, input b"]),
        ("y = train_step(batch)", []),
        ("y = len(x)", []),
        ("summary(model, x)", []),
        ("losses.append(loss)", []),
        ("x = x.to(device)", []),
    ],
)
def test_the_operations_of_a_line(line, done):
    assert read(line) == done


def test_a_name_may_be_a_loss_where_the_frames_show_one():
    assert read("out = objective_1(p, t)", has_losses=True) == ["function: self p, target t"]
    assert read("out = self.dist(p, t)") == ["layer: module self.dist, input p, input t"]
    assert read("out = self.dist(p, t)", has_losses=True) == ["function: self p, target t"]


@pytest.mark.parametrize(
    ("line", "calls"),
    [
        ("F.mse_loss(a, b)", "function"),
        ("F.linear(a, b)", "either"),
        ("torch.add(a, b)", ""),
        ("model(x)", "module"),
        ("torch.einsum('ij,jk->ik', a, b)", "function"),
    ],
)
def test_whether_a_traceback_goes_on_below(line, calls):
    assert next(operations(read_line(line))).calls == calls


@pytest.mark.parametrize(
    ("line", "is_in_place"),
    [("a += b", True), ("a.add_(b)", True), ("x[mask] = y", True), ("a.add(b)", False), ("a + b", False)],
)
def test_what_writes_to_its_first_argument(line, is_in_place):
    assert next(operations(read_line(line))).is_in_place is is_in_place
