"""Whole programs as people write them, each with one line that is wrong about devices."""

import collections
import contextlib
import copy
import io

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.utils.data import DataLoader, Dataset, TensorDataset


def a_class_weight_left_on_the_cpu():
    device = torch.device("cuda")
    labels = torch.tensor([0, 1, 1, 2])
    counts = torch.bincount(labels, minlength=3).float()
    weight = counts.sum() / (3 * counts)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    inputs = torch.randn(4, 4)
    optimizer.zero_grad()
    logits = model(inputs.to(device))
    loss = F.cross_entropy(logits, labels.to(device), weight=weight)
    loss.backward()
    optimizer.step()


def a_hidden_state_made_without_a_device():
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(10, 4)
            self.cell = nn.GRUCell(4, 6)
            self.out = nn.Linear(6, 3)

        def start(self, batch):
            return torch.zeros(batch, 6)

        def forward(self, tokens):
            state = self.start(len(tokens))
            for x in self.embedding(tokens).unbind(1):
                state = self.cell(x, state)
            return self.out(state)

    model = Tagger().cuda()
    tokens = torch.tensor([[1, 2, 3], [4, 5, 6]], device="cuda")
    return list(model(tokens).shape)


def positions_counted_on_the_cpu():
    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(10, 4)
            self.positions = nn.Embedding(16, 4)
            self.layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)

        def forward(self, tokens):
            positions = torch.arange(tokens.shape[1]).unsqueeze(0)
            x = self.tokens(tokens) + self.positions(positions)
            return self.layer(x)

    model = Encoder().to("cuda:1").eval()
    with torch.no_grad():
        return list(model(torch.zeros(2, 5, dtype=torch.long, device="cuda:1")).shape)


def a_sinusoid_that_is_no_buffer():
    class Positions(nn.Module):
        def __init__(self, size=4, length=8):
            super().__init__()
            steps = torch.arange(length).unsqueeze(1)
            self.table = torch.cat([torch.sin(steps / 10), torch.cos(steps / 10)] * (size // 2), dim=1)

        def forward(self, x):
            return x + self.table[: x.shape[1]]

    model = nn.Sequential(Positions(), nn.Linear(4, 2)).cuda()
    return list(model(torch.ones(2, 3, 4, device="cuda")).shape)


def a_causal_mask_on_the_cpu():
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), num_layers=1).cuda()
    batch = torch.rand(2, 5, 8)
    mask = nn.Transformer.generate_square_subsequent_mask(batch.shape[1])
    padding = torch.zeros(2, 5, dtype=torch.bool, device="cuda")
    out = model(batch.cuda(), mask=mask, src_key_padding_mask=padding)
    return list(out.shape)


def a_padding_mask_from_lengths():
    lengths = torch.tensor([3, 1])
    attention = nn.MultiheadAttention(4, 2, batch_first=True).cuda()
    x = torch.ones(2, 3, 4, device="cuda")
    mask = torch.arange(3, device="cuda")[None, :] >= lengths[:, None]
    out, weights = attention(x, x, x, key_padding_mask=mask)
    return [list(out.shape), list(weights.shape)]


def dice_of_a_one_hot_on_the_cpu():
    model = nn.Linear(1, 3).cuda()
    images = torch.rand(2, 4, 4, 1)
    masks = torch.zeros(2, 4, 4, dtype=torch.long)
    probabilities = model(images.cuda()).permute(0, 3, 1, 2).softmax(1)
    truth = F.one_hot(masks, 3).permute(0, 3, 1, 2).float()
    overlap = (probabilities * truth).sum((0, 2, 3))
    score = (2 * overlap + 1) / (probabilities.sum((0, 2, 3)) + truth.sum((0, 2, 3)) + 1)
    (1 - score.mean()).backward()


def normalising_with_statistics_of_the_cpu():
    mean = torch.tensor([0.4, 0.5, 0.6]).view(3, 1, 1)
    deviation = torch.tensor([0.2, 0.2, 0.2]).view(3, 1, 1)
    images = torch.rand(4, 3, 8, 8, device="cuda")
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)).cuda()
    images = (images - mean) / deviation
    return list(model(images).shape)


