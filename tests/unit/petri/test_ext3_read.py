"""The net of reads from ext3, at sizes that are computed by hand."""

import pytest

from pagecast import petri
from pagecast.petri.nets import path_of

TIMES = {"fread_ns": 3, "look_up_ns": 2, "copy_l2_ns": 10, "copy_memory_ns": 30}
DISK = {"disk_position_ns": 1000, "disk_page_ns": 100}
CALL = 3 + 2 + 10
"""A call that reads a cached page."""

NET = petri.load(path_of("ext3-read"))


def run(seed=0, **values):
    """Run the net with short times; give the run."""
    return NET.with_values(**TIMES, **DISK, **{"ageing_ns": 10**9, **values}).run(seed=seed)


def finished(**values):
    """Give the time at which the program has read all."""
    return run(**values).tokens("Finished")["time"][0]


def occurrences(run, transition):
    """Give how often a transition has occurred."""
    counts = dict(zip(run.transitions["transition"], run.transitions["occurrences"], strict=True))
    return counts[transition]


def test_a_cold_read_takes_the_sum_of_disk_and_copies():
    assert finished(file_pages=8, prefetch_pages=1) == 1000 + 8 * (100 + CALL)


def test_a_second_read_takes_copies_only():
    once = finished(file_pages=8, requests=8)
    assert finished(file_pages=8, requests=16) - once == 8 * CALL


def test_a_cached_file_takes_copies_only():
    done = run(file_pages=8, cached_pages=8)
    assert done.time == 8 * CALL
    assert occurrences(done, "Disk'Position") == 0


def test_a_file_beyond_the_cache_is_read_again_from_the_disk():
    done = run(file_pages=8, cache_pages=7, prefetch_pages=1, requests=16)
    assert occurrences(done, "Disk'Transfer page") == 16
    assert occurrences(run(file_pages=8, cache_pages=8, requests=16), "Disk'Transfer page") == 8


def test_prefetch_hides_copies_behind_the_disk():
    # The last page of each window is copied while the disk has nothing to do.
    assert finished(file_pages=8, prefetch_pages=4) == 1000 + 8 * 100 + 2 * CALL


def test_prefetch_ends_at_a_page_that_is_cached():
    done = run(file_pages=8, cached_pages=2, requests=8, prefetch_pages=8, cache_pages=8)
    assert occurrences(done, "Disk'Transfer page") == 6
    random = run(file_pages=8, is_random=True, requests=1, first_random=6, cached_pages=0)
    assert occurrences(random, "Disk'Transfer page") == 2


def test_a_random_pattern_prefetches_the_minimum():
    done = run(file_pages=64, block_pages=1, is_random=True, requests=1, random_prefetch_pages=4)
    assert occurrences(done, "Disk'Transfer page") == 4


def test_random_places_cost_a_position_each():
    done = run(file_pages=4096, is_random=True, requests=10, random_prefetch_pages=1)
    assert done.time == 10 * (1000 + 100 + CALL)


@pytest.mark.parametrize(
    ("block_pages", "copy_ns"), [(1, 10), (16, 10), (32, (16 * 10 + 16 * 30) // 32), (64, 25)]
)
def test_copies_of_blocks_beyond_an_eighth_of_l2_are_slower(block_pages, copy_ns):
    time = finished(file_pages=64, cached_pages=64, block_pages=block_pages)
    assert time == 64 * (2 + copy_ns) + 64 // block_pages * 3


def test_the_first_access_sets_a_flag_and_the_second_moves_the_page():
    first = run(file_pages=2, cached_pages=2, requests=1)
    assert first.marking["Page cache'Inactive list"] == "1`(0,0,true,false)++1`(1,1,false,false)"
    second = run(file_pages=2, cached_pages=2, requests=3)
    assert second.marking["Page cache'Inactive list"] == "1`(1,1,true,false)"
    assert second.marking["Page cache'Active list"] == "1`(0,0,true,true)"


def test_ageing_clears_the_flag_of_a_page_that_was_accessed():
    # The random numbers from 0 on are all 0: page 0 is read every 15 ns, and is active from 20 on.
    net = NET.with_values(**TIMES, **DISK, file_pages=64, cached_pages=64, ageing_ns=40)
    net = net.with_values(requests=9, is_random=True, first_random=0)
    before, after = (net.run(until=time).tokens("Page cache'Active list")["value"] for time in (39, 40))
    assert (before, after) == ([(0, 0, True, True)], [(1, 0, False, True)])


def test_a_page_without_access_for_the_time_of_ageing_is_inactive_again():
    values = {"file_pages": 4, "cached_pages": 4, "requests": 8, "blocks": 4}
    early, late = (run(**values, ageing_ns=time) for time in (25, 10**6))
    assert occurrences(early, "Ageing'Not accessed") > 0
    assert occurrences(late, "Ageing'Not accessed") == 0
    assert len(late.tokens("Page cache'Active list")["value"]) == 4


def test_reclaim_takes_inactive_pages_first():
    # The program reads pages 1, 3, 3, 3, 5, 2, 2, 2, 3.
    done = run(file_pages=6, cache_pages=3, random_prefetch_pages=1, is_random=True, requests=9)
    assert occurrences(done, "Insert and reclaim'Reclaim inactive") > 0
    assert occurrences(done, "Insert and reclaim'Reclaim active") == 0
    assert [page for _, page, _, _ in done.tokens("Page cache'Active list")["value"]] == [3, 2]


def test_active_pages_are_reclaimed_when_no_others_are_left():
    # The memory is one page; the program reads page 1 once and page 3 twice, and then others.
    done = run(file_pages=6, cache_pages=1, random_prefetch_pages=1, is_random=True, requests=30)
    assert occurrences(done, "Insert and reclaim'Reclaim active") > 0


@pytest.mark.parametrize("seed", range(5))
def test_the_seed_does_not_change_the_time(seed):
    values = {"file_pages": 32, "block_pages": 2, "cache_pages": 20, "requests": 40, "prefetch_pages": 8}
    net = NET.with_values(**TIMES, **DISK, **values, ageing_ns=700)
    assert net.run(seed=seed).tokens("Finished")["time"] == net.run(seed=99).tokens("Finished")["time"]
