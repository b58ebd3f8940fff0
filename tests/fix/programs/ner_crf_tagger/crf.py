import torch
import torch.nn as nn

START, STOP = 0, 1


class CRF(nn.Module):
    def __init__(self, num_tags):
        super().__init__()
        self.num_tags = num_tags
        self.transitions = nn.Parameter(0.1 * torch.randn(num_tags, num_tags))

    def _forward_alg(self, feats, mask):
        alpha = feats[:, 0] + self.transitions[START]
        for t in range(1, feats.size(1)):
            scores = alpha.unsqueeze(2) + self.transitions + feats[:, t].unsqueeze(1)
            alpha = torch.where(mask[:, t, None], torch.logsumexp(scores, dim=1), alpha)
        return torch.logsumexp(alpha + self.transitions[:, STOP], dim=1)

    def _score_sentence(self, feats, tags, mask):
        batch = feats.size(0)
        score = torch.zeros(batch)
        previous = torch.full((batch,), START, device=feats.device)
        for t in range(feats.size(1)):
            emit = feats[:, t].gather(1, tags[:, t, None]).squeeze(1)
            score = score + (self.transitions[previous, tags[:, t]] + emit) * mask[:, t]
            previous = torch.where(mask[:, t], tags[:, t], previous)
        return score + self.transitions[previous, STOP]

    def neg_log_likelihood(self, feats, tags, mask):
        return (self._forward_alg(feats, mask) - self._score_sentence(feats, tags, mask)).mean()

    @torch.no_grad()
    def viterbi_decode(self, feats):
        backpointers = []
        forward_var = torch.full((self.num_tags,), -10000.0)
        forward_var[START] = 0
        for feat in feats:
            best, ids = (forward_var.unsqueeze(1) + self.transitions).max(dim=0)
            forward_var = best + feat
            backpointers.append(ids.tolist())
        best_tag = int((forward_var + self.transitions[:, STOP]).argmax())
        path = [best_tag]
        for ids in reversed(backpointers[1:]):
            path.append(ids[path[-1]])
        return path[::-1]
