import torch
import torch.nn as nn
from losses import DeepSupervisionLoss, dice_score, one_hot
from mixup import mixup

CLASSES = 3


class PyramidNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.down = nn.Conv2d(width, width, 3, padding=1, stride=2)
        self.head1, self.head2 = nn.Conv2d(width, CLASSES, 1), nn.Conv2d(width, CLASSES, 1)

    def forward(self, x):
        a = self.stem(x).relu()
        return self.head1(a), self.head2(self.down(a).relu())


def sample(n, size=8):
    x = torch.randn(n, 1, size, size)
    return x, (x[:, 0] > 0).long() + (x[:, 0] > 1).long()


def main():
    torch.manual_seed(3)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = PyramidNet().to(device)
    criterion = DeepSupervisionLoss(CLASSES)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-2)
    for epoch in range(3):
        net.train()
        for _ in range(6):
            images, masks = (t.to(device) for t in sample(8))
            mixed, mask_a, mask_b, lam = mixup(images, masks)
            loss = criterion(net(mixed), mask_a, mask_b, lam)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        net.eval()
        dice = torch.zeros(CLASSES)
        with torch.no_grad():
            for _ in range(2):
                images, masks = (t.to(device) for t in sample(8))
                dice += dice_score(net(images)[0].softmax(1), one_hot(masks, CLASSES)).mean(dim=0) / 2
        print(f"epoch {epoch} loss {loss.item():.4f} dice {[round(d, 4) for d in dice.tolist()]}")


if __name__ == "__main__":
    main()
