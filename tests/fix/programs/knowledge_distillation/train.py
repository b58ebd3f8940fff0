import torch
import torch.nn.functional as F
from models import ConvNet
from trainer import BaseTrainer, DistillTrainer


def make_batches(n, size=16):
    out = []
    for _ in range(n):
        x = torch.randn(size, 1, 6, 6)
        y = (x[:, 0, :3].mean(dim=(1, 2)) > 0).long() * 2 + (x[:, 0, 3:].mean(dim=(1, 2)) > 0).long()
        out.append((x, y))
    return out


def main():
    torch.manual_seed(4)
    batches = make_batches(12)
    pre = BaseTrainer(ConvNet(12), lr=5e-3)
    for x, y in batches:
        pre.step(F.cross_entropy(pre.model(x.to(pre.device)), y.to(pre.device)))
    teacher = ConvNet(12)
    teacher.load_state_dict(pre.model.state_dict())
    counts = torch.bincount(torch.cat([y for _, y in batches]), minlength=4)
    kd = DistillTrainer(ConvNet(4), teacher, class_weights=counts.sum() / (4.0 * counts))
    for epoch in range(3):
        print(f"epoch {epoch} loss {kd.fit(batches):.4f}")
    x, y = make_batches(1, 40)[0]
    with torch.no_grad():
        probs = torch.zeros(40, 4)
        for net in (kd.model, kd.teacher):
            probs += F.softmax(net(x.to(kd.device)), dim=1) / 2
    print("correct", (probs.argmax(1).cpu() == y).sum().item(), "maps", [round(m.sum().item(), 4) for m in kd.maps.values()])


if __name__ == "__main__":
    main()
