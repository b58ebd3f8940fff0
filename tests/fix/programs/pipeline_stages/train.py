import torch
import torch.nn.functional as F
from model import TwoStageNet

torch.manual_seed(42)
if torch.cuda.device_count() > 1:
    dev0, dev1 = torch.device("cuda:0"), torch.device("cuda:1")
else:
    dev0 = dev1 = torch.device("cpu")

x = torch.randn(120, 10)
labels = (x[:, :5].sum(1) > 0).long() + (x[:, 5:].sum(1) > 0).long()
net = TwoStageNet(10, 16, 3, dev0, dev1)
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)

step = 0
for epoch in range(3):
    for xb, yb in zip(x.split(30), labels.split(30)):
        xb, yb = xb.to(dev0), yb.to(dev0)
        out = net(xb)
        loss = F.cross_entropy(out, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        step += 1
    with torch.no_grad():
        pred = net(x.to(dev0)).argmax(dim=1)
    correct = (pred.cpu() == labels).sum().item()
    print(f"step {step} lr {scheduler.get_last_lr()[0]:.6f} loss {loss.item():.5f} correct {correct}")
