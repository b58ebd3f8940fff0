"""What is on which device: `where`, and `picture` of the lessons.

    where        the public function: a table and a picture of what modules, optimizers and batches hold
    picture      the lessons' function: the same as a drawing, with a verdict on a call
    walk         the one walker that finds the tensors in any object, for all of these
    places       what the walker says of each tensor: what holds it, and the code that reaches it
    rows         what `where` says of one object, of many tensors in a few rows
    holders      how a module or an optimizer holds a tensor, and whether `.to()` moves it
    model        where things are, as data and as text
    drawing      the same as a picture

Nothing of the program runs: see samedevice.introspect, the only package of ours that this one imports.
"""

from samedevice.placement.picture import Picture, picture
from samedevice.placement.where import Where, where

__all__ = ["Picture", "Where", "picture", "where"]
