"""The end of a log, however long it is: an error stands at the end, and a job may write gigabytes."""

from typing import BinaryIO

_PIECE = 1_000_000  # bytes that are read at once
_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16


def end_of(stream: BinaryIO, most: int) -> tuple[bytes, bool]:
    """Return the last bytes of a stream, and whether something stood before them.

    Args:
        stream: a file, whose end is looked up, or a pipe, which is read to its end while no more is kept.
        most: how many bytes; a mark of UTF-16 at the beginning is kept beside them.

    Raises:
        OSError: the stream cannot be read.

    Example:
        >>> import io
        >>> end_of(io.BytesIO(b"step 1\\nRuntimeError: no"), most=16)
        (b'RuntimeError: no', True)
    """
    mark = stream.read(2)
    end, is_cut = bytearray(mark), False
    if len(mark) == 2 and stream.seekable():
        here = stream.tell()
        begins = max(here, stream.seek(0, 2) - most)
        begins += (begins - here) % 2  # a character of UTF-16 has two bytes
        stream.seek(begins)
        end, is_cut = (bytearray(), True) if begins > here else (end, False)
    while len(mark) == 2 and (piece := stream.read(_PIECE)):
        end += piece
        if (extra := len(end) - most) > 0:
            is_cut = True
            del end[: extra + extra % 2]
        if len(piece) < _PIECE:
            break  # a terminal would wait for more
    return (mark if is_cut and mark in _MARKS else b"") + bytes(end), is_cut
