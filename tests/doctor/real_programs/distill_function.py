# culprit: proj.weight | proj
# cause: model_not_moved
import torch
from torch import nn
import torch.nn.functional as F


def distill(teacher, student, batches, device):
    proj = nn.Linear(3, 5)
    criterion = nn.CrossEntropyLoss(weight=torch.ones(5))
    student = student.to(device)
    optimizer = torch.optim.SGD([*student.parameters(), *proj.parameters()], lr=0.1)
    for x, y in batches:
        x, y = x.to(device), y.to(device)
        hidden = student(x)
        logits = proj(hidden)
        with torch.no_grad():
            soft = teacher(x)
        loss = criterion(logits, y) + F.mse_loss(logits, soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss


def main():
    device = torch.device("cuda")
    batches = [(torch.randn(4, 6), torch.randint(0, 5, (4,))) for _ in range(2)]
    assert distill(nn.Linear(6, 5), nn.Linear(6, 3), batches, device).is_cuda
