import torch
import torch.nn as nn


class DeviceMixin:
    @property
    def device(self):
        return next(self.parameters()).device


class LitModule(DeviceMixin, nn.Module):
    def configure_optimizers(self):
        raise NotImplementedError


def transfer_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {k: transfer_batch(v, device) for k, v in batch.items()}
    return batch


class Engine:
    def __init__(self, max_epochs, accelerator="auto", grad_clip=1.0):
        gpu = accelerator == "gpu" or (accelerator == "auto" and torch.cuda.is_available())
        self.root_device = torch.device("cuda", 0) if gpu else torch.device("cpu")
        self.max_epochs, self.grad_clip = max_epochs, grad_clip

    def clip(self, module):
        grads = [p.grad for p in module.parameters() if p.grad is not None]
        norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
        if norm > self.grad_clip:
            for g in grads:
                g.mul_(self.grad_clip / norm)

    def fit(self, module, train_batches, val_batches):
        module.to(self.root_device)
        optimizer = module.configure_optimizers()
        for _ in range(self.max_epochs):
            module.train()
            for i, batch in enumerate(train_batches):
                loss = module.training_step(transfer_batch(batch, self.root_device), i)
                optimizer.zero_grad()
                loss.backward()
                self.clip(module)
                optimizer.step()
            module.eval()
            with torch.no_grad():
                outputs = [module.validation_step(transfer_batch(b, self.root_device), i) for i, b in enumerate(val_batches)]
            module.validation_epoch_end(outputs)
