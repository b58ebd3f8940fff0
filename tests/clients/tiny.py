"""Models of the usual kinds, each so small that a step takes milliseconds, and batches for them; all on the CPU.

Without dropout, so that a run on a GPU and one on the CPU give the same numbers.
"""

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
    ViTConfig,
    ViTForImageClassification,
    logging,
)

logging.set_verbosity_error()
logging.disable_progress_bar()

_generator = torch.Generator().manual_seed(0)
IDS = torch.randint(3, 100, (4, 12), generator=_generator)
MASK = (torch.arange(12) < torch.tensor([[12], [8], [5], [12]])).long()
TEXT = {"input_ids": IDS, "attention_mask": MASK}
CLASSES = torch.tensor([0, 1, 0, 1])
IMAGES = torch.randn(4, 3, 16, 16, generator=_generator)


def bert(attention: str = "sdpa") -> PreTrainedModel:
    torch.manual_seed(0)
    return BertForSequenceClassification(
        BertConfig(
            vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
            max_position_embeddings=32, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
            attn_implementation=attention,
        )
    )  # fmt: skip


def llama(attention: str = "sdpa") -> PreTrainedModel:
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            intermediate_size=64, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2,
            attn_implementation=attention,
        )
    )  # fmt: skip


def t5() -> PreTrainedModel:
    torch.manual_seed(0)
    config = T5Config(vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, dropout_rate=0.0)
    config.decoder_start_token_id = 0
    return T5ForConditionalGeneration(config)


def vit(attention: str = "sdpa") -> PreTrainedModel:
    torch.manual_seed(0)
    return ViTForImageClassification(
        ViTConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, image_size=16,
            patch_size=4, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation=attention,
        )
    )  # fmt: skip


def losses(model: PreTrainedModel, batch: dict[str, torch.Tensor], device: str, steps: int = 3) -> list[float]:
    """The loss of each step of a training by hand on `device`."""
    model.to(device).train()
    batch = {name: tensor.to(device) for name, tensor in batch.items()}
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    seen = []
    for _ in range(steps):
        output = model(**batch)
        output.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        seen.append(output.loss.item())
    assert {str(tensor.device) for tensor in (output.loss, output.logits, *model.parameters())} == {device}
    return seen
