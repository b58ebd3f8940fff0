# culprit: self.v_head.weight | self.v_head
# cause: meta_device_leftover
import io
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, vocab=40, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mlp = nn.Linear(dim, dim)
        self.lm_head = nn.Linear(dim, vocab)

    def hidden(self, ids):
        return torch.tanh(self.mlp(self.embed(ids)))


class PolicyWithValue(Policy):
    def __init__(self):
        super().__init__()
        self.v_head = nn.Linear(16, 1)

    def forward(self, ids):
        h = self.hidden(ids)
        values = self.v_head(h)
        return self.lm_head(h), values.squeeze(-1)


def load_policy(file, device):
    with torch.device("meta"):
        model = PolicyWithValue()
    state = {k: v.to(device) for k, v in torch.load(file).items()}
    model.load_state_dict(state, strict=False, assign=True)
    return model


def main():
    file = io.BytesIO()
    torch.save(Policy().state_dict(), file)
    file.seek(0)
    model = load_policy(file, torch.device("cuda:0"))
    ids = torch.randint(0, 40, (2, 7), device="cuda:0")
    logits, values = model(ids)
    return logits.log_softmax(-1), values
