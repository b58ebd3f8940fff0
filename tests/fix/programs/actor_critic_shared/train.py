import torch
from model import ActorCritic
from shared_optim import SharedRMSprop
from worker import Worker

if __name__ == "__main__":
    torch.manual_seed(1)
    n = torch.cuda.device_count()
    gpu_ids = list(range(n)) if n else [-1]
    place = [torch.device(f"cuda:{i}") if i >= 0 else torch.device("cpu") for i in gpu_ids]
    shared_model = ActorCritic().to(place[0])
    optimizer = SharedRMSprop(shared_model.parameters())
    workers = [Worker(rank, shared_model, optimizer, place[rank % len(place)]) for rank in range(3)]
    for episode in range(6):
        results = [worker.rollout() for worker in workers]
        print(f"episode {episode}", " ".join(f"{reward:.1f}/{loss:.3f}" for reward, loss in results))
    print("norm", round(sum(p.detach().norm().item() for p in shared_model.parameters()), 4))
