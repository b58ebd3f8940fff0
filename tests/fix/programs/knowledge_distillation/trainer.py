import torch
import torch.nn as nn
import torch.nn.functional as F


class BaseTrainer:
    def __init__(self, model, lr):
        self.device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def step(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class DistillTrainer(BaseTrainer):
    def __init__(self, student, teacher, class_weights, lr=5e-3, T=3.0, alpha=0.6):
        super().__init__(student, lr)
        self.teacher = teacher.eval()
        self.T, self.alpha = T, alpha
        self.hard = nn.CrossEntropyLoss(weight=class_weights)
        self.maps = {"student": torch.zeros(3, 3), "teacher": torch.zeros(3, 3)}
        student.conv2.register_forward_hook(self.save_map("student"))
        teacher.conv2.register_forward_hook(self.save_map("teacher"))

    def save_map(self, name):
        def hook(module, inputs, output):
            self.maps[name].mul_(0.9).add_(output.detach().pow(2).mean(dim=(0, 1)), alpha=0.1)

        return hook

    def fit(self, batches):
        total = 0.0
        for x, y in batches:
            x, y = x.to(self.device), y.to(self.device)
            with torch.no_grad():
                soft = F.softmax(self.teacher(x) / self.T, dim=1)
            logits = self.model(x)
            kd = F.kl_div(F.log_softmax(logits / self.T, dim=1), soft, reduction="batchmean") * self.T**2
            loss = self.alpha * kd + (1 - self.alpha) * self.hard(logits, y)
            self.step(loss)
            total += loss.item()
        return total / len(batches)
