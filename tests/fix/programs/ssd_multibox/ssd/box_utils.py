import torch


def point_form(boxes):
    return torch.cat([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], dim=1)


def jaccard(a, b):
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    inter = (rb - lt).clamp(min=0).prod(dim=2)
    area_a, area_b = (a[:, 2:] - a[:, :2]).prod(1), (b[:, 2:] - b[:, :2]).prod(1)
    return inter / (area_a[:, None] + area_b[None, :] - inter)


def match(truths, labels, priors, threshold=0.5):
    overlaps = jaccard(truths, point_form(priors))
    best_prior = overlaps.argmax(dim=1)
    best_overlap, best_truth = overlaps.max(dim=0)
    best_overlap.index_fill_(0, best_prior, 2)
    best_truth.index_copy_(0, best_prior, torch.arange(truths.size(0)))
    conf = labels[best_truth] + 1
    conf[best_overlap < threshold] = 0
    matched = truths[best_truth]
    center = (matched[:, :2] + matched[:, 2:]) / 2 - priors[:, :2]
    size = torch.log((matched[:, 2:] - matched[:, :2]) / priors[:, 2:])
    return torch.cat([center / priors[:, 2:] / 0.1, size / 0.2], dim=1), conf
