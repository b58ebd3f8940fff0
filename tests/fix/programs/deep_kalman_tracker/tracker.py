import numpy as np
import torch


class Track:
    def __init__(self, number, measurement, device):
        self.number, self.hits = number, 1
        self.mean = torch.cat([measurement, torch.zeros(2, device=device)])
        self.cov = torch.eye(4) * 0.5


class Tracker:
    def __init__(self, kf, gate=2.0):
        self.kf, self.gate = kf, gate
        self.tracks, self.count = [], 0

    def _match(self, cost):
        """Greedy assignment by increasing cost."""
        cost = cost.numpy()
        pairs, rows, cols = [], set(), set()
        for flat in np.argsort(cost, axis=None):
            r, c = np.unravel_index(flat, cost.shape)
            if cost[r, c] < self.gate and r not in rows and c not in cols:
                pairs.append((int(r), int(c)))
                rows.add(r)
                cols.add(c)
        return pairs, [c for c in range(cost.shape[1]) if c not in cols]

    def step(self, detections, noise):
        for track in self.tracks:
            track.mean, track.cov = self.kf.predict(track.mean, track.cov)
        unmatched = range(len(detections))
        if self.tracks:
            positions = torch.stack([t.mean[:2] for t in self.tracks])
            pairs, unmatched = self._match(torch.cdist(positions, detections))
            for r, c in pairs:
                track = self.tracks[r]
                track.mean, track.cov = self.kf.update(track.mean, track.cov, detections[c], noise[c])
                track.hits += 1
        for c in unmatched:
            self.count += 1
            self.tracks.append(Track(self.count, detections[c], detections.device))
