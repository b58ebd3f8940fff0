"""What would fail next: the rest of the program's functions, read with the devices that are known, and never run.

seen.py        what is known of a value that the reading meets
operations.py  what PyTorch's own functions do with devices
meetings.py    what was found: where tensors of two devices would meet, and which are to stay
reading.py     expressions
calls.py       calls, of the program's functions too
statements.py  statements
rest.py        the frames of a failure from their failing lines on
"""
