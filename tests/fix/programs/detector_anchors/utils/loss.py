import torch
import torch.nn as nn
import torch.nn.functional as F


class ComputeLoss:
    def __init__(self, model, cls_weights):
        self.det = model.detect
        self.bce_cls = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(cls_weights))
        self.bce_obj = nn.BCEWithLogitsLoss()
        self.anchor_t = 4.0

    def __call__(self, p, targets):
        tcls, tbox, indices, which = self.build_targets(p, targets)
        b, a, gj, gi = indices
        tobj = torch.zeros_like(p[..., 0])
        ps = p[b, a, gj, gi]
        lbox = F.smooth_l1_loss(ps[:, :4], tbox)
        lcls = self.bce_cls(ps[:, 5:], F.one_hot(tcls, self.det.nc).float())
        tobj[b, a, gj, gi] = 1.0
        return lbox + self.bce_obj(p[..., 4], tobj) + lcls, which

    def build_targets(self, p, targets):
        gain = torch.ones(6)
        gain[2:6] = torch.tensor(p.shape)[[3, 2, 3, 2]]
        t = targets * gain
        matches, from_which_layer = [], []
        for i in range(self.det.na):
            r = t[:, 4:6] / self.det.anchors[i]
            j = torch.max(r, 1.0 / r).max(dim=1).values < self.anchor_t
            b = t[j, 0].long()
            a = torch.full_like(b, i)
            matches.append(torch.cat([t[j], a[:, None].float()], dim=1))
            from_which_layer.append(torch.ones(size=(len(b),)) * i)
        m = torch.cat(matches)
        order = torch.argsort(m[:, 0] * self.det.na + torch.cat(from_which_layer), stable=True)
        m = m[order]
        b, c, a = m[:, 0].long(), m[:, 1].long(), m[:, 6].long()
        gij = m[:, 2:4].long()
        tbox = torch.cat([m[:, 2:4] - gij, m[:, 4:6]], dim=1)
        return c, tbox, (b, a, gij[:, 1], gij[:, 0]), a
