"""Whether the result of an operator may be much larger than its tensors, by its schema alone."""

import re

import torch

from samedevice.simulation.calls import Overload

_TENSOR, _SIZE = re.compile(r"\bTensor\b"), re.compile(r"\bSymInt\b")
# Numbers of this type that are no sizes of a result.
_NO_SIZES = re.compile(r"SymInt\S* (ignore_index|normalized_shape|k|groups|group|N|C|HxW)\b")
# Operators that give what is like one of their tensors, and statistics of it: to ask the meta device of these, which
# networks are made of, may take longer than to compute them.
_LIKE_LARGEST = re.compile(
    "native_(batch|group|layer)_norm(_backward)?|convolution_backward|_unsafe_view"
    "|_scaled_dot_product_flash_attention_for_cpu(_backward)?"
)
# Pointwise, unless they are reduced; PyTorch's table says so of none.
_LOSSES = re.compile("(mse|smooth_l1|huber)_loss(_backward)?")
_EXPANDS = ("aten::expand", "aten::as_strided", "aten::unfold")


def growth(overload: Overload) -> int:
    """How an operator's result may grow.

    0: it takes no memory of its own, or PyTorch does not define it. 1: its result has at most as many elements as two
    of its tensors have multiplied. 2: it has sizes, lists or more tensors, by which its result may be larger.
    """
    schema = overload._schema
    if overload.namespace != "aten" or overload.is_view or not schema.returns:
        return 0
    resizes = "resize" in schema.name or any(argument.is_out for argument in schema.arguments)
    if not resizes and all(result.alias_info is not None for result in schema.returns):
        return 0  # it works in place
    takes = str(schema).partition(" -> ")[0].partition("(")[2]
    each_by_itself = schema.name.startswith("aten::_foreach_")
    has_list = ("Tensor[]" in takes or "Tensor?[]" in takes) and not each_by_itself
    has_sizes = bool(_SIZE.search(_NO_SIZES.sub("", takes)))
    meets_many = len(_TENSOR.findall(takes)) > 2 and torch.Tag.pointwise in overload.tags
    return 2 if has_list or has_sizes or meets_many or resizes else 1


def expands(overload: Overload) -> bool:
    """Whether an operator makes views that may have more elements than their memory."""
    return overload._schema.name in _EXPANDS


def by_shapes(overload: Overload) -> str:
    """How the size of a result follows from what an operator is given; "" where only its meta kernel tells.

    "pointwise": from the shapes of its tensors, which are broadcast. "product": from the two matrices that are its last
    arguments by position. "largest": no result has more elements than the largest tensor. "joined": it has those of a
    list together. "convolution", "sizes": from the arguments of a convolution, and from the sizes that come second.
    """
    name = overload._schema.name.removeprefix("aten::")
    if name in ("mm", "bmm", "addmm", "baddbmm"):
        return "product"
    if _LIKE_LARGEST.fullmatch(name):
        return "largest"
    if name in ("cat", "stack"):
        return "joined"
    if name in ("convolution", "select_backward", "slice_backward"):
        return "convolution" if name == "convolution" else "sizes"
    return "pointwise" if torch.Tag.pointwise in overload.tags or _LOSSES.fullmatch(name) else ""
