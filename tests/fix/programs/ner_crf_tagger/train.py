import torch
from model import BiLSTMCRF

VOCAB, TAGS = 20, 5


def make_batch(n, length=7):
    tokens = torch.randint(1, VOCAB, (n, length))
    tags = 2 + tokens % 3
    for i in range(n):
        tokens[i, length - i % 3 :] = 0
    return tokens, tags


def categorical_accuracy(preds, y, mask):
    correct = (preds.argmax(dim=-1) == y)[mask]
    return correct.sum() / torch.FloatTensor([correct.shape[0]])


def main():
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = BiLSTMCRF(VOCAB, TAGS).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    for step in range(1, 13):
        tokens, tags = (t.to(device) for t in make_batch(12))
        loss = model.loss(tokens, tags)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        if step % 4 == 0:
            model.eval()
            with torch.no_grad():
                acc = categorical_accuracy(model.feats(tokens), tags, tokens != 0)
                paths = [model.crf.viterbi_decode(f[: int((t != 0).sum())]) for f, t in zip(model.feats(tokens), tokens)]
            hits = sum(p == g[: len(p)].tolist() for p, g in zip(paths, tags))
            print(f"step {step} loss {loss.item():.4f} acc {acc.item():.4f} whole sentences {hits}/12")
            model.train()


if __name__ == "__main__":
    main()
