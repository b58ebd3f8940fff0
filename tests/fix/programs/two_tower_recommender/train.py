import torch
from evaluate import evaluate
from model import TwoTower
from torch.utils.data import DataLoader

N_USERS, N_ITEMS, NEG = 30, 40, 6


class Trainer:
    def __init__(self, config):
        self.config = config
        self.device = torch.device(config["device"])
        torch.manual_seed(config["seed"])
        users = torch.randint(0, N_USERS, (260,))
        items = (users + torch.randint(0, 8, (260,))) % N_ITEMS
        pairs = torch.stack([users, items], dim=1)
        self.train_pairs, self.test_pairs = pairs[:220], pairs[220:]
        popularity = torch.bincount(self.train_pairs[:, 1], minlength=N_ITEMS) + 1.0
        self.popularity = popularity / popularity.sum()
        self.model = TwoTower(N_USERS, N_ITEMS, self.popularity).to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config["lr"])

    def sample_negatives(self, batch_size):
        return torch.multinomial(self.popularity, batch_size * NEG, replacement=True).view(batch_size, NEG)

    def train_epoch(self):
        total = 0.0
        loader = DataLoader(self.train_pairs, batch_size=self.config["batch_size"], shuffle=True)
        for pairs in loader:
            users, positives = pairs.to(self.device).unbind(dim=1)
            negatives = self.sample_negatives(len(pairs))
            loss = self.model.loss(users, positives, negatives)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(pairs)
        return total / len(self.train_pairs)

    def fit(self):
        for epoch in range(self.config["epochs"]):
            loss = self.train_epoch()
            print(f"epoch {epoch} loss {loss:.5f}")
        recall, ndcg = evaluate(self.model, self.train_pairs, self.test_pairs, N_USERS, N_ITEMS)
        print(f"recall@5 {recall:.4f} ndcg@5 {ndcg:.4f}")


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    Trainer({"device": device, "seed": 2, "lr": 5e-2, "batch_size": 32, "epochs": 4}).fit()
