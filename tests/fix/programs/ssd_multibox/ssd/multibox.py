import torch
import torch.nn as nn
import torch.nn.functional as F
from ssd.box_utils import match


class MultiBoxLoss(nn.Module):
    def __init__(self, priors, neg_pos=3):
        super().__init__()
        self.priors = priors
        self.neg_pos = neg_pos

    def forward(self, loc, conf, targets):
        pairs = [match(t[:, :4], t[:, 4].long(), self.priors) for t in targets]
        loc_t, conf_t = torch.stack([p[0] for p in pairs]), torch.stack([p[1] for p in pairs])
        pos = conf_t > 0
        loss_l = F.smooth_l1_loss(loc[pos], loc_t[pos], reduction="sum")
        ce = F.cross_entropy(conf.transpose(1, 2), conf_t, reduction="none")
        rank = ce.detach().masked_fill(pos, 0).argsort(dim=1, descending=True).argsort(dim=1)
        num_neg = torch.tensor([[min(self.neg_pos * int(n), pos.size(1) - 1)] for n in pos.sum(1)])
        loss_c = (ce * (pos | (rank < num_neg))).sum()
        return loss_l / pos.sum(), loss_c / pos.sum()
