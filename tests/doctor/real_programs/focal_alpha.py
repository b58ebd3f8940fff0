# culprit: self.alpha
# cause: loss_weight_not_moved | unregistered_tensor_attribute | index_on_wrong_device
import torch
import torch.nn.functional as F
from torch import nn


class FocalLoss(nn.Module):
    def __init__(self, alpha=None, gamma=2.0, reduction="mean"):
        super().__init__()
        self.alpha = torch.tensor(alpha) if alpha is not None else None
        self.gamma, self.reduction = gamma, reduction

    def forward(self, inputs, targets):
        log_p = F.log_softmax(inputs, dim=-1)
        ce = F.nll_loss(log_p, targets, reduction="none")
        p_t = torch.exp(-ce)
        loss = (1 - p_t) ** self.gamma * ce
        if self.alpha is not None:
            loss = self.alpha[targets] * loss
        return loss.mean() if self.reduction == "mean" else loss.sum()


def train_one_epoch(model, criterion, loader, optimizer, device):
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()


def main():
    device = torch.device("cuda")
    model = nn.Sequential(nn.Flatten(), nn.Linear(48, 3)).to(device)
    criterion = FocalLoss(alpha=[0.2, 0.3, 0.5]).to(device)
    loader = [(torch.rand(4, 3, 4, 4), torch.randint(0, 3, (4,))) for _ in range(2)]
    train_one_epoch(model, criterion, loader, torch.optim.Adam(model.parameters()), device)
