import torch
import torch.nn as nn
from moco.builder import MoCo
from torch.utils.data import DataLoader, TensorDataset


def encoder(dim):
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, dim))


class TwoCrops:
    def __call__(self, x):
        return x + 0.1 * torch.randn_like(x), x * (torch.rand(x.size(0), 1) + 0.5)


@torch.no_grad()
def knn_accuracy(net, memory_loader, test_loader, device, k=5):
    net.eval()
    bank, bank_labels = [], []
    for x, y in memory_loader:
        bank.append(net(x.to(device)))
        bank_labels.append(y)
    bank, bank_labels = torch.cat(bank), torch.cat(bank_labels)
    correct, total = 0, 0
    for x, y in test_loader:
        x, y = x.to(device), y.to(device)
        _, idx = torch.cdist(net(x), bank).topk(k, largest=False)
        votes = torch.gather(bank_labels.expand(x.size(0), -1), 1, idx)
        pred = votes.mode(dim=1).values
        correct += (pred == y).sum().item()
        total += y.numel()
    return correct / total


def main():
    torch.manual_seed(0)
    gpu = 0 if torch.cuda.is_available() else None
    device = torch.device("cpu" if gpu is None else f"cuda:{gpu}")
    centers = torch.randn(5, 16)
    y = torch.randint(0, 5, (160,))
    x = centers[y] + 0.5 * torch.randn(160, 16)
    train_loader = DataLoader(TensorDataset(x[:128], y[:128]), batch_size=16, shuffle=True, drop_last=True)
    test_loader = DataLoader(TensorDataset(x[128:], y[128:]), batch_size=16)
    model = MoCo(encoder).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.05, momentum=0.9)
    crops = TwoCrops()
    for epoch in range(3):
        losses = []
        for images, _ in train_loader:
            im_q, im_k = crops(images)
            output, target = model(im_q.to(device), im_k.to(device))
            loss = criterion(output, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        acc = knn_accuracy(model.encoder_q, train_loader, test_loader, device)
        print(f"Epoch {epoch} loss {sum(losses) / len(losses):.4f} kNN {acc:.4f} queue {model.queue.sum().item():.4f}")


if __name__ == "__main__":
    main()
