# culprit: self.hidden
# cause: hidden_state_not_moved | tensor_created_in_forward_without_device
import torch
from torch import nn


class LSTMTagger(nn.Module):
    def __init__(self, embedding_dim, hidden_dim, vocab_size, tagset_size):
        super(LSTMTagger, self).__init__()
        self.hidden_dim = hidden_dim
        self.word_embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, batch_first=True)
        self.hidden2tag = nn.Linear(hidden_dim, tagset_size)

    def init_hidden(self, batch_size):
        return (torch.zeros(1, batch_size, self.hidden_dim),
                torch.zeros(1, batch_size, self.hidden_dim))

    def forward(self, inputs):
        self.hidden = self.init_hidden(inputs.size(0))
        embeds = self.word_embeddings(inputs)
        lstm_out, self.hidden = self.lstm(embeds, self.hidden)
        return self.hidden2tag(lstm_out)


def main():
    for dev in ("cuda", "cpu"):
        model = LSTMTagger(4, 6, 10, 3).to(dev)
        out = model(torch.randint(0, 10, (2, 5), device=dev))
        assert out.device.type == dev
        assert "hidden" not in dict(model.named_buffers())
