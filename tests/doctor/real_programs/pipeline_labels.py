# culprit: labels
# cause: target_not_moved | split_model_activation_not_moved | wrong_default_index
import torch
from torch import nn


class PipelineClassifier(nn.Module):
    def __init__(self, dim=12, n_classes=4):
        super().__init__()
        self.dev0, self.dev1 = torch.device("cuda:0"), torch.device("cuda:1")
        self.stage0 = nn.Sequential(nn.Linear(dim, 32), nn.GELU()).to(self.dev0)
        self.stage1 = nn.Sequential(nn.Linear(32, 32), nn.GELU(), nn.Linear(32, n_classes)).to(self.dev1)

    def forward(self, x, n_micro=2):
        outs = []
        for chunk in x.to(self.dev0).chunk(n_micro):
            h = self.stage0(chunk)
            outs.append(self.stage1(h.to(self.dev1)))
        return torch.cat(outs)


def train(model, loader, epochs=1):
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for images, labels in loader:
            images = images.cuda(non_blocking=True)
            labels = labels.cuda(non_blocking=True)
            logits = model(images)
            loss = criterion(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main():
    loader = [(torch.randn(6, 12), torch.randint(0, 4, (6,))) for _ in range(2)]
    train(PipelineClassifier(), loader)
