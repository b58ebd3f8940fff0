import torch
import torch.nn as nn
from client import Client
from server import Server

CLASSES = 3


def make_split(n, shift):
    x = torch.randn(n, 6) + shift
    y = (x @ torch.linspace(-1, 1, 6)).add(1.5).clamp(0, 2.99).long()
    return x, y


def main():
    torch.manual_seed(5)
    if torch.cuda.is_available():
        devices = [torch.device("cuda", i) for i in range(torch.cuda.device_count())]
    else:
        devices = [torch.device("cpu")]
    clients = [Client(i, make_split(40 + 8 * i, 0.2 * i), devices[i % len(devices)]) for i in range(4)]
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, CLASSES))
    server = Server(model, clients, devices[0])
    test_x, test_y = make_split(100, 0.3)
    for rnd in range(3):
        losses = server.run_round()
        print(f"round {rnd}", [round(v, 4) for v in losses])
    print("accuracy", round(server.evaluate(test_x, test_y, CLASSES), 4))
    print("norm", round(sum(p.norm().item() for p in server.model.parameters()), 4))


if __name__ == "__main__":
    main()
