# culprit: c[i] | c | valid[i] | valid
# cause: index_on_wrong_device
import torch
from torch import nn


class Matcher(nn.Module):
    def __init__(self, cost_class=1.0, cost_bbox=5.0):
        super().__init__()
        self.cost_class, self.cost_bbox = cost_class, cost_bbox

    @torch.no_grad()
    def forward(self, outputs, targets):
        b, q = outputs["pred_logits"].shape[:2]
        prob = outputs["pred_logits"].flatten(0, 1).softmax(-1)
        boxes = outputs["pred_boxes"].flatten(0, 1)
        tgt_ids = torch.cat([t["labels"] for t in targets])
        tgt_boxes = torch.cat([t["boxes"] for t in targets])
        cost = -self.cost_class * prob[:, tgt_ids] + self.cost_bbox * torch.cdist(boxes, tgt_boxes, p=1)
        cost = cost.view(b, q, -1).cpu()
        valid = prob.view(b, q, -1)[..., -1] < 0.9
        sizes = [len(t["labels"]) for t in targets]
        return [c[i][valid[i]].argmin(0) for i, c in enumerate(cost.split(sizes, -1))]


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(6, 8))
        self.cls, self.box = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, feats):
        h = feats.mean(1, keepdim=True) + self.queries
        return {"pred_logits": self.cls(h), "pred_boxes": self.box(h).sigmoid()}


def main():
    device = torch.device("cuda")
    model, matcher = Detector().to(device), Matcher()
    targets = [
        {"labels": torch.tensor([0, 2]), "boxes": torch.rand(2, 4)},
        {"labels": torch.tensor([1]), "boxes": torch.rand(1, 4)},
    ]
    targets = [{k: v.to(device) for k, v in t.items()} for t in targets]
    return matcher(model(torch.randn(2, 5, 8, device=device)), targets)
