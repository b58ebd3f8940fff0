import torch
from model import create_mask


def init_vars(feats, model, sos, k, max_len):
    device = feats.device
    log_probs = model(feats, torch.full((1, 1), sos, device=device), create_mask(1).to(device))[:, -1].log_softmax(-1)
    scores, ix = log_probs.topk(k)
    outputs = torch.zeros(k, max_len).long()
    outputs[:, 0] = sos
    outputs[:, 1] = ix[0]
    return outputs, scores


def k_best_outputs(outputs, log_probs, scores, i, k):
    probs, ix = log_probs.topk(k)
    total = probs + scores.transpose(0, 1)
    best, flat = total.view(-1).topk(k)
    row, col = flat // k, flat % k
    outputs[:, :i] = outputs[row, :i]
    outputs[:, i] = ix[row, col]
    return outputs, best.unsqueeze(0)


@torch.no_grad()
def beam_search(feats, model, sos=1, eos=2, k=3, max_len=10):
    outputs, scores = init_vars(feats, model, sos, k, max_len)
    for i in range(2, max_len):
        tokens = outputs[:, :i]
        log_probs = model(feats.expand(k, -1), tokens, create_mask(i).to(tokens.device))[:, -1].log_softmax(-1)
        outputs, scores = k_best_outputs(outputs, log_probs, scores, i, k)
        ends = (outputs == eos).long()
        lengths = torch.full((k,), float(i))
        found = ends.sum(dim=1) > 0
        lengths = torch.where(found, ends.argmax(dim=1).float(), lengths)
        if found.all():
            break
    best = (scores[0] / lengths**0.7).argmax().item()
    sentence = outputs[best].tolist()
    return sentence[1 : int(lengths[best])], round(scores[0, best].item(), 4)
