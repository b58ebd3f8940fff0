"""Look at the frames of an error that are still alive, and run nothing of the program.

failure          the frames that lead to the error, and the objects that the program holds in them
operands         which tensors met in the failing operation, and which of them are in the wrong place
expected_device  where the value of an expression must be that nobody kept
provenance       where the tensor that a name stands for came from
quoted_frames    frames that are gone, of which the message quotes the text
evidence         all that is known of one tensor in the wrong place
owner            who holds that tensor, in a few words
"""
