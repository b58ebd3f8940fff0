"""What a doctest's example raised, explained with the example's line in its file.

doctest compiles each example by itself, under a name such as `<doctest module.function[2]>`, and forgets its lines when
it has run them. They are brought back while the error is explained, and the names are then replaced by file and line.
"""

import doctest
from dataclasses import replace

from samedevice.doctor import Diagnosis, explain
from samedevice.introspect import source


def explain_example(failure: doctest.UnexpectedException) -> Diagnosis:
    """Explain the error of an example; place and edits are in the file that holds the docstring."""
    test = failure.test
    examples = {f"<doctest {test.name}[{number}]>": example for number, example in enumerate(test.examples)}

    def in_its_file(file: str, line: int) -> tuple[str, int]:
        if file not in examples or test.filename is None or test.lineno is None:
            return file, line
        return test.filename, test.lineno + examples[file].lineno + line

    with source.kept({name: example.source.splitlines(keepends=True) for name, example in examples.items()}):
        diagnosis = explain(failure.exc_info[1])
    place = diagnosis.place
    if place is not None and place.file in examples:
        diagnosis = replace(diagnosis, place=replace(place, function=f"the doctest {test.name}"))
    return diagnosis.relocated(in_its_file)
