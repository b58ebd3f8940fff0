"""Lines that raise device errors, drawn at random, and the properties that the text doctor must hold on them.

A case is a small program. Everything in it is on cuda:0, except one tensor: the culprit, which the drawing knows. The
program really runs on simulated GPUs and really raises; its traceback is pasted in the forms that readers paste. Then
the doctor's answer is judged. The same seed draws the same programs.

The rules here are PyTorch's, and none is the doctor's: whoever changes one of the two must not look at the other.
"""
