import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from consistency import ConsistencyLoss
from ema import update_teacher


class Net(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU())
        self.fc = nn.Linear(24, classes)

    def forward(self, x):
        return self.fc(self.body(x))


def parse_devices(spec):
    if not torch.cuda.is_available():
        return [torch.device("cpu")] * 2
    return [torch.device("cuda", int(i)) for i in spec.split(",")]


def main():
    torch.manual_seed(5)
    student_device, teacher_device = parse_devices("0,1")
    centers = 1.2 * torch.randn(3, 6)
    y = torch.randint(0, 3, (200,))
    x = centers[y] + torch.randn(200, 6)
    student = Net().to(student_device)
    teacher = copy.deepcopy(student).to(teacher_device)
    consistency = ConsistencyLoss(teacher, 3)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
    for step in range(1, 25):
        idx = torch.randint(0, 200, (32,))
        labeled = (idx < 40).to(student_device)
        xb, yb = x[idx].to(student_device), y[idx].to(student_device)
        logits = student(xb + 0.1 * torch.randn_like(xb))
        ce = F.cross_entropy(logits, yb, reduction="none")
        loss_s = (ce * labeled).sum() / labeled.sum().clamp(min=1)
        loss_c = consistency(logits, xb, step)
        optimizer.zero_grad()
        (loss_s + loss_c).backward()
        optimizer.step()
        update_teacher(teacher, student, step)
        if step % 8 == 0:
            print(f"step {step} supervised {loss_s.item():.4f} consistency {loss_c.item():.5f}")
    teacher.eval()
    with torch.no_grad():
        pred = teacher(x.to(teacher_device)).argmax(1).cpu()
    mean = teacher.body[1].running_mean.norm().item()
    print(f"teacher accuracy {(pred == y).float().mean().item():.4f} running mean {mean:.4f} seen {int(teacher.body[1].num_batches_tracked)}")


if __name__ == "__main__":
    main()
