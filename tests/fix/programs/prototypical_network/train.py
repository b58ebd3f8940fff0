import argparse

import numpy as np
import torch
import torch.nn as nn
from proto_loss import PrototypeBank, proto_loss
from sampler import EpisodeSampler


def make_data(classes=10, per_class=12, dim=20):
    rng = np.random.RandomState(7)
    centers = rng.randn(classes, dim)
    labels = np.repeat(np.arange(classes), per_class)
    return (centers[labels] + 0.8 * rng.randn(len(labels), dim)).astype(np.float32), labels


def main(opt):
    if torch.cuda.is_available() and not opt.cuda:
        print("WARNING: You have a CUDA device, so you should probably run with --cuda")
    device = "cuda:0" if torch.cuda.is_available() and opt.cuda else "cpu"
    torch.manual_seed(7)
    encoder = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 8)).to(device)
    bank = PrototypeBank(10, 8)
    sampler = EpisodeSampler(*make_data(), way=5, shot=3, query=4)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=opt.learning_rate)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=8, gamma=0.5)
    train_acc = []
    for episode in range(1, opt.episodes + 1):
        classes, support, query = sampler.episode()
        z_support = encoder(torch.from_numpy(support))
        z_query = encoder(torch.from_numpy(query).to(device))
        loss, acc, prototypes = proto_loss(z_support, z_query)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        bank.update(classes, prototypes)
        train_acc.append(acc.item())
        if episode % 8 == 0:
            print(f"episode {episode} loss {loss.item():.4f} acc {np.mean(train_acc[-8:]):.4f} lr {scheduler.get_last_lr()[0]}")
    print(f"bank {bank.bank.norm().item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cuda", action="store_true", help="enables cuda")
    parser.add_argument("--learning-rate", type=float, default=0.005)
    parser.add_argument("--episodes", type=int, default=24)
    main(parser.parse_args())
