"""May these tensors meet? PyTorch's rules for operators whose tensors are on several devices, with its texts."""
