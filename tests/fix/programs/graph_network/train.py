import torch
import torch.nn.functional as F
from data import random_graph, subgraph
from layers import GCNConv


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = GCNConv(8, 16), GCNConv(16, 3)

    def forward(self, x, edge_index):
        x = F.relu(self.conv1(x, edge_index))
        x = F.dropout(x, 0.3, training=self.training)
        return self.conv2(x, edge_index)


def main():
    torch.manual_seed(12345)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = random_graph().to(device)
    model = Net().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    for epoch in range(1, 31):
        model.train()
        out = model(data.x, data.edge_index)
        per_node = F.cross_entropy(out, data.y, reduction="none")
        loss = (per_node * data.train_mask).sum() / data.train_mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 10 == 0:
            model.eval()
            pred = model(data.x, data.edge_index).argmax(dim=1)
            acc = (pred[~data.train_mask] == data.y[~data.train_mask]).float().mean().item()
            print(f"Epoch: {epoch:03d}, Loss: {loss.item():.4f}, Val: {acc:.4f}")
    nodes = (pred == data.y).nonzero().view(-1)
    kept = subgraph(nodes, data.edge_index, data.num_nodes)
    print("edges between right nodes:", kept.size(1), "checksum", int(kept.sum()))


if __name__ == "__main__":
    main()
