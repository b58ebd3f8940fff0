"""What would fail next: the rest of the program's functions, read with the devices that are known, and never run.

seen.py        what is known of a value that the reading meets
operations.py  what PyTorch's own functions do with devices
reading.py     expressions and statements, and the program's functions that they call
rest.py        the frames of a failure from their failing lines on
"""
