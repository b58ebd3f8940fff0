import torch
from inc_net import IncrementalNet
from learner import Learner


def main():
    torch.manual_seed(1993)
    gpus = torch.cuda.device_count()
    args = {"device": [torch.device("cuda", gpus - 1) if gpus else torch.device("cpu")], "epochs": 4}
    centers = 1.5 * torch.randn(6, 8)
    y = torch.arange(180) % 6
    x = centers[y] + torch.randn(180, 8)
    learner = Learner(IncrementalNet(8, args["device"][0]), args)
    for task in range(3):
        known = 2 * (task + 1)
        learner.net.update_fc(known)
        new = (y >= known - 2) & (y < known)
        loss = learner.train_task(x[new], y[new])
        learner.build_means(x[y < known], y[y < known])
        acc = learner.eval_nme(x[y < known], y[y < known])
        head = learner.net.fc.weight.norm().item()
        print(f"task {task} loss {loss:.4f} nme {acc:.4f} head {head:.4f}")


if __name__ == "__main__":
    main()
