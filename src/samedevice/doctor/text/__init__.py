"""Read what was pasted: from any text to a message of the catalog, what it names, and the likely causes.

The paste becomes plain text, the frames of a traceback are read from it, the last message of the catalog in it is
found, and then its causes are put in order: by what the message names, and by what the failing line says.

It needs no torch. docs/assets/doctor.js is its twin in the browser, on the same catalog.
"""
