import torch
import torch.nn as nn


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, mode="sum")
        self.fc = nn.Linear(embed_dim, num_class)
        self.tables = {}

    def fit_idf(self, sentences, pipeline):
        seen = torch.zeros(self.embedding.num_embeddings)
        for _, text in sentences:
            seen[list(set(pipeline(text)))] += 1
        self.tables["idf"] = torch.log((1 + len(sentences)) / (1 + seen))

    def forward(self, text, offsets):
        embedded = self.embedding(text, offsets, per_sample_weights=self.tables["idf"][text])
        return self.fc(embedded)
