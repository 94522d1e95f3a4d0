"""The nets of ext3 whose program is a list of calls, beside the shipped ones and by hand."""

import pytest

from pagecast.petri.nets.calls import Call
from pagecast.petri.nets.ext3_read import ext3_read
from pagecast.petri.nets.ext3_write import ext3_write

COPY_NS, LOOK_UP_NS, FREAD_NS = 5300, 500, 500


def finished(net, **values):
    """Give the time at which a net has finished."""
    return net.with_values(**values).run().tokens("Finished")["time"][0]


def in_order(blocks, pages):
    """Give calls one behind the other."""
    return [Call(pages * at, pages * (at + 1)) for at in range(blocks)]


@pytest.mark.parametrize("pages", [1, 8, 32])
def test_calls_in_order_take_the_time_of_blocks(pages):
    for listed, shipped, ends in ((ext3_read, ext3_read(), []), (ext3_write, ext3_write(), [Call(0, 0)])):
        expected = finished(shipped, file_pages=8 * pages, block_pages=pages)
        assert finished(listed([*in_order(8, pages), *ends]), file_pages=8 * pages) == expected


def test_a_token_says_when_each_call_has_ended():
    net = ext3_read([Call(0, 1), Call(1, 3, before_ns=1000), Call(0, 1)])
    ended = net.with_values(file_pages=3, cached_pages=3).run().tokens("Ended")
    one, two = (FREAD_NS + pages * (LOOK_UP_NS + COPY_NS) for pages in (1, 2))
    assert sorted(ended["time"]) == [0, one, one + 1000 + two, 2 * one + 1000 + two]


def test_a_large_call_copies_slower_than_a_small_one():
    """Copies of up to an eighth of L2, here 4 pages, take the time of L2."""
    net = ext3_read([Call(0, 4), Call(0, 8)])
    values = {"l2_bytes": 8 * 4 * 4096, "fread_ns": 0, "look_up_ns": 0}
    start, small, large = sorted(
        net.with_values(file_pages=8, cached_pages=8, copy_memory_ns=9300, **values)
        .run()
        .tokens("Ended")["time"]
    )
    assert (start, small, large - small) == (0, 4 * 5300, 4 * 5300 + 4 * 9300)


def test_an_fsync_between_writes_waits_for_its_own_pages():
    values = {"file_pages": 2, "disk_position_ns": 0, "disk_page_ns": 1000}
    both = finished(ext3_write([Call(0, 1), Call(1, 2), Call(0, 0)]), **values)
    each = finished(ext3_write([Call(0, 1), Call(0, 0), Call(1, 2), Call(0, 0)]), **values)
    assert each - both == 1000, "one commit record more"


def test_an_fsync_of_nothing_takes_no_time():
    assert finished(ext3_write([Call(0, 0)]), file_pages=1) == 0
