"""Which GPUs there are, and what one keeps for itself: its streams, generator, blocks of memory and settings."""
