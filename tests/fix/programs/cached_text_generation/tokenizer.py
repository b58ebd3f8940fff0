import torch


class CharTokenizer:
    def __init__(self, chars):
        self.chars = "\0" + chars

    def __call__(self, texts):
        width = max(len(t) for t in texts)
        ids = [[0] * (width - len(t)) + [self.chars.index(c) for c in t] for t in texts]
        ids = torch.tensor(ids)
        return {"input_ids": ids, "attention_mask": (ids != 0).long()}

    def decode(self, ids):
        return "".join(self.chars[i] for i in ids if i)
