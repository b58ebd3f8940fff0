import torch
from ssd.box_utils import jaccard, point_form


@torch.no_grad()
def detect(loc, conf, priors, top_k=3, nms_thresh=0.45):
    output = torch.zeros(loc.size(0), top_k, 5)
    for i in range(loc.size(0)):
        center = priors[:, :2] + loc[i, :, :2] * 0.1 * priors[:, 2:]
        boxes = point_form(torch.cat([center, priors[:, 2:] * torch.exp(loc[i, :, 2:] * 0.2)], dim=1))
        scores = conf[i].softmax(dim=1)[:, 1]
        kept = 0
        for j in scores.argsort(descending=True).tolist():
            if kept and jaccard(boxes[j : j + 1], output[i, :kept, 1:]).max() > nms_thresh:
                continue
            output[i, kept, 0], output[i, kept, 1:] = scores[j], boxes[j]
            kept += 1
            if kept == top_k:
                break
    return output