def a_replay_buffer_kept_on_the_cpu():
    buffer = collections.deque(maxlen=10)
    policy = nn.Linear(3, 2).cuda()
    target = copy.deepcopy(policy)
    for reward in (0.0, 1.0, 0.5):
        state = torch.rand(3)
        action = policy(state.cuda()).argmax().item()
        buffer.append((state, action, reward, torch.rand(3)))
    states, actions, rewards, following = zip(*buffer, strict=True)
    states, following = torch.stack(states).cuda(), torch.stack(following).cuda()
    actions = torch.tensor(actions).cuda()
    rewards = torch.tensor(rewards)
    values = policy(states).gather(1, actions[:, None]).squeeze(1)
    wanted = rewards + 0.9 * target(following).max(1).values.detach()
    F.mse_loss(values, wanted).backward()


def gathering_actions_of_the_cpu():
    policy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)).to("cuda:1")
    states = torch.rand(5, 3, device="cuda:1")
    actions = torch.tensor([0, 1, 0, 1, 1])
    log_probabilities = policy(states).log_softmax(-1)
    chosen = log_probabilities.gather(1, actions.unsqueeze(1))
    return list(chosen.shape)


def a_running_sum_started_on_the_cpu():
    model = nn.Linear(2, 1).cuda()
    total = torch.zeros(1)
    for _ in range(3):
        batch = torch.rand(4, 2, device="cuda")
        loss = model(batch).pow(2).mean(0)
        total += loss.detach()
    return total.tolist()


def losses_stacked_from_two_gpus():
    first, second = nn.Linear(2, 1).cuda(0), nn.Linear(2, 1).cuda(1)
    x = torch.rand(4, 2)
    losses = []
    for model in (first, second):
        device = next(model.parameters()).device
        losses.append(model(x.to(device)).mean())
    total = torch.stack(losses).mean()
    total.backward()


def the_second_half_is_not_fed():
    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Sequential(nn.Linear(4, 8), nn.ReLU()).to("cuda:0")
            self.second = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).to("cuda:1")
            self.head = nn.Linear(8, 2).to("cuda:1")

        def forward(self, x):
            x = self.first(x.to("cuda:0"))
            x = self.second(x)
            return self.head(x)

    model = Halves()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.rand(3, 4)).sum().backward()
    optimizer.step()


def labels_beside_the_wrong_half():
    first = nn.Linear(4, 8).to("cuda:0")
    second = nn.Linear(8, 2).to("cuda:1")
    data = DataLoader(TensorDataset(torch.rand(4, 4), torch.tensor([0, 1, 0, 1])), batch_size=2)
    criterion = nn.CrossEntropyLoss()
    for inputs, labels in data:
        inputs, labels = inputs.to("cuda:0"), labels.to("cuda:0")
        out = second(first(inputs).to("cuda:1"))
        criterion(out, labels).backward()


def an_average_of_weights_on_the_cpu():
    model = nn.Linear(2, 2).cuda()
    shadow = {name: value.detach().cpu().clone() for name, value in model.named_parameters()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()
    with torch.no_grad():
        for name, value in model.named_parameters():
            shadow[name].mul_(0.9).add_(value, alpha=0.1)


def an_optimizer_resumed_by_hand():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "state": dict(optimizer.state)}, file)
    file.seek(0)
    model = nn.Linear(2, 2).cuda()
    checkpoint = torch.load(file, weights_only=False)
    model.load_state_dict(checkpoint["model"])
    optimizer = torch.optim.Adam(model.parameters())
    for p, values in zip(model.parameters(), checkpoint["state"].values(), strict=True):
        optimizer.state[p] = values
    model(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()


def a_checkpoint_of_a_bigger_machine():
    model = nn.Linear(2, 2).to("cuda:1")
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "epoch": 3}, file)
    file.seek(0)
    checkpoint = torch.load(file, map_location={"cuda:1": "cuda:4"})
    fresh = nn.Linear(2, 2)
    fresh.load_state_dict(checkpoint["model"])
    return str(fresh.weight.device)


def a_checkpoint_assigned_for_inference():
    file = io.BytesIO()
    torch.save(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 2)).state_dict(), file)
    file.seek(0)
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 2))
    model.load_state_dict(torch.load(file), assign=True)
    model.eval()
    with torch.inference_mode():
        return list(model(torch.ones(1, 2, device="cuda")).shape)


