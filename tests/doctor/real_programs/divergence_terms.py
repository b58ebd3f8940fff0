# culprit: terms
# cause: tensor_created_in_forward_without_device
import functools
import operator

import torch


def divergence(mean, variance, other_mean, other_variance, exact=True):
    terms = []
    terms.append((variance / other_variance).sum(-1))
    terms.append(((other_mean - mean) ** 2 / other_variance).sum(-1))
    if exact:
        terms.append(-torch.as_tensor(data=[mean.shape[-1]]))
    terms.extend((other_variance.log().sum(-1), -variance.log().sum(-1)))
    return 0.5 * functools.reduce(operator.add, terms)


def main():
    values = [torch.rand(5, 3) + 0.5 for _ in range(4)]
    result = divergence(*[tensor.to("cuda") for tensor in values])
    assert result.is_cuda and torch.allclose(result.cpu(), divergence(*values), atol=1e-5)
