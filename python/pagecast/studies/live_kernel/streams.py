"""How large the calls of a C stream are, on average, for a program that reads or writes in pieces.

Source: glibc 2.40, ``libio/fileops.c``: `_IO_new_file_xsputn` and `_IO_file_xsgetn`. The bytes that a piece
leaves in the buffer decide on the next one, so pieces are followed one by one. Left out: the program's cost
of copying to and from the buffer.
"""

from typing import Final

__all__ = ["read_call_bytes", "written_call_bytes"]

_ENOUGH_PIECES: Final = 4096
"""So many are followed; the pattern has repeated itself by then, for all buffers that are in use."""

_LEAST_BLOCK: Final = 128
"""Of a smaller buffer, calls need not be multiples."""


def written_call_bytes(*, size: int, piece: int, buffer: int) -> int:
    """Say how many bytes a write(2) has on average.

    Parameters
    ----------
    size : int
        Bytes in all.
    piece : int
        Bytes of an fwrite(3).
    buffer : int
        Of setvbuf(3); 0 or 1 is none.

    Returns
    -------
    int
        At least 1.
    """
    piece = min(max(piece, 1), max(size, 1))
    if buffer <= 1:
        return piece
    calls, moved, used, room = 0, 0, 0, 0  # a stream has no buffer before its first piece
    for _ in range(min(-(-size // piece), _ENOUGH_PIECES)):
        filled = min(room, piece)
        used += filled
        left = piece - filled
        if left > 0:
            calls += used > 0
            direct = left - (left % buffer if buffer >= _LEAST_BLOCK else 0)
            calls += direct > 0
            moved += used + direct
            used = left - direct
        room = buffer - used
    return _mean(moved, calls, whole=min(buffer, size))


def read_call_bytes(*, size: int, piece: int, buffer: int) -> int:
    """Say how many bytes a read(2) has on average; parameters as of `written_call_bytes`, of fread(3)."""
    piece = min(max(piece, 1), max(size, 1))
    if buffer <= 1:
        return piece
    calls, moved, kept = 0, 0, 0
    for _ in range(min(-(-size // piece), _ENOUGH_PIECES)):
        taken = min(kept, piece)
        kept -= taken
        left = piece - taken
        if left >= buffer:
            direct = left - (left % buffer if buffer >= _LEAST_BLOCK else 0)
            calls += 1
            moved += direct
            left -= direct
        if left > 0:
            calls += 1
            moved += buffer
            kept = buffer - left
    return _mean(moved, calls, whole=min(buffer, size))


def _mean(moved: int, calls: int, *, whole: int) -> int:
    """Give the mean call; `whole` where all pieces fit into the buffer."""
    return max(moved // calls if calls else whole, 1)