def a_meta_model_moved():
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    state = {name: torch.zeros(value.shape, device="cuda") for name, value in model.state_dict().items()}
    model = model.to("cuda")
    model.load_state_dict(state)
    return list(model(torch.ones(1, 2, device="cuda")).shape)


def accuracy_against_labels_of_the_cpu():
    model = nn.Linear(4, 3).cuda().eval()
    data = DataLoader(TensorDataset(torch.rand(6, 4), torch.zeros(6, dtype=torch.long)), batch_size=3)
    correct = 0
    with torch.no_grad():
        for inputs, labels in data:
            predicted = model(inputs.cuda()).argmax(1)
            correct += (predicted == labels).sum().item()
    return correct


def predictions_shown_with_numpy():
    model = nn.Linear(4, 1).cuda().eval()
    data = DataLoader(torch.rand(6, 4), batch_size=2)
    found = []
    for batch in data:
        with torch.no_grad():
            out = model(batch.to("cuda"))
        found.append(out.squeeze(1).numpy())
    return len(found)


def predictions_that_still_need_gradients():
    model = nn.Linear(4, 1).cuda()
    out = model(torch.rand(2, 4, device="cuda"))
    loss = out.mean()
    loss.backward()
    history = [loss.item()]
    values = out.cpu().numpy()
    return [len(history), list(values.shape)]


def a_confusion_matrix_of_two_places():
    matrix = torch.zeros(3, 3, dtype=torch.long)
    labels = torch.tensor([0, 1, 2, 1])
    model = nn.Linear(2, 3).cuda()
    with torch.no_grad():
        predicted = model(torch.rand(4, 2, device="cuda")).argmax(1)
    index = labels * 3 + predicted.cpu().clamp(0, 2)
    matrix += torch.bincount(index, minlength=9).view(3, 3).cuda()
    return list(matrix.shape)


def nearest_neighbours_over_two_gpus():
    bank = F.normalize(torch.rand(10, 4), dim=1).cuda(1)
    model = nn.Linear(6, 4).cuda(0)
    query = F.normalize(model(torch.rand(2, 6, device="cuda:0")), dim=1)
    similarity = query @ bank.t()
    scores, indices = similarity.topk(3, dim=1)
    return [list(scores.shape), list(indices.shape)]


def boxes_sorted_by_scores_elsewhere():
    boxes = torch.rand(5, 4)
    model = nn.Linear(4, 1).cuda()
    scores = model(boxes.cuda()).squeeze(1).sigmoid()
    keep = scores > 0.0
    order = scores.argsort(descending=True)
    best = boxes[order[:2]]
    return [list(best.shape), list(keep.shape)]


def noise_of_a_diffusion_step():
    betas = torch.linspace(1e-4, 0.02, 10)
    alphas = torch.cumprod(1 - betas, 0)
    model = nn.Conv2d(1, 1, 3, padding=1).cuda()
    images = torch.rand(2, 1, 4, 4, device="cuda")
    noise = torch.randn_like(images)
    t = torch.randint(0, 10, (2,), device="cuda")
    scale = alphas[t].view(-1, 1, 1, 1)
    noisy = scale.sqrt() * images + (1 - scale).sqrt() * noise
    F.mse_loss(model(noisy), noise).backward()


def latent_noise_by_the_wrong_generator():
    generator = torch.Generator().manual_seed(3)
    decoder = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 16)).cuda()
    with torch.no_grad():
        z = torch.randn(2, 4, device="cuda", generator=generator)
        images = decoder(z).view(2, 1, 4, 4)
    return list(images.shape)


def a_reparametrisation_on_the_cpu():
    encoder, decoder = nn.Linear(6, 4).cuda(), nn.Linear(2, 6).cuda()
    x = torch.rand(3, 6, device="cuda")
    mean, spread = encoder(x).chunk(2, dim=1)
    noise = torch.randn(spread.shape)
    z = mean + noise * torch.exp(0.5 * spread)
    loss = F.mse_loss(decoder(z), x) - 0.5 * (1 + spread - mean.pow(2) - spread.exp()).mean()
    loss.backward()


