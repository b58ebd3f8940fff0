"""Whole programs with less usual parts of PyTorch, each with one line that is wrong about devices."""

import copy
import io

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import functional as F  # noqa: N812
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, IterableDataset


def checkpointing_with_a_mask_of_the_cpu():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x, mask):
            return self.inner(x).masked_fill(mask, 0.0)

    block = Block().cuda()
    x = torch.rand(2, 4, device="cuda", requires_grad=True)
    mask = torch.tensor([[True, False, False, True]])
    out = checkpoint(block, x, mask, use_reentrant=False)
    out.sum().backward()


def an_ensemble_by_vmap():
    models = [nn.Linear(3, 2).cuda() for _ in range(4)]
    parameters, buffers = stack_module_state(models)
    base = copy.deepcopy(models[0]).to("meta")

    def run(p, b, x):
        return functional_call(base, (p, b), (x,))

    batch = torch.rand(5, 3)
    return list(vmap(run, in_dims=(0, 0, None))(parameters, buffers, batch).shape)


def weights_given_by_name():
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).cuda()
    fast = {name: value.detach().clone() for name, value in model.named_parameters()}
    support, query = torch.rand(4, 2, device="cuda"), torch.rand(4, 2, device="cuda")
    target = torch.rand(4, 1)
    out = functional_call(model, fast, (support,))
    loss = F.mse_loss(functional_call(model, fast, (query,)), target) + out.mean()
    return loss.item() is not None


def an_inner_loop_with_gradients_elsewhere():
    weight = torch.ones(2, 1, device="cuda", requires_grad=True)
    x, y = torch.rand(4, 2, device="cuda"), torch.rand(4, 1, device="cuda")
    loss = ((x @ weight - y) ** 2).mean()
    (slope,) = torch.autograd.grad(loss, weight, create_graph=True)
    step = torch.full((2, 1), 0.1)
    fast = weight - step * slope
    ((x @ fast - y) ** 2).mean().backward()


def a_stream_of_data_by_workers_of_none():
    class Numbers(IterableDataset):
        def __iter__(self):
            for index in range(6):
                yield torch.full((2,), float(index)), index

    model = nn.Linear(2, 6).cuda()
    for x, label in DataLoader(Numbers(), batch_size=3):
        loss = F.nll_loss(model(x.cuda()).log_softmax(1), label)
        loss.backward()


def a_learned_temperature():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.temperature = torch.nn.Parameter(torch.ones(1) * 1.5)

        def forward(self, logits):
            return logits / self.temperature.expand(logits.size(0), logits.size(1))

    logits = torch.rand(4, 3, device="cuda")
    scaled = Scaled()
    optimizer = torch.optim.LBFGS([scaled.temperature], lr=0.01, max_iter=2)

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(scaled(logits), torch.zeros(4, dtype=torch.long, device="cuda"))
        loss.backward()
        return loss

    optimizer.step(closure)


def weights_averaged_over_an_epoch():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).cuda()
    average = torch.optim.swa_utils.AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.05)
    data = DataLoader(torch.rand(6, 2), batch_size=3)
    for x in data:
        optimizer.zero_grad()
        model(x.cuda()).sum().backward()
        optimizer.step()
    average.update_parameters(model)
    scheduler.step()
    torch.optim.swa_utils.update_bn(data, average)


def a_memory_bank_updated_by_index():
    bank = torch.zeros(10, 4)
    encoder = nn.Linear(3, 4).cuda()
    for step in range(2):
        index = torch.tensor([step, step + 1])
        features = encoder(torch.rand(2, 3, device="cuda")).detach()
        bank[index] = features
    return bank.shape[0]


def a_memory_bank_updated_by_slices():
    bank = torch.zeros(10, 4)
    encoder = nn.Linear(3, 4).cuda()
    for step in range(2):
        features = encoder(torch.rand(2, 3, device="cuda")).detach()
        bank[step * 2 : step * 2 + 2] = features
    scores = encoder(torch.rand(1, 3, device="cuda")) @ bank.t()
    return list(scores.shape)


def a_tree_of_states():
    cells = nn.ModuleList([nn.LSTMCell(2, 3), nn.LSTMCell(3, 3)]).cuda()
    h = [torch.zeros(1, 3, device="cuda") for _ in cells]
    c = [torch.zeros(1, 3) for _ in cells]
    for x in torch.rand(4, 1, 2, device="cuda"):
        for index, cell in enumerate(cells):
            h[index], c[index] = cell(x, (h[index], c[index]))
            x = h[index]
    return list(h[-1].shape)


