import torch.nn as nn
from crf import CRF


class BiLSTMCRF(nn.Module):
    def __init__(self, vocab, num_tags, dim=12):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=0)
        self.lstm = nn.LSTM(dim, dim, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(2 * dim, num_tags)
        self.crf = CRF(num_tags)

    def feats(self, tokens):
        return self.fc(self.lstm(self.embedding(tokens))[0])

    def loss(self, tokens, tags):
        return self.crf.neg_log_likelihood(self.feats(tokens), tags, tokens != 0)
