"""Reads the objects, frames and source of a program that is not ours, and runs none of its code.

    classes      the name, the bases and the namespace of a class, whatever its metaclass defines
    exceptions   the message, the cause and the traceback of an exception, whatever its class defines
    objects      what an object holds: attributes, items, tensors, and where a tensor is
    contents     how to look into an object of any class, one level down
    expressions  expressions of the source as text, and text as expressions
    libraries    whose a file is: the program's, PyTorch's, Python's, another library's, or ours
    frames       the frames that lead to an error, each with the expression that failed
    tracebacks   tracebacks without our own frames, and the last error that nobody caught
    bytecode     the statements of a function whose source is not there
    values       what an expression of the source stands for
    origins      the statement that gave a name its value, in its own function
    outside      the same for a global, and for a name of the function around

Nothing here imports another package of samedevice, but for the catalog, which is data: origins asks it what decides the
device of a result.
"""
