"""Programs in which a batch, a label or a model stayed where it was made, or a layer made a tensor of its own."""

import functools
import io

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from tests.doctor.broken_programs.kept import broken, classifier, loader
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# input_not_moved


@broken("input_not_moved", "x")
def a_batch_of_a_loop():
    model = classifier().to("cuda")
    for x, _ in loader():
        model(x)


@broken("input_not_moved", 'batch["input_ids"]')
def a_dict_of_token_ids():
    model = nn.Embedding(100, 8).cuda()
    batch = {"input_ids": torch.tensor([[1, 2, 3]]), "labels": torch.tensor([1])}
    return model(batch["input_ids"])


@broken("input_not_moved", "images")
def an_argument_of_a_helper():
    device = torch.device("cuda")
    model = nn.Conv2d(3, 4, 3).to(device)

    def step(model, images):
        return model(images).mean()

    for images in DataLoader(torch.randn(4, 3, 8, 8), batch_size=2):
        step(model, images)


@broken("input_not_moved", "hard")
def the_hardest_of_a_batch_picked_on_the_cpu():
    def hardest(losses):
        return losses.detach().cpu().argsort()[-2:]

    often = torch.zeros(8, device="cuda")
    losses = torch.rand(8).to("cuda")
    hard = hardest(losses)
    losses[hard].mean()  # an index may be on the CPU here, and not in the next line
    often.index_add_(0, hard, torch.ones(2, device="cuda"))


@broken("input_not_moved", "x")
def a_comprehension_over_a_loader():
    model = classifier().cuda()
    with torch.no_grad():
        return [model(x).argmax(1) for x, _ in loader()]


@broken("input_not_moved", "x")
def a_trainer_class():
    class Trainer:
        def __init__(self):
            self.device = torch.device("cuda")
            self.model = classifier().to(self.device)

        def step(self, batch):
            x, y = batch
            return self.model(x), y

        def fit(self):
            for batch in loader():
                self.step(batch)

    Trainer().fit()


@broken("input_not_moved", "x")
def a_method_chain():
    model = classifier().cuda()
    for x, _ in loader():
        model(x.float().mul(2))


@broken("input_not_moved", "batch")
def a_lambda():
    model = classifier().cuda()
    predict = lambda b: model(b)  # noqa: E731
    batch = next(iter(loader()))[0]
    predict(b=batch)


# target_not_moved


@broken("target_not_moved", "y")
def labels_of_a_loop():
    device = torch.device("cuda")
    model, criterion = classifier().to(device), nn.CrossEntropyLoss()
    for x, y in loader():
        x = x.to(device)
        criterion(model(x), y)


@broken("target_not_moved", "target")
def a_functional_loss():
    model = nn.Linear(8, 1).cuda()
    data = DataLoader(TensorDataset(torch.randn(16, 8), torch.rand(16, 1)), batch_size=8)
    for x, target in data:
        F.binary_cross_entropy_with_logits(model(x.cuda()), target)


@broken("target_not_moved", 'batch["labels"]')
def labels_in_a_dict():
    model = classifier().cuda()
    for x, y in loader():
        batch = {"x": x.cuda(), "labels": y}
        F.cross_entropy(model(batch["x"]), batch["labels"])


# model_not_moved


@broken("model_not_moved", "model[0].weight")
def a_model_that_nobody_moved():
    model = classifier()
    for x, _ in loader():
        model(x.cuda())


class Forecast(nn.Module):
    """A model that keeps its device, which `map_location` does not change."""

    def __init__(self, device):
        super().__init__()
        self.layer, self.device = nn.Linear(8, 4).to(device), device

    def forward(self, x):
        return self.layer(x.to(self.device))


@broken("model_not_moved", "self.layer.weight")
def a_whole_model_that_remembers_its_gpu():
    file = io.BytesIO()
    torch.save(Forecast(torch.device("cuda")), file)
    file.seek(0)
    model = torch.load(file, map_location="cpu", weights_only=False)
    model(torch.randn(2, 8))


@broken("model_not_moved", "model.weight")
def a_model_that_assign_put_where_the_file_was():
    model = nn.Linear(8, 4).to("cuda")
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    model.load_state_dict(torch.load(file, map_location="cpu"), assign=True)
    model(torch.randn(2, 8).cuda())


@broken("model_not_moved", "self.encoder.weight")
def a_module_that_was_left_out():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(8, 8)
            self.head = nn.Linear(8, 2)

        def forward(self, x):
            return self.head(self.encoder(x))

    net = Net()
    net.head.to("cuda")
    net(torch.randn(2, 8, device="cuda"))


@broken("model_not_moved", "teacher.weight")
def a_teacher():
    student, teacher = nn.Linear(8, 4).cuda(), nn.Linear(8, 4)
    x = torch.randn(2, 8).cuda()
    return F.mse_loss(student(x), teacher(x))


@broken("registered_after_move", "model[2].weight")
def a_head_for_fine_tuning():
    model = classifier().cuda()
    model[2] = nn.Linear(16, 7)
    for x, _ in loader():
        model(x.cuda())


@broken("model_moved_by_saving", "model[0].weight")
def a_model_that_was_saved_in_the_loop():
    device = torch.device("cuda")
    model = classifier().to(device)
    for x, _ in loader():
        model(x.to(device))
        model.cpu().state_dict()


# tensor_created_in_forward_without_device


@broken("tensor_created_in_forward_without_device", "positions")
def positions_in_forward():
    class Embed(nn.Module):
        def __init__(self):
            super().__init__()
            self.position = nn.Embedding(16, 8)

        def forward(self, x):
            positions = torch.arange(x.shape[1])
            return x + self.position(positions)

    Embed().to("cuda")(torch.randn(2, 5, 8, device="cuda"))


