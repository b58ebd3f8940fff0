# culprit: self.logit_scale | self.logit_scale.exp()
# cause: model_not_moved
import torch
from torch import nn
import torch.nn.functional as F


class ContrastiveLoss(nn.Module):
    def __init__(self, init=2.6):
        super().__init__()
        self.logit_scale = nn.Parameter(torch.tensor([init]))

    def forward(self, img, txt):
        logits = self.logit_scale.exp() * (F.normalize(img, dim=-1) @ F.normalize(txt, dim=-1).t())
        labels = torch.arange(len(img), device=img.device)
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(12, 8)
        self.text = nn.EmbeddingBag(50, 8)

    def forward(self, image, text):
        return self.image(image), self.text(text)


def main():
    device = torch.device("cuda")
    model = TwoTower().to(device)
    criterion = ContrastiveLoss()
    opt = torch.optim.AdamW([*model.parameters(), *criterion.parameters()], lr=1e-3)
    for _ in range(2):
        image = torch.randn(6, 12, device=device)
        text = torch.randint(0, 50, (6, 5), device=device)
        loss = criterion(*model(image, text))
        opt.zero_grad()
        loss.backward()
        opt.step()
