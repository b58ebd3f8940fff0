"""Why a tensor is where it is, and the line to change: one file for each family of causes.

A file says how each of its causes is detected, what the message is about, and how it is fixed, side by side; it
registers them with `registry.cause(id)`, by their ids in the catalog. What detects or claims a cause has a line in
order.py; nothing else lists it.

    registry        register a cause, and ask all causes which one it is
    order           which cause is asked before which
    rewriting       write the line to change: a statement of the program with another expression in it
    wanted_device   write the device where a tensor is wanted, as the program itself calls it
"""