@broken("tensor_created_in_forward_without_device", "torch.zeros(x.shape[0], 1)")
def a_factory_in_the_failing_line():
    class Pad(nn.Module):
        def forward(self, x):
            return torch.cat([x, torch.zeros(x.shape[0], 1)], dim=1)

    Pad().cuda()(torch.randn(2, 5, device="cuda"))


@broken("tensor_created_in_forward_without_device", "mask")
def a_mask_of_a_helper():
    def causal(scores):
        size = scores.shape[-1]
        mask = torch.triu(torch.ones(size, size), diagonal=1).bool()
        return scores.masked_fill(mask, float("-inf"))

    causal(torch.randn(2, 4, 4, device="cuda"))


@broken("tensor_created_in_forward_without_device", "noise")
def noise_under_a_decorator():
    def logged(function):
        @functools.wraps(function)
        def inner(*args):
            return function(*args)

        return inner

    @logged
    def augment(x):
        noise = torch.randn(x.shape) * 0.1
        return x + noise

    augment(torch.randn(2, 4, device="cuda"))


@broken("tensor_created_in_forward_without_device", "later")
def a_mask_that_is_compared_in_a_call():
    def masked(scores):
        later = torch.ones(4, 4).triu(1)
        return torch.where(later == 1, float("-inf"), scores)

    masked(torch.randn(2, 4, 4, device="cuda"))


@broken("tensor_created_in_forward_without_device", "self.mask(x)")
def a_mask_that_a_method_makes():
    class Attention(nn.Module):
        def mask(self, x):
            return torch.ones(x.shape[1], x.shape[1]).triu(1).bool()

        def forward(self, x):
            return (x @ x.transpose(1, 2)).masked_fill(self.mask(x), -torch.inf)

    Attention()(torch.randn(2, 6, 8, device="cuda"))


# unregistered_tensor_attribute


@broken("unregistered_tensor_attribute", "self.mean")
def a_plain_tensor():
    class Normalise(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.zeros(8)

        def forward(self, x):
            return x - self.mean

    nn.Sequential(Normalise(), nn.Linear(8, 2)).cuda()(torch.randn(2, 8, device="cuda"))


@broken("kept_in_a_list", "self.blocks[0].weight")
def layers_in_a_list():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = [nn.Linear(8, 8) for _ in range(3)]
            self.head = nn.Linear(8, 2)

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return self.head(x)

    Net().cuda()(torch.randn(2, 8, device="cuda"))


@broken("kept_in_a_list", 'self.heads["a"].weight')
def layers_in_a_dict():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.heads = {"a": nn.Linear(8, 2), "b": nn.Linear(8, 3)}

        def forward(self, x, task):
            return self.heads[task](x)

    Net().cuda()(torch.randn(2, 8, device="cuda"), "a")


@broken("unregistered_tensor_attribute", "self.alpha")
def a_loss_of_ones_own():
    class FocalLoss(nn.Module):
        def __init__(self, alpha):
            super().__init__()
            self.alpha = alpha

        def forward(self, logits, target):
            return (self.alpha * F.one_hot(target, 4) * -logits.log_softmax(1)).sum(1).mean()

    loss = FocalLoss(torch.ones(4)).to("cuda")
    loss(torch.randn(2, 4, device="cuda"), torch.tensor([0, 1], device="cuda"))


@broken("kept_in_a_list", "self.anchors[0]")
def tensors_in_a_list():
    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.anchors = [torch.ones(4), torch.ones(4)]

        def forward(self, x):
            return x * self.anchors[0]

    Head().cuda()(torch.randn(2, 4, device="cuda"))


# submodule_created_in_forward


@broken("submodule_created_in_forward", "project.weight")
def a_layer_made_in_forward():
    class Net(nn.Module):
        def forward(self, x):
            project = nn.Linear(x.shape[1], 4)
            return project(x)

    Net().cuda()(torch.randn(2, 8, device="cuda"))


@broken("submodule_created_in_forward", "nn.LayerNorm(8)")
def a_layer_made_and_called_at_once():
    class Net(nn.Module):
        def forward(self, x):
            return nn.LayerNorm(8)(x)

    Net().cuda()(torch.randn(2, 8, device="cuda"))


# loss_weight_not_moved


@broken("loss_weight_not_moved", "criterion.weight")
def class_weights():
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 1.0, 1.0]))
    model = classifier().cuda()
    for x, y in loader():
        criterion(model(x.cuda()), y.cuda())


@broken("loss_weight_not_moved", "self.loss.pos_weight")
def pos_weight_of_a_module():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 3).cuda()
            self.loss = nn.BCEWithLogitsLoss(pos_weight=torch.ones(3))

        def forward(self, x, y):
            return self.loss(self.fc(x), y)

    Net()(torch.randn(2, 8, device="cuda"), torch.rand(2, 3, device="cuda"))


@broken("loss_weight_not_moved", 'loss.keywords["weight"]')
def class_weights_of_a_partial():
    loss = functools.partial(F.cross_entropy, weight=torch.ones(4))
    model = classifier().cuda()
    for x, y in loader():
        loss(model(x.cuda()), y.cuda())


@broken("loss_weight_not_moved", 'self.loss.keywords["weight"]')
def class_weights_of_an_objects_partial():
    class Run:
        def __init__(self):
            self.loss = functools.partial(F.cross_entropy, weight=torch.ones(4))

        def step(self, scores, y):
            return self.loss(scores, y)

    Run().step(torch.randn(2, 4, device="cuda"), torch.tensor([0, 1], device="cuda"))
