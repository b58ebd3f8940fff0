# culprit: beam_scores | beam_scores[:, None]
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab=20, dim=8):
        super().__init__()
        self.emb, self.rnn, self.out = (
            nn.Embedding(vocab, dim),
            nn.GRU(dim, dim, batch_first=True),
            nn.Linear(dim, vocab),
        )

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0][:, -1])

    @property
    def device(self):
        return self.out.weight.device


@torch.no_grad()
def beam_search(model, prompt, num_beams=3, max_new_tokens=4):
    batch = prompt.size(0)
    ids = prompt.repeat_interleave(num_beams, 0)
    beam_scores = torch.full((batch, num_beams), -1e9)
    beam_scores[:, 0] = 0.0
    beam_scores = beam_scores.view(-1)
    offset = torch.arange(batch, device=ids.device).unsqueeze(1) * num_beams
    for _ in range(max_new_tokens):
        log_probs = model(ids).log_softmax(-1)
        scores = log_probs + beam_scores[:, None]
        vocab = scores.size(-1)
        beam_scores, index = scores.view(batch, -1).topk(num_beams, 1)
        parents = (index // vocab + offset).view(-1)
        ids = torch.cat([ids[parents], (index % vocab).view(-1, 1)], 1)
        beam_scores = beam_scores.view(-1)
    return ids.view(batch, num_beams, -1)[:, 0]


def main():
    model = Decoder().to("cuda").eval()
    return beam_search(model, torch.randint(0, 20, (2, 3)).to(model.device))
