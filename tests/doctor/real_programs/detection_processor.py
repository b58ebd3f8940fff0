# culprit: target["boxes"]
# cause: target_not_moved | input_not_moved
import torch
from torch import nn
import torch.nn.functional as F


class ImageProcessor:
    def __init__(self, size=16):
        self.size = size

    def __call__(self, images, annotations):
        pixels = torch.stack([F.interpolate(im[None], self.size)[0] for im in images])
        labels = [{"boxes": a.float() / self.size, "image_id": i} for i, a in enumerate(annotations)]
        return {"pixel_values": pixels, "labels": labels, "source": "train"}


class BoxHead(nn.Module):
    def __init__(self, queries=4):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 4, stride=4)
        self.out = nn.Linear(8, queries * 4)

    def forward(self, pixel_values):
        pooled = self.stem(pixel_values).mean((2, 3))
        return self.out(pooled).sigmoid().view(len(pixel_values), -1, 4)


def box_loss(pred_boxes, labels):
    total = pred_boxes.sum() * 0
    for pred, target in zip(pred_boxes, labels):
        n = len(target["boxes"])
        total = total + F.l1_loss(pred[:n], target["boxes"])
    return total / len(labels)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    processor, model = ImageProcessor(), BoxHead().to(device)
    images = [torch.rand(3, 20, 24), torch.rand(3, 18, 18)]
    boxes = [torch.randint(0, 16, (2, 4)), torch.randint(0, 16, (3, 4))]
    batch = processor(images, boxes)
    batch = {k: v.to(device) if torch.is_tensor(v) else v for k, v in batch.items()}
    loss = box_loss(model(batch["pixel_values"]), batch["labels"])
    loss.backward()
