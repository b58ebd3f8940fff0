import numpy as np
import torch
import torch.nn.functional as F
from model import PointNet2

rng = np.random.RandomState(0)


def rotate_point_cloud(points):
    angle = rng.uniform() * 2 * np.pi
    c, s = np.cos(angle), np.sin(angle)
    rotation = torch.tensor([[c, s, 0], [-s, c, 0], [0, 0, 1]], dtype=torch.float32)
    return points @ rotation


def shapes(n, k=24):
    label = rng.randint(0, 3, n)
    stretch = np.array([[1, 1, 1], [1, 1, 0.1], [0.2, 0.2, 1.5]])[label]
    points = rng.randn(n, k, 3)
    points = points / np.linalg.norm(points, axis=2, keepdims=True) * stretch[:, None]
    return torch.from_numpy(points.astype(np.float32)), torch.from_numpy(label)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
classifier = PointNet2().to(device)
optimizer = torch.optim.Adam(classifier.parameters(), lr=1e-2)
for step in range(1, 21):
    points, target = shapes(16)
    points, target = points.to(device), target.to(device)
    if step > 5:
        points = rotate_point_cloud(points)
    loss = F.cross_entropy(classifier(points), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.4f}")
with torch.no_grad():
    points, target = shapes(60)
    pred = classifier(points.to(device)).argmax(dim=1)
print("instances right:", int((pred.cpu() == target).sum()), "of 60")
