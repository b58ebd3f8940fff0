import argparse

import torch
import torch.nn.functional as F
from layers import GraphConvolution
from utils import accuracy, class_weights, load_data

parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true", default=False)
parser.add_argument("--hidden", type=int, default=16)
parser.add_argument("--runs", type=int, default=3)
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()


class GCN(torch.nn.Module):
    def __init__(self, nfeat, nhid, nclass):
        super().__init__()
        self.gc1, self.gc2 = GraphConvolution(nfeat, nhid), GraphConvolution(nhid, nclass)

    def forward(self, x, adj):
        return F.log_softmax(self.gc2(F.relu(self.gc1(x, adj)), adj), dim=1)


adj, features, labels, idx_train, idx_test = load_data()
weights = class_weights(labels, idx_train)
if args.cuda:
    features = features.cuda()
    labels = labels.cuda()
    idx_train, idx_test = idx_train.cuda(), idx_test.cuda()

results = torch.zeros(args.runs, dtype=torch.double)
mean = torch.zeros(1, dtype=torch.double)
for run in range(args.runs):
    torch.manual_seed(run)
    model = GCN(features.size(1), args.hidden, 3)
    if args.cuda:
        model.cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(20):
        output = model(features, adj)
        loss = F.nll_loss(output[idx_train], labels[idx_train], weight=weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    acc = accuracy(model(features, adj)[idx_test], labels[idx_test])
    results[run] = acc
    mean += acc / args.runs
    print(f"run {run} loss {loss.item():.5f} acc {acc.item():.4f}")
print(f"mean {mean.item():.4f} std {results.std().item():.4f}")
