"""Code in few colours: text in the colour of plain text is not wrapped in an element of its own.

Pygments makes an element of every name, operator and bracket. Without those a lesson has half the elements, which the
browser need not lay out and nobody need download.
"""

from pygments.token import STANDARD_TYPES, Name, Operator, Punctuation, Whitespace

_PLAIN = (Name, Operator, Punctuation, Whitespace)


def use_few_colours() -> None:
    """Let Pygments, in this process, leave the tokens that are to look like text as text."""
    STANDARD_TYPES.update(dict.fromkeys(_PLAIN, ""))
