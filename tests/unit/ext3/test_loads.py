"""The generated traces: a random start that becomes sequential, with blocks of mixed sizes."""

from itertools import pairwise

import pytest

from pagecast.studies.ext3.loads import FILE_KIB, REQUESTS, TRACES, trace


@pytest.mark.parametrize("number", TRACES)
def test_a_trace_begins_at_random_and_becomes_sequential(number):
    requests = trace(number)
    assert len(requests) == REQUESTS
    assert all(one.offset_bytes + one.size_bytes <= FILE_KIB * 1024 for one in requests)
    assert {one.size_bytes // 1024 for one in requests} == {4, 8, 16, 32, 64}
    follows = [
        after.offset_bytes == before.offset_bytes + before.size_bytes for before, after in pairwise(requests)
    ]
    start = REQUESTS // 4
    assert sum(follows[: start - 1]) <= 2
    assert all(follows[start:]) or follows[start:].count(False) == 1  # where the file begins again


def test_a_trace_is_the_same_each_time_and_each_is_another():
    assert trace(1) == trace(1)
    assert trace(1) != trace(2)
