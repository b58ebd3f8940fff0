import torch
import torch.nn as nn
from kalman import KalmanFilter
from tracker import Tracker

torch.manual_seed(9)
device = "cuda:0" if torch.cuda.is_available() else "cpu"
detector = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 4)).to(device)
optimizer = torch.optim.Adam(detector.parameters(), lr=1e-2)

for step in range(1, 101):  # the detector learns to decode a position and how sure it is
    truth = 4 * torch.rand(64, 2).to(device)
    seen = torch.cat([truth, truth.sum(1, keepdim=True)], dim=1) + 0.05 * torch.randn(64, 3, device=device)
    mean, log_var = detector(seen).chunk(2, dim=1)
    loss = (0.5 * (log_var + (truth - mean) ** 2 / log_var.exp())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.4f}")

tracker = Tracker(KalmanFilter(device=device))
start = torch.tensor([[0.5, 0.5], [3.0, 1.0]])
speed = torch.tensor([[0.2, 0.1], [-0.1, 0.2]])
for frame in range(8):
    positions = start + frame * speed if frame != 4 else (start + frame * speed)[:1]
    with torch.no_grad():
        mean, log_var = detector(torch.cat([positions, positions.sum(1, keepdim=True)], dim=1).to(device)).chunk(2, dim=1)
    tracker.step(mean, log_var.exp().clamp(1e-3, 1.0))
for track in tracker.tracks:
    print(f"track {track.number} hits {track.hits} at", [round(v, 3) for v in track.mean.tolist()], f"trace {torch.trace(track.cov).item():.4f}")
