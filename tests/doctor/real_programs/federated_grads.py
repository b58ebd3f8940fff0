# culprit: average[name] | average
# cause: grad_device
import copy
from collections import defaultdict
import torch
from torch import nn


class Client:
    def __init__(self, seed, device):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(32, 6, generator=g)
        self.y = (self.x.sum(1) > 0).long()
        self.device = device

    def gradients(self, global_model):
        model = copy.deepcopy(global_model).to(self.device)
        loss = nn.functional.cross_entropy(model(self.x.to(self.device)), self.y.to(self.device))
        loss.backward()
        return {name: p.grad.cpu() for name, p in model.named_parameters()}


class Server:
    def __init__(self, model, lr=0.1):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    def aggregate(self, uploads):
        collected = defaultdict(list)
        for upload in uploads:
            for name, grad in upload.items():
                collected[name].append(grad)
        return {name: torch.stack(grads).mean(0) for name, grads in collected.items()}

    def step(self, uploads):
        average = self.aggregate(uploads)
        self.optimizer.zero_grad()
        for name, param in self.model.named_parameters():
            param.grad = average[name]
        self.optimizer.step()


def main():
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2)).to("cuda:0")
    clients = [Client(seed, f"cuda:{seed % 2}") for seed in range(4)]
    server = Server(model)
    for _ in range(2):
        server.step([client.gradients(server.model) for client in clients])
