# culprit: idx | x
# cause: input_not_moved
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GPT(nn.Module):
    def __init__(self, vocab=20, n=16):
        super().__init__()
        self.transformer = nn.ModuleDict(
            dict(wte=nn.Embedding(vocab, n), wpe=nn.Embedding(32, n), ln_f=nn.LayerNorm(n))
        )
        self.lm_head = nn.Linear(n, vocab)

    def forward(self, idx, targets=None):
        device = idx.device
        b, t = idx.size()
        pos = torch.arange(0, t, dtype=torch.long, device=device).unsqueeze(0)
        tok_emb = self.transformer.wte(idx)
        pos_emb = self.transformer.wpe(pos)
        x = self.transformer.ln_f(tok_emb + pos_emb)
        logits = self.lm_head(x)
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


class Trainer:
    def __init__(self, model, dataset):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = model.to(self.device)
        self.dataset = dataset

    def run(self):
        loader = DataLoader(self.dataset, batch_size=4)
        data_iter = iter(loader)
        for _ in range(2):
            batch = next(data_iter)
            x, y = batch
            logits, self.loss = self.model(x, y)
            self.loss.backward()


def main():
    data = TensorDataset(torch.randint(0, 20, (8, 6)), torch.randint(0, 20, (8, 6)))
    Trainer(GPT(), data).run()
