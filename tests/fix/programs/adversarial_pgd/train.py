import argparse

import numpy as np
import torch
import torch.nn.functional as F
from attack import PGD
from model import NormalizedNet


def make_batch(n):
    images = torch.rand(n, 3, 8, 8)
    labels = images.mean(dim=(2, 3)).argmax(dim=1)
    labels[images.mean(dim=(1, 2, 3)) > 0.51] = 3
    return images, labels


def evaluate(model, attack, device):
    clean, robust, norms = 0, 0, []
    for _ in range(3):
        images, labels = make_batch(20)
        images.to(device)
        with torch.no_grad():
            clean += (model(images).argmax(1).cpu() == labels).sum().item()
        adv = attack(images, labels)
        with torch.no_grad():
            robust += (model(adv).argmax(1).cpu() == labels).sum().item()
        norms.append((adv - images.to(device)).flatten(1).norm(dim=1).numpy())
    return clean, robust, np.concatenate(norms)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--no-cuda", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")
    model = NormalizedNet().to(device)
    attack = PGD(model, steps=args.steps)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(20):
        images, labels = make_batch(32)
        adv = attack(images, labels)
        loss = F.cross_entropy(model(adv), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 4:
            print(f"step {step + 1} adversarial loss {loss.item():.4f}")
    clean, robust, norms = evaluate(model, attack, device)
    print(f"clean {clean}/60 robust {robust}/60 mean l2 {norms.mean():.4f}")


if __name__ == "__main__":
    main()
