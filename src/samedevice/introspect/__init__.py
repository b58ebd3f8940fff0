"""Read the objects, frames and source of a program that is not ours, and run none of its code.

A class, an exception or an object of the program may define any special method as code, which could wait, raise or end
the process. So each of them is read from Python's own slots, and source is parsed, never imported or evaluated.

Nothing here imports another package of samedevice, but for the data of the catalog.
"""
