from attention_blocks.attention import SelfAttention  # noqa: F401
