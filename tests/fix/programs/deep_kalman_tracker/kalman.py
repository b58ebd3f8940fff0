import torch


class KalmanFilter:
    def __init__(self, dt=1.0, device="cpu"):
        self.device = device
        self.F = torch.eye(4)
        self.F[0, 2] = self.F[1, 3] = dt
        self.H = torch.eye(2, 4)

    def predict(self, mean, cov):
        std = torch.tensor([0.05, 0.05, 0.1, 0.1])
        mean = self.F @ mean
        return mean, self.F @ cov @ self.F.T + torch.diag(std**2)

    def update(self, mean, cov, measurement, noise):
        S = self.H @ cov @ self.H.T + torch.diag(noise)
        K = torch.linalg.solve(S, self.H @ cov).T
        mean = mean + K @ (measurement - self.H @ mean)
        return mean, cov - K @ self.H @ cov
