"""Reads the objects of a program that is not ours, and runs none of its code.

    classes      the name, the bases and the namespace of a class, whatever its metaclass defines
    exceptions   the message, the cause and the traceback of an exception, whatever its class defines

Nothing here imports another package of samedevice.
"""