def labels_of_a_discriminator():
    generator, judge = nn.Linear(2, 4).cuda(), nn.Linear(4, 1).cuda()
    criterion = nn.BCEWithLogitsLoss()
    real, fake = torch.rand(3, 4).cuda(), generator(torch.randn(3, 2, device="cuda"))
    ones, zeros = torch.ones(3, 1, device="cuda"), torch.zeros(3, 1)
    loss = criterion(judge(real), ones) + criterion(judge(fake.detach()), zeros)
    loss.backward()
    return [p.grad is not None for p in judge.parameters()]


def a_gradient_penalty_mixed_on_the_cpu():
    judge = nn.Linear(4, 1).cuda()
    real, fake = torch.rand(3, 4, device="cuda"), torch.rand(3, 4, device="cuda")
    share = torch.rand(3, 1)
    between = (share * real + (1 - share) * fake).requires_grad_()
    (slope,) = torch.autograd.grad(judge(between).sum(), between, create_graph=True)
    ((slope.norm(dim=1) - 1) ** 2).mean().backward()


def a_graph_whose_edges_stayed():
    nodes = torch.rand(4, 3, device="cuda")
    edges = torch.tensor([[0, 1, 2], [1, 2, 3]])
    layer = nn.Linear(3, 3).cuda()
    messages = layer(nodes)[edges[0]]
    out = torch.zeros_like(nodes).index_add_(0, edges[1], messages)
    return list(out.shape)


def a_sparse_adjacency_on_the_cpu():
    edges = torch.tensor([[0, 1, 2], [1, 2, 0]])
    adjacency = torch.sparse_coo_tensor(edges, torch.ones(3), (3, 3))
    layer = nn.Linear(4, 2).cuda()
    features = torch.rand(3, 4, device="cuda")
    return list(torch.sparse.mm(adjacency, layer(features)).shape)


def packing_by_lengths_of_the_gpu():
    batch = nn.utils.rnn.pad_sequence([torch.ones(3, 2), torch.ones(1, 2)], batch_first=True).cuda()
    lengths = torch.tensor([3, 1]).cuda()
    embedded = nn.Linear(2, 4).cuda()(batch)
    packed = nn.utils.rnn.pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
    padded, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    return list(padded.shape)


def beams_started_on_the_cpu():
    model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 5)).cuda()
    tokens = torch.zeros(2, 1, dtype=torch.long, device="cuda")
    scores = torch.zeros(2)
    for _ in range(2):
        logits = model(tokens)[:, -1].log_softmax(-1)
        best, following = logits.max(-1)
        tokens = torch.cat([tokens, following[:, None]], dim=1)
        scores = scores + best
    return list(tokens.shape)


def the_first_token_on_the_cpu():
    model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 5)).cuda()
    tokens = torch.tensor([[1]])
    with torch.no_grad():
        for _ in range(3):
            logits = model(tokens.cuda())[:, -1]
            following = torch.multinomial(logits.softmax(-1), 1)
            tokens = torch.cat([tokens, following], dim=1)
    return tokens.shape[1]


def a_loader_that_pins_what_is_on_the_gpu():
    class Images(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return torch.ones(2, device="cuda"), index % 2

    model = nn.Linear(2, 2).cuda()
    for images, labels in DataLoader(Images(), batch_size=2, pin_memory=True):
        F.cross_entropy(model(images), labels.cuda(non_blocking=True)).backward()


def a_batch_that_is_a_dict():
    def collate(rows):
        return {"x": torch.stack([row[0] for row in rows]), "y": torch.tensor([row[1] for row in rows])}

    rows = [(torch.ones(2), 0), (torch.ones(2), 1)]
    model = nn.Linear(2, 2).cuda()
    for batch in DataLoader(rows, batch_size=2, collate_fn=collate):
        batch = batch.to("cuda")
        F.cross_entropy(model(batch["x"]), batch["y"]).backward()


def a_dict_of_which_one_value_is_moved():
    batch = {"x": torch.ones(2, 3), "mask": torch.ones(2, 3, dtype=torch.bool), "y": torch.tensor([0, 1])}
    model = nn.Linear(3, 2).cuda()
    batch = {name: value.cuda() if value.is_floating_point() else value for name, value in batch.items()}
    pooled = batch["x"].masked_fill(~batch["mask"], 0.0)
    F.cross_entropy(model(pooled), batch["y"].cuda()).backward()


def mixed_precision_with_a_target_elsewhere():
    model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(1e-3), capturable=True)
    scaler = torch.amp.GradScaler("cuda")
    inputs, targets = torch.rand(3, 2), torch.rand(3, 1)
    with torch.autocast("cuda", dtype=torch.float16):
        out = model(inputs.cuda())
        loss = F.mse_loss(out, targets)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def a_default_device_and_a_generator():
    torch.set_default_device("cuda")
    try:
        data = TensorDataset(torch.rand(4, 2), torch.zeros(4))
        loader = DataLoader(data, batch_size=2, shuffle=True)
        model = nn.Linear(2, 1)
        return [list(model(x).shape) for x, _ in loader]
    finally:
        torch.set_default_device(None)


