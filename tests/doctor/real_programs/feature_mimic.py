# culprit: t | teacher_feats[name] | attention_map(t) | t_tap.features
# cause: split_model_activation_not_moved
import torch
from torch import nn


def backbone(width):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * width, 10),
    )


class FeatureTap:
    def __init__(self, model, names):
        self.features = {}
        modules = dict(model.named_modules())
        for name in names:
            modules[name].register_forward_hook(self.keep(name))

    def keep(self, name):
        def hook(module, args, output):
            self.features[name] = output
        return hook


def attention_map(f):
    return nn.functional.normalize(f.pow(2).mean(1).flatten(1), dim=1)


def attention_transfer(student_feats, teacher_feats):
    loss = 0.0
    for name, s in student_feats.items():
        t = teacher_feats[name]
        loss = loss + (attention_map(s) - attention_map(t)).pow(2).mean()
    return loss


def main():
    student_device, teacher_device = torch.device("cuda:0"), torch.device("cuda:1")
    student = backbone(8).to(student_device)
    teacher = backbone(16).to(teacher_device).eval()
    s_tap, t_tap = FeatureTap(student, ["1", "3"]), FeatureTap(teacher, ["1", "3"])
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
    images, labels = torch.rand(4, 3, 16, 16), torch.randint(0, 10, (4,))
    with torch.no_grad():
        teacher(images.to(teacher_device))
    logits = student(images.to(student_device))
    loss = nn.functional.cross_entropy(logits, labels.to(student_device))
    loss = loss + 100 * attention_transfer(s_tap.features, t_tap.features)
    loss.backward()
    optimizer.step()
