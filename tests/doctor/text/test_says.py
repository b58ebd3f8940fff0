"""A sentence speaks of what the reader's line has: of a layer, not of the arguments that PyTorch passes inside it."""

import pytest
import torch
from torch import nn

from samedevice import explain, simulate_cuda

LAYERS = {
    "linear": (nn.Linear(8, 4), torch.ones(2, 8)),
    "embedding": (nn.Embedding(9, 4), torch.zeros(3, dtype=torch.long)),
    "bag of embeddings": (nn.EmbeddingBag(9, 4), torch.zeros(2, 3, dtype=torch.long)),
    "norm": (nn.LayerNorm(8), torch.ones(2, 8)),
    "batch norm": (nn.BatchNorm1d(8), torch.ones(2, 8)),
    "prelu": (nn.PReLU(), torch.ones(2, 8)),
    "attention": (nn.TransformerEncoderLayer(8, 2), torch.ones(2, 3, 8)),
    "no bias": (nn.Linear(8, 4, bias=False), torch.ones(2, 8)),
}
TEXT = (
    "RuntimeError: Expected all tensors to be on the same device, but got {} is on {}, different from other tensors on "
    "{} (when checking argument in method wrapper_CUDA_{})"
)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("moved", ["layer", "input"])
def test_of_a_layer_no_argument_is_mentioned_that_its_reader_does_not_see(name, moved):
    layer, x = LAYERS[name]
    with simulate_cuda():
        model, x = (layer.to("cuda"), x) if moved == "layer" else (layer.to("cpu"), x.to("cuda"))
        with pytest.raises(RuntimeError) as raised:
            model(x)
        diagnosis = explain(raised.value)
        layer.to("cpu")
    assert "the arguments before it" not in diagnosis.says
    assert ("layer" in diagnosis.says) or ("embedding" in diagnosis.says) or ("first one" in diagnosis.says)
    assert diagnosis.culprits


@pytest.mark.parametrize(
    ("read", "says"),
    [
        ("mat1 cpu cuda:0 addmm", "In a linear layer, `mat1` is the input. It is on cpu, but the layer's bias is on"),
        ("mat2 cpu cuda:0 addmm", "In a linear layer, `mat2` is the weight. It is on cpu, but the layer's input and"),
        ("mat2 cpu cuda:0 mm", "A matrix product got its second factor (`mat2`) on cpu, but the first one is on"),
        ("index cpu cuda:0 _index_select", "In an embedding, `index` holds the ids to look up. It is on cpu, but the"),
        ("weight cpu cuda:0 _native_layer_norm", "The layer's `weight` is on cpu, but its input is on cuda:0."),
        ("target cpu cuda:0 nll_loss_forward", "`nll_loss_forward` got its argument `target` on cpu, but the argume"),
    ],
)
def test_what_a_layer_passes_on_is_said_in_its_terms(read, says):
    assert explain(TEXT.format(*read.split())).says.startswith(says)


@pytest.mark.parametrize("line", ["y = torch.addmm(b, x, w)", "b.addmm_(x, w)", "torch.addmm (b, x, w)"])
def test_where_the_line_calls_the_operation_its_arguments_are_the_readers_own(line):
    error = TEXT.format("mat1", "cpu", "cuda:0", "addmm")
    diagnosis = explain(f'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    {line}\n{error}')
    assert diagnosis.says == "`addmm` got its argument `mat1` on cpu, but the arguments before it are on cuda:0."


def test_a_line_that_calls_another_function_of_such_a_name_does_not_count():
    error = TEXT.format("mat1", "cpu", "cuda:0", "addmm")
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    y = my_addmm(x)\n'
    assert explain(trace + error).says.startswith("In a linear layer, ")


PACKAGES = "/env/lib/python3.12/site-packages"
GRAPH = f"""Traceback (most recent call last):
  File "gnn.py", line 18, in forward
    x = self.conv1(x, edges)
  File "{PACKAGES}/torch_geometric/nn/conv/message_passing.py", line 271, in _lift
    return src.index_select(self.node_dim, index)
"""
EMBEDDING = f"""Traceback (most recent call last):
  File "{PACKAGES}/transformers/models/bert/modeling_bert.py", line 179, in forward
    return self.word_embeddings(input_ids)
  File "{PACKAGES}/torch/nn/functional.py", line 2542, in embedding
    return torch.embedding(weight, input, padding_idx)
"""


def test_where_the_line_of_a_package_calls_the_operation_no_layer_is_spoken_of():
    error = TEXT.format("index", "cpu", "cuda:0", "_index_select")
    says = "`index_select` got its argument `index` on cpu, but the arguments before it are on cuda:0."
    assert explain(GRAPH + error).says == says
    assert explain(EMBEDDING + error).says.startswith("In an embedding, ")
