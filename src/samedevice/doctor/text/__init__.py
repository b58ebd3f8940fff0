"""Read what was pasted: from any text to a message of the catalog, and to what can be in the wrong place.

The paste becomes plain text (normalise.py), its frames are read (traceback.py), and so is the last message of the
catalog in it (read.py, match.py). Then what can it be? refusing.py finds the operations of the failing line that could
raise this message, accused.py those of their operands that the message leaves, and candidates.py what each operand
stands for. What is left is named (answer.py), with the change that moves it (changes.py), and whose
code failed, where it is not the reader's (whose.py). The message, the line and the whole text put the causes in order
(rank.py).

It needs no torch. docs/assets/doctor.js is its twin in the browser, on the same catalog.
"""
