# Autoencoder for anomaly detection in multivariate sensor windows
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
np.random.seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# ---- data -------------------------------------------------------------------
t = np.linspace(0, 60, 600)
signals = np.stack([np.sin(t), np.cos(t), np.sin(2 * t)], axis=1) + 0.05 * np.random.randn(600, 3)
anomalous = np.zeros(600, dtype=bool)
for start in (430, 520):
    signals[start : start + 15] += np.array([0.0, 1.0, 0.5])
    anomalous[start : start + 15] = True

WINDOW = 10
windows = np.stack([signals[i : i + WINDOW] for i in range(0, 600 - WINDOW + 1, 5)]).astype(np.float32)
labels = np.array([anomalous[i : i + WINDOW].any() for i in range(0, 600 - WINDOW + 1, 5)])
split = 70
X_train = torch.from_numpy(windows[:split])
X_test, y_test = torch.from_numpy(windows[split:]), labels[split:]
train_loader = DataLoader(TensorDataset(X_train), batch_size=16, shuffle=True)
test_loader = DataLoader(TensorDataset(X_test), batch_size=16)


# ---- model ------------------------------------------------------------------
class AutoEncoder(nn.Module):
    def __init__(self, n_features=3, window=WINDOW, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(n_features * window, 16), nn.Tanh(), nn.Linear(16, latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 16), nn.Tanh(), nn.Linear(16, n_features * window))

    def forward(self, x):
        return self.decoder(self.encoder(x)).view_as(x)


model = AutoEncoder().to(device)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(8):
    model.train()
    running = 0.0
    for (batch,) in train_loader:
        batch = batch.to(device)
        recon = model(batch)
        loss = criterion(recon, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * batch.size(0)
    if epoch % 2 == 1:
        print(f"Epoch {epoch + 1}/8 loss {running / len(X_train):.5f}")

# ---- scores -----------------------------------------------------------------
feature_scale = 1.0 / X_train.reshape(-1, 3).std(dim=0)


def anomaly_scores(loader):
    model.eval()
    scores = []
    with torch.no_grad():
        for (batch,) in loader:
            error = ((model(batch) - batch) ** 2).mean(dim=1)
            scores.extend((error * feature_scale).sum(dim=1).numpy())
    return np.array(scores)


threshold = np.quantile(anomaly_scores(DataLoader(TensorDataset(X_train), batch_size=32)), 0.95)
test_scores = anomaly_scores(test_loader)
found = test_scores > threshold
tp, fp, fn = (found & y_test).sum(), (found & ~y_test).sum(), (~found & y_test).sum()
print(f"threshold {threshold:.4f} tp {tp} fp {fp} fn {fn} highest {test_scores.max():.4f}")
