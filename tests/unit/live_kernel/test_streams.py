"""The calls of C streams, against a stream that is followed byte by byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagecast.studies.live_kernel.streams import read_call_bytes, written_call_bytes

MIB = 2**20


@pytest.mark.parametrize(
    ("piece", "buffer", "call"),
    [
        (100, 4096, 4096),  # gathered until the buffer is full
        (4096, 4096, 4096),
        (MIB, 0, MIB),  # no buffer
        (MIB, 1, MIB),
    ],
)
def test_small_pieces_are_gathered(piece, buffer, call):
    assert written_call_bytes(size=8 * MIB, piece=piece, buffer=buffer) == call


def test_large_pieces_fill_the_buffer_first():
    # 16 pieces: the first is one call; each later one fills the buffer, which is written, then the rest.
    assert written_call_bytes(size=16 * MIB, piece=MIB, buffer=65536) == 16 * MIB // 31


def test_large_pieces_are_read_at_once():
    assert read_call_bytes(size=8 * MIB, piece=MIB, buffer=65536) == MIB


def test_small_pieces_are_read_by_the_buffer():
    assert read_call_bytes(size=8 * MIB, piece=100, buffer=4096) == 4096


def test_what_fits_into_the_buffer_is_one_call():
    assert written_call_bytes(size=1000, piece=100, buffer=4096) == 1000
    assert written_call_bytes(size=0, piece=100, buffer=4096) == 1


def strace(size, piece, buffer):
    """Follow `_IO_new_file_xsputn` as it is written, and flush at the end: the sizes of its calls."""
    calls, used, end = [], 0, 0  # `_IO_write_end` less the start of the buffer; none is there at first
    for start in range(0, size, piece):
        to_do = min(piece, size - start)
        count = min(end - used, to_do)
        used, to_do = used + count, to_do - count
        if to_do > 0:
            if used:
                calls.append(used)
            used, end = 0, buffer
            if do_write := to_do - (to_do % buffer if buffer >= 128 else 0):
                calls.append(do_write)
            used = to_do - do_write
    return calls + [used] * (used > 0)


@given(size=st.integers(1, 200_000), piece=st.integers(100, 20_000), buffer=st.integers(128, 9000))
def test_the_mean_is_that_of_the_calls_one_by_one(size, piece, buffer):
    calls = strace(size, piece, buffer)
    mean = written_call_bytes(size=size, piece=piece, buffer=buffer)
    assert len(calls) == pytest.approx(size / mean, abs=4, rel=0.02)  # the last piece is shorter
