import numpy as np
import torch


@torch.no_grad()
def extract(model, images, use_cuda):
    features, labels = [], []
    for x, y in images:
        if use_cuda:
            x = x.cuda()
        features.append(torch.nn.functional.normalize(model(x), dim=1))
        labels.append(y)
    return torch.cat(features), torch.cat(labels)


def cmc(model, query, gallery, use_cuda, topk=3):
    model.eval()
    qf, q_ids = extract(model, query, use_cuda)
    gf, g_ids = extract(model, gallery, use_cuda)
    distmat = 1 - qf @ gf.t()
    indices = np.argsort(distmat.numpy(), axis=1)
    matches = (g_ids.numpy()[indices] == q_ids.numpy()[:, None]).astype(np.int32)
    first = matches.argmax(axis=1)
    return [float((first <= r).mean()) for r in range(topk)], float(distmat.mean())
