"""Look at the frames of an error that are still alive, and run nothing of the program.

The frames that lead to the error say which tensors met in the failing operation. The one that is not where the others
are is the culprit. What is known of it, such as the statement that made it and the object that holds it, is the
evidence that the causes judge.
"""
