"""Read what was pasted: from any text to a message of the catalog, what it names, and the likely causes.

    normalise    make text of whatever was pasted, so that patterns can be matched against it
    traceback    read the frames of a pasted traceback
    match        find the pattern of the catalog that a line holds last
    read         find the message of the catalog in a paste, and what it names
    rank         order the causes that the message can have

It needs no torch. docs/assets/doctor.js is its twin in the browser, on the same catalog.
"""
