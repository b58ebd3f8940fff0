# culprit: self.passages | ids
# cause: index_on_wrong_device
import torch
import torch.nn.functional as F
from torch import nn


class PassageStore:
    """Token ids of every passage; too large for the GPU."""

    def __init__(self, num_passages=50, length=8):
        self.passages = torch.randint(1, 99, (num_passages, length))

    def lookup(self, ids):
        return self.passages[ids]


class DualEncoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.query = nn.EmbeddingBag(100, dim)
        self.passage = nn.EmbeddingBag(100, dim)

    def encode_query(self, ids):
        return F.normalize(self.query(ids), dim=-1)

    def encode_passage(self, ids):
        return F.normalize(self.passage(ids), dim=-1)


@torch.inference_mode()
def main():
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    store = PassageStore()
    encoder = DualEncoder().to(device).eval()
    chunks = [encoder.encode_passage(c.to(device)) for c in store.passages.split(16)]
    corpus = torch.cat(chunks)
    questions = torch.randint(1, 99, (3, 5)).to(device)
    scores = encoder.encode_query(questions) @ corpus.T
    top = scores.topk(4, dim=1)
    context = store.lookup(top.indices)
    return torch.cat([questions, context.flatten(1).to(device)], dim=1)
