"""What else makes device errors show without a GPU, asked the same questions as `simulate_cuda`."""
