# culprit: row
# cause: tensor_created_in_forward_without_device
import torch


def complete(vectors, eps=1e-6):
    """Returns an orthonormal basis of the vectors, and of the rest of the space."""
    basis = []
    for row in vectors:
        for other in basis:
            row = row - torch.dot(row, other) * other
        if row.norm() > eps:
            basis.append(row / row.norm())
    rest = []
    for row in torch.eye(vectors.shape[1]):
        for other in basis + rest:
            row -= torch.dot(row, other) * other
        if row.norm() > eps:
            rest.append(row / row.norm())
    return torch.stack(basis), torch.stack(rest)


def main():
    vectors = torch.randn(2, 4)
    found = complete(vectors.to("cuda"))
    assert all(one.is_cuda for one in found)
    assert all(torch.allclose(one.cpu(), other, atol=1e-4) for one, other in zip(found, complete(vectors)))
