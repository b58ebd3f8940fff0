# culprit: image_embeds
# cause: split_model_activation_not_moved
import torch
from torch import nn


class VisionTower(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, 8, stride=8)

    def forward(self, pixels):
        return self.patch(pixels).flatten(2).transpose(1, 2)


class LanguageModel(nn.Module):
    def __init__(self, vocab=50, dim=24):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.block = nn.TransformerEncoderLayer(dim, 4, 32, batch_first=True)
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(self, inputs_embeds):
        return self.lm_head(self.block(inputs_embeds))


class VisionLanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision = VisionTower().to("cuda:0")
        self.projector = nn.Linear(16, 24).to("cuda:0")
        self.language = LanguageModel().to("cuda:1")

    def forward(self, pixel_values, input_ids):
        image_embeds = self.projector(self.vision(pixel_values.to("cuda:0")))
        text_embeds = self.language.embed_tokens(input_ids.to("cuda:1"))
        inputs_embeds = torch.cat([image_embeds, text_embeds], dim=1)
        return self.language(inputs_embeds)


def main():
    model = VisionLanguageModel()
    logits = model(torch.rand(2, 3, 16, 16), torch.randint(0, 50, (2, 6)))
    return logits[:, -1].argmax(-1)
