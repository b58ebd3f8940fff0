# culprit: soft_targets | teacher_logits
# cause: split_model_activation_not_moved
import torch
import torch.nn.functional as F
from torch import nn


class DistillTrainer:
    def __init__(self, student, teacher, T=4.0, alpha=0.7):
        self.student = student.to("cuda:0")
        self.teacher = teacher.to("cuda:1").eval()  # does not fit next to the student
        self.T, self.alpha = T, alpha
        self.optimizer = torch.optim.AdamW(self.student.parameters(), lr=1e-3)

    def compute_loss(self, input_ids, labels):
        student_logits = self.student(input_ids.to("cuda:0"))
        with torch.no_grad():
            teacher_logits = self.teacher(input_ids.to("cuda:1"))
        soft_targets = F.softmax(teacher_logits / self.T, dim=-1)
        kd = F.kl_div(F.log_softmax(student_logits / self.T, dim=-1), soft_targets, reduction="batchmean") * self.T**2
        ce = F.cross_entropy(student_logits, labels.to("cuda:0"))
        return self.alpha * kd + (1 - self.alpha) * ce

    def train(self, batches):
        for batch in batches:
            loss = self.compute_loss(**batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def make_classifier(width):
    return nn.Sequential(nn.EmbeddingBag(60, width), nn.ReLU(), nn.Linear(width, 4))


def main():
    batches = [{"input_ids": torch.randint(0, 60, (4, 6)), "labels": torch.randint(0, 4, (4,))} for _ in range(2)]
    DistillTrainer(make_classifier(8), make_classifier(32)).train(batches)
