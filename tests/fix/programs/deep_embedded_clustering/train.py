import torch
import torch.nn.functional as F
from dec import DEC


def cluster_accuracy(y_true, y_pred, k):
    best = 0
    for j in range(k):
        members = y_true[y_pred == j]
        best += int(torch.bincount(members, minlength=k).max()) if len(members) else 0
    return best / len(y_true)


def pretrain(model, x, optimizer, epochs=4):
    for _ in range(epochs):
        for xb in x.split(30):
            loss = F.mse_loss(model.decoder(model.encoder(xb + 0.1 * torch.randn_like(xb))), xb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(11)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    y = torch.arange(120) % 4
    x = 2 * torch.randn(4, 10)[y] + torch.randn(120, 10)
    x = x.to(device)
    model = DEC(10, k=4).to(device)
    print(f"pretrained: {pretrain(model, x, torch.optim.Adam(model.parameters(), lr=1e-2)):.4f}")
    labels = model.init_centers(x)
    print("k-means sizes", sorted(int((labels == j).sum()) for j in range(4)))
    optimizer = torch.optim.SGD(list(model.encoder.parameters()) + [model.centers], lr=0.1)
    p = torch.zeros(120, 4)
    for epoch in range(4):
        if epoch % 2 == 0:
            with torch.no_grad():
                p.copy_(model.target_distribution(model.soft_assign(model.encoder(x))))
        total = 0.0
        for idx in torch.randperm(120).split(32):
            q = model.soft_assign(model.encoder(x[idx]))
            loss = F.kl_div(q.log(), p[idx], reduction="batchmean")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} kl {total / 4:.5f}")
    with torch.no_grad():
        pred = model.soft_assign(model.encoder(x)).argmax(dim=1).cpu()
    print(f"accuracy {cluster_accuracy(y, pred, 4):.4f} centers {model.centers.norm().item():.4f}")


if __name__ == "__main__":
    main()
