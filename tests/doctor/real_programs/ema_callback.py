# culprit: self.shadow[name] | shadow
# cause: cached_before_move | unregistered_tensor_attribute
import torch
from torch import nn


class Callback:
    def on_fit_start(self, trainer): ...
    def on_step_end(self, trainer): ...
    def on_fit_end(self, trainer): ...


class EMACallback(Callback):
    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def on_step_end(self, trainer):
        for name, param in trainer.model.named_parameters():
            self.shadow[name].mul_(self.decay).add_(param, alpha=1 - self.decay)

    def on_fit_end(self, trainer):
        trainer.model.load_state_dict(self.shadow, strict=False)


class Trainer:
    def __init__(self, model, callbacks=(), device="cuda", lr=1e-3):
        self.model = model.to(device)
        self.device = device
        self.callbacks = list(callbacks)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)

    def emit(self, event):
        for callback in self.callbacks:
            getattr(callback, event)(self)

    def fit(self, batches):
        self.emit("on_fit_start")
        for x, y in batches:
            x, y = x.to(self.device), y.to(self.device)
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.emit("on_step_end")
        self.emit("on_fit_end")


def main():
    model = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 1))
    ema = EMACallback(model)
    trainer = Trainer(model, callbacks=[ema])
    trainer.fit([(torch.randn(8, 5), torch.randn(8, 1)) for _ in range(3)])
