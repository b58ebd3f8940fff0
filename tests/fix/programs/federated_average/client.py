import copy

import torch
import torch.nn.functional as F


class Client:
    def __init__(self, cid, data, device, mu=0.1):
        self.cid, self.device, self.mu = cid, device, mu
        self.x, self.y = (t.to(device) for t in data)

    def label_counts(self, num_classes):
        return torch.bincount(self.y, minlength=num_classes).float()

    def train(self, global_model, epochs=2, lr=0.05):
        model = copy.deepcopy(global_model).to(self.device)
        global_params = [p.detach().clone() for p in global_model.parameters()]
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        for _ in range(epochs):
            for idx in torch.arange(len(self.y)).split(16):
                loss = F.cross_entropy(model(self.x[idx]), self.y[idx])
                proximal = sum((p - g).pow(2).sum() for p, g in zip(model.parameters(), global_params))
                loss = loss + self.mu / 2 * proximal
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return model.state_dict(), len(self.y), loss.item()
