"""What is on which device: `where`, and `picture` of the lessons.

One walker finds the tensors in any object, so that `where`, `picture` and the doctor cannot disagree. What it finds
becomes data, and the data become a table or a drawing.

Nothing of the program runs: samedevice.introspect does the reading.
"""

from samedevice.placement.picture import Picture, picture
from samedevice.placement.where import Where, where

__all__ = ["Picture", "Where", "picture", "where"]
