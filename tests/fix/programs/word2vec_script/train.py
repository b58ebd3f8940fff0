"""Skip-gram with negative sampling on a toy corpus."""
import collections

import torch
import torch.nn as nn
import torch.nn.functional as F

CORPUS = """the king rules the land and the queen rules the land while the farmer works the field
and the miller works the mill the king and the queen eat the bread of the farmer and of the miller""".split()

torch.manual_seed(42)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

counts = collections.Counter(CORPUS)
vocab = [w for w, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
word2idx = {w: i for i, w in enumerate(vocab)}
freqs = torch.tensor([counts[w] for w in vocab], dtype=torch.float)
noise_dist = freqs**0.75 / (freqs**0.75).sum()


class SkipGram(nn.Module):
    def __init__(self, n_vocab, n_embed, noise_dist):
        super().__init__()
        self.noise_dist = noise_dist
        self.in_embed = nn.Embedding(n_vocab, n_embed)
        self.out_embed = nn.Embedding(n_vocab, n_embed)
        self.in_embed.weight.data.uniform_(-0.5, 0.5)
        self.out_embed.weight.data.uniform_(-0.5, 0.5)

    def forward_noise(self, batch_size, n_samples):
        noise_words = torch.multinomial(self.noise_dist, batch_size * n_samples, replacement=True)
        return self.out_embed(noise_words).view(batch_size, n_samples, -1)

    def forward(self, center, context, n_samples=5):
        v = self.in_embed(center)
        positive = F.logsigmoid((v * self.out_embed(context)).sum(1))
        noise = self.forward_noise(center.size(0), n_samples)
        negative = F.logsigmoid(-torch.bmm(noise, v.unsqueeze(2)).squeeze(2)).sum(1)
        return -(positive + negative).mean()


def get_batches(words, batch_size, window=2):
    pairs = [
        (words[i], words[j])
        for i in range(len(words))
        for j in range(max(0, i - window), min(len(words), i + window + 1))
        if i != j
    ]
    for i in range(0, len(pairs), batch_size):
        center, context = zip(*pairs[i : i + batch_size])
        yield torch.tensor(center), torch.tensor(context)


def nearest(model, word, k=3):
    with torch.no_grad():
        weight = F.normalize(model.in_embed.weight, dim=1)
        idx = torch.tensor([word2idx[word]], device=weight.device)
        vector = F.normalize(model.in_embed(idx), dim=1)
        best = (vector @ weight.T).squeeze(0).topk(k + 1).indices[1:]
    return [vocab[i] for i in best.tolist()]


model = SkipGram(len(vocab), 12, noise_dist).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
encoded = [word2idx[w] for w in CORPUS]
smoothed = torch.zeros(1)
for epoch in range(5):
    for center, context in get_batches(encoded, 32):
        loss = model(center.to(device), context.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smoothed.mul_(0.9).add_(loss.detach(), alpha=0.1)
    print(f"epoch {epoch} loss {loss.item():.4f} smoothed {smoothed.item():.4f}")
print("king:", nearest(model, "king"), "the:", nearest(model, "the"))