def a_student_and_a_teacher():
    teacher = nn.Linear(4, 3).to("cuda:1").eval()
    student = nn.Linear(4, 3).to("cuda:0")
    x = torch.rand(2, 4)
    with torch.no_grad():
        wanted = teacher(x.to("cuda:1")).softmax(-1)
    found = student(x.to("cuda:0")).log_softmax(-1)
    F.kl_div(found, wanted, reduction="batchmean").backward()


def a_queue_of_keys():
    encoder = nn.Linear(4, 2).cuda()
    queue = F.normalize(torch.rand(2, 6), dim=0)
    place = torch.zeros(1, dtype=torch.long)
    keys = F.normalize(encoder(torch.rand(3, 4, device="cuda")), dim=1)
    positive = torch.einsum("nc,nc->n", keys, keys.detach())
    negative = torch.einsum("nc,ck->nk", keys, queue.clone().detach())
    logits = torch.cat([positive[:, None], negative], dim=1)
    queue[:, int(place) : int(place) + 3] = keys.detach().t()
    return list(logits.shape)


def a_stream_and_the_other_gpu():
    stream = torch.cuda.Stream(device="cuda:1")
    weight = torch.ones(2, 2, device="cuda")
    inputs = torch.ones(2, 2).pin_memory()
    with torch.cuda.stream(stream):
        moved = inputs.to("cuda", non_blocking=True)
        out = moved @ weight
    torch.cuda.current_stream().wait_stream(stream)
    return str(out.device)


def a_device_chosen_in_a_context():
    models = []
    for index in range(torch.cuda.device_count()):
        with torch.cuda.device(index):
            models.append(nn.Linear(2, 2).cuda())
    inputs = torch.ones(1, 2).cuda()
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        return [list(model(inputs).shape) for model in models]


def a_parallel_loss_with_a_weight():
    class WithLoss(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 3)
            self.weight = torch.ones(3, device="cuda:0")

        def forward(self, x, y):
            return F.cross_entropy(self.layer(x), y, weight=self.weight)[None]

    model = nn.DataParallel(WithLoss().cuda())
    loss = model(torch.rand(4, 2).cuda(), torch.zeros(4, dtype=torch.long).cuda())
    loss.mean().backward()


def a_hook_that_keeps_on_the_cpu():
    kept = {}
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)).cuda()
    model[0].register_forward_hook(lambda module, args, out: kept.update(first=out.detach().cpu()))
    out = model(torch.ones(4, 2, device="cuda"))
    attention = torch.softmax(kept["first"], dim=1)
    weighted = attention.mean(1, keepdim=True) * out
    return list(weighted.shape)


def a_low_rank_adapter_added_later():
    class Adapted(nn.Module):
        def __init__(self, layer, rank=1):
            super().__init__()
            self.layer = layer
            self.down = nn.Parameter(torch.zeros(rank, layer.in_features))
            self.up = nn.Parameter(torch.zeros(layer.out_features, rank))

        def forward(self, x):
            return self.layer(x) + x @ self.down.t() @ self.up.t()

    model = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 2)).cuda()
    model[1] = Adapted(model[1])
    return list(model(torch.ones(1, 2, device="cuda")).shape)
