"""The tensor on a simulated GPU: how one is made, moved, wrapped for torch.func, and given a class of the program's."""
