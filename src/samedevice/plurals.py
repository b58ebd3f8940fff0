"""Numbers with their nouns."""


def counted(number: int, noun: str) -> str:
    """Write a number and its noun, in the plural unless the number is one.

    Example:
        >>> counted(1, "real GPU"), counted(2, "tensor")
        ('1 real GPU', '2 tensors')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
