import torch.nn as nn


class ConvNet(nn.Module):
    def __init__(self, width, classes=4):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, stride=2)
        self.fc = nn.Linear(width * 9, classes)

    def forward(self, x):
        x = self.conv2(self.conv1(x).relu()).relu()
        return self.fc(x.flatten(1))
