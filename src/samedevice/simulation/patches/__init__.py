"""What stands in for PyTorch's own modules while a simulation runs: torch.cuda, torch.nn and others."""