def padding_then_attending():
    sequences = [torch.rand(3, 4, device="cuda"), torch.rand(2, 4, device="cuda")]
    batch = nn.utils.rnn.pad_sequence(sequences, batch_first=True)
    lengths = torch.tensor([len(s) for s in sequences])
    mask = torch.arange(batch.size(1))[None] < lengths[:, None]
    weights = torch.softmax(batch.sum(-1).masked_fill(~mask, -1e9), dim=1)
    return list((weights[..., None] * batch).sum(1).shape)


def focal_loss_with_alpha():
    alpha = torch.tensor([0.25, 0.75])
    model = nn.Linear(3, 2).cuda()
    labels = torch.tensor([0, 1, 1], device="cuda")
    log_p = model(torch.rand(3, 3, device="cuda")).log_softmax(1)
    ce = F.nll_loss(log_p, labels, reduction="none")
    weight = alpha[labels]
    (weight * (1 - log_p.exp().gather(1, labels[:, None]).squeeze(1)) ** 2 * ce).mean().backward()


def relative_positions_as_a_parameter_list():
    class Biased(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Parameter(torch.zeros(5, 2))
            self.index = torch.arange(3)[:, None] - torch.arange(3)[None] + 2

        def forward(self, scores):
            bias = self.table[self.index].permute(2, 0, 1)
            return torch.softmax(scores + bias, dim=-1)

    model = Biased().cuda()
    model.table.data = model.table.data.cpu()
    return list(model(torch.zeros(1, 2, 3, 3, device="cuda")).shape)


def a_profiler_around_a_broken_step():
    model = nn.Linear(2, 2).cuda()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        for device in ("cuda", "cpu"):
            with torch.profiler.record_function(device):
                model(torch.rand(1, 2, device=device)).sum().backward()


def an_exported_state_for_another_library():
    model = nn.Linear(2, 2).cuda()
    arrays = {name: value.detach().cpu().numpy() for name, value in model.state_dict().items()}
    fresh = nn.Linear(2, 2).cuda()
    with torch.no_grad():
        for name, value in fresh.named_parameters():
            value.copy_(torch.from_numpy(arrays[name]))
    difference = {name: value.detach() - torch.from_numpy(arrays[name]) for name, value in fresh.named_parameters()}
    return len(difference)


def a_spare_gpu_for_the_embedding():
    class Split(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(10, 4).to("cuda:1")
            self.body = nn.Linear(4, 4).to("cuda:0")

        def forward(self, tokens):
            x = self.table(tokens.to("cuda:1")).mean(1)
            x = self.body(x.to("cuda:0"))
            return x @ self.table.weight.t()

    return list(Split()(torch.zeros(2, 3, dtype=torch.long)).shape)


def gradients_gathered_by_hand():
    replicas = [nn.Linear(2, 1).to(f"cuda:{index}") for index in range(2)]
    for index, model in enumerate(replicas):
        model(torch.rand(3, 2, device=f"cuda:{index}")).sum().backward()
    with torch.no_grad():
        for first, second in zip(replicas[0].parameters(), replicas[1].parameters(), strict=True):
            mean = (first.grad + second.grad) / 2
            first.grad.copy_(mean)
            second.grad.copy_(mean)


def a_pipeline_of_events():
    compute, copying = torch.cuda.Stream(), torch.cuda.Stream()
    done = torch.cuda.Event()
    host = torch.rand(4, 4).pin_memory()
    with torch.cuda.stream(copying):
        device = host.to("cuda", non_blocking=True)
        done.record(copying)
    with torch.cuda.stream(compute):
        compute.wait_event(done)
        out = device @ host
    torch.cuda.synchronize()
    return list(out.shape)


def a_checkpoint_of_a_scaler_and_a_sampler():
    generator = torch.Generator("cuda").manual_seed(3)
    file = io.BytesIO()
    torch.save({"generator": generator.get_state(), "scaler": torch.amp.GradScaler().state_dict()}, file)
    file.seek(0)
    checkpoint_ = torch.load(file, map_location="cuda")
    torch.amp.GradScaler().load_state_dict(checkpoint_["scaler"])
    torch.Generator("cuda").set_state(checkpoint_["generator"])
