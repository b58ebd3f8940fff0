# culprit: self.projector.weight | self.projector
# cause: model_not_moved
import torch
from torch import nn
import torch.nn.functional as F


class FeatureDistillLoss(nn.Module):
    def __init__(self, student_dim, teacher_dim, temperature=2.0):
        super().__init__()
        self.projector = nn.Linear(student_dim, teacher_dim)
        self.temperature = temperature

    def forward(self, student, teacher):
        s_logits, s_hidden = student
        t_logits, t_hidden = teacher
        soft = F.kl_div(F.log_softmax(s_logits / self.temperature, -1),
                        F.softmax(t_logits / self.temperature, -1), reduction="batchmean")
        hint = F.mse_loss(self.projector(s_hidden), t_hidden)
        return soft + hint


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, dim), nn.GELU())
        self.head = nn.Linear(dim, 5)

    def forward(self, x):
        hidden = self.body(x)
        return self.head(hidden), hidden


def main():
    device = torch.device("cuda:1")
    teacher = Encoder(32).to(device).eval().requires_grad_(False)
    student = Encoder(8).to(device)
    criterion = FeatureDistillLoss(8, 32)
    params = list(student.parameters()) + list(criterion.parameters())
    optimizer = torch.optim.AdamW(params, lr=3e-4)
    for _ in range(2):
        x = torch.randn(6, 10, device=device)
        loss = criterion(student(x), teacher(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
