import torch
import torch.nn as nn
import torch.nn.functional as F
from engine.core import LitModule


class LitCounter(LitModule):
    """Counts the ones in a sequence with a GRU."""

    def __init__(self, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, hidden):
        out, _ = self.gru(x, hidden)
        return self.head(out[:, -1]).squeeze(1)

    def shared_step(self, batch):
        x, y = batch
        hidden = torch.zeros(1, x.size(0), self.hidden)
        return F.mse_loss(self(x, hidden), y), len(x)

    def training_step(self, batch, batch_idx):
        return self.shared_step(batch)[0]

    def validation_step(self, batch, batch_idx):
        loss, n = self.shared_step(batch)
        return {"val_loss": loss, "n": n}

    def validation_epoch_end(self, outputs):
        total, n = torch.zeros(1), 0
        for out in outputs:
            total += out["val_loss"] * out["n"]
            n += out["n"]
        print(f"val_loss {total.item() / n:.5f} over {n}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)
