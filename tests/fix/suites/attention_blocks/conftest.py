import pytest
import torch


@pytest.fixture
def device():
    torch.manual_seed(0)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
