import torch
import torch.nn as nn
from ssd.detect import detect
from ssd.multibox import MultiBoxLoss

torch.manual_seed(6)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
steps = (torch.arange(4) + 0.5) / 4
priors = torch.tensor([[x, y, s, s] for y in steps for x in steps for s in (0.25, 0.5)])
net = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 12, 3, stride=2, padding=1)).to(device)
criterion = MultiBoxLoss(priors).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)


def predict(images):
    out = net(images).permute(0, 2, 3, 1).reshape(images.size(0), -1, 6)
    return out[..., :4], out[..., 4:]


for step in range(1, 25):
    images, targets = 0.1 * torch.randn(4, 1, 16, 16), []
    for i in range(4):
        x, y = torch.randint(0, 10, (2,)).tolist()
        images[i, 0, y : y + 6, x : x + 6] += 1
        targets.append(torch.tensor([[x / 16, y / 16, (x + 6) / 16, (y + 6) / 16, 0.0]]).to(device))
    loss_l, loss_c = criterion(*predict(images.to(device)), targets)
    optimizer.zero_grad()
    (loss_l + loss_c).backward()
    optimizer.step()
    if step % 8 == 0:
        print(f"iter {step} loc {loss_l.item():.4f} conf {loss_c.item():.4f}")
found = detect(*predict(images.to(device)), priors.to(device))
print("scores", [round(v, 3) for v in found[..., 0].flatten().tolist()], f"boxes {found[..., 1:].mean().item():.4f}")
