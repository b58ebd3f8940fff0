"""Loading data: collation, workers, pinning, default devices, and what a forked worker may not do."""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset


class _Made(Dataset):
    """Four numbers, made on a device."""

    def __init__(self, device):
        self.device = device

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.zeros(1, device=self.device)


class _Alternating(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.zeros(1, device="cuda" if index % 2 else "cpu")


def batches_are_where_the_items_are():
    return [str(batch.device) for batch in DataLoader(_Made("cuda:1"), batch_size=2)]


def items_of_two_devices_in_one_batch():
    list(DataLoader(_Alternating(), batch_size=2))


def items_of_two_devices_one_by_one():
    return [str(batch.device) for batch in DataLoader(_Alternating(), batch_size=1)]


def items_of_two_devices_without_batches():
    return [str(item.device) for item in DataLoader(_Alternating(), batch_size=None)]


def a_dataset_of_gpu_tensors():
    data = TensorDataset(torch.tensor([[1.0], [2.0]]).cuda(), torch.tensor([0, 1]))
    return [[str(x.device) for x in batch] for batch in DataLoader(data, batch_size=2)]


def workers_of_the_cpu():
    return [str(batch.cuda().device) for batch in DataLoader(_Made("cpu"), batch_size=2, num_workers=1)]


def a_forked_worker_that_uses_the_gpu():
    torch.zeros(1, device="cuda")
    list(DataLoader(_Made("cuda"), batch_size=2, num_workers=1, multiprocessing_context="fork"))


def a_forked_worker_whose_collation_moves():
    torch.zeros(1, device="cuda")
    loader = DataLoader(
        _Made("cpu"),
        2,
        num_workers=1,
        collate_fn=lambda items: torch.stack(items).cuda(),
        multiprocessing_context="fork",
    )
    list(loader)


def a_forked_worker_reads_a_gpu_dataset():
    data = TensorDataset(torch.zeros(4, 1, device="cuda"))
    list(DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context="fork"))


def a_forked_process_that_uses_the_gpu():
    torch.zeros(1, device="cuda")
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work():
        try:
            torch.zeros(1, device="cuda")
        except Exception as error:
            sender.send([type(error).__name__, str(error)])

    process = context.Process(target=work)
    process.start()
    said = receiver.recv() if receiver.poll(30) else None
    process.join()
    return said


def pinned_batches():
    loader = DataLoader(TensorDataset(torch.tensor([1.0, 2.0])), batch_size=2, pin_memory=True)
    return [[batch.is_pinned(), str(batch.device), batch.tolist()] for (batch,) in loader]


def pinned_batches_in_containers():
    items = [{"a": torch.zeros(1), "b": (torch.zeros(1), "text")}] * 2
    batch = next(iter(DataLoader(items, batch_size=2, pin_memory=True)))
    return [batch["a"].is_pinned(), batch["b"][0].is_pinned(), batch["b"][1]]


def pinned_batches_of_gpu_items():
    list(DataLoader(_Made("cuda"), batch_size=2, pin_memory=True))


def pinned_batches_and_a_worker():
    loader = DataLoader(_Made("cpu"), batch_size=2, num_workers=1, pin_memory=True)
    return [[batch.is_pinned(), str(batch.to("cuda:1", non_blocking=True).device)] for batch in loader]


def collation_by_hand():
    return [str(x.device) for x in torch.utils.data.default_collate([(torch.zeros(1, device="cuda:1"), 1.0)] * 2)]


def collation_of_two_gpus():
    torch.utils.data.default_collate([torch.zeros(1, device="cuda:0"), torch.zeros(1, device="cuda:1")])


def conversion_under_a_default_device():
    with torch.device("cuda:1"):
        return [str(batch.device) for batch in DataLoader([1.0, 2.0], batch_size=2)]


def shuffling_under_a_default_device():
    with torch.device("cuda"):
        list(DataLoader([1.0, 2.0], batch_size=2, shuffle=True))


def a_random_split_under_a_default_device():
    with torch.device("cuda"):
        return [len(part) for part in torch.utils.data.random_split(range(4), [3, 1])]


def a_weighted_sampler_on_the_gpu():
    sampler = torch.utils.data.WeightedRandomSampler(torch.tensor([1.0, 1.0]).cuda(), 2)
    return str(sampler.weights.device)


def shared_memory_and_queues_of_the_cpu():
    x = torch.zeros(2).share_memory_()
    return [x.is_shared(), torch.zeros(2, device="cuda").is_shared(), torch.zeros(2).is_shared()]
