"""The net of writes to ext3, at sizes that are computed by hand."""

import pytest

from pagecast import petri
from pagecast.petri.nets import path_of

TIMES = {"fwrite_ns": 3, "begin_ns": 2, "copy_l2_ns": 10, "copy_memory_ns": 30, "commit_write_ns": 1}
DISK = {"disk_position_ns": 1000, "disk_page_ns": 100}
CALL = 3 + 2 + 10 + 1
"""A call that makes a page dirty."""
RECORD = 1000 + 100
"""A commit record: the disk goes to the log."""

NET = petri.load(path_of("ext3-write"))


def run(seed=0, **values):
    """Run the net with short times; give the run."""
    return NET.with_values(**{**TIMES, **DISK, "flush_ns": 10**9, **values}).run(seed=seed)


def finished(**values):
    """Give the time at which the closing fsync returns."""
    return run(**values).tokens("Finished")["time"][0]


def occurrences(run, transition):
    """Give how often a transition has occurred."""
    counts = dict(zip(run.transitions["transition"], run.transitions["occurrences"], strict=True))
    return counts[transition]


def test_writes_take_copies_and_the_closing_fsync_takes_the_disk():
    assert finished(file_pages=8) == 8 * CALL + 1000 + 8 * 100 + RECORD


def test_ordered_and_write_back_mode_take_the_same_time():
    for values in ({}, {"dirty_limit_pages": 4}, {"flush_ns": 300}):
        times = {
            mode: finished(file_pages=32, journal_mode=mode, **values) for mode in ("ordered", "writeback")
        }
        assert times["ordered"] == times["writeback"]


def test_a_page_that_is_dirty_is_not_dirtied_again():
    done = run(file_pages=8, requests=24)
    assert done.tokens("Finished")["time"] == [24 * CALL + 1000 + 800 + RECORD]
    assert occurrences(done, "Disk'Write") == 8 + 1


def test_the_data_journal_writes_twice():
    done = run(file_pages=64, journal_mode="data", journal_pages=16)
    logged, written = (occurrences(done, of) for of in ("Flush'Log", "Checkpoint'Written"))
    assert (logged, written) == (64, 64)
    assert occurrences(done, "Flush'Write back") == 0
    assert done.tokens("Finished")["time"][0] > finished(file_pages=64)


def test_a_journal_with_room_is_not_checkpointed():
    done = run(file_pages=64, journal_mode="data", journal_pages=129)
    assert occurrences(done, "Checkpoint'Begin") == 0
    # The commit record follows the log.
    assert done.tokens("Finished")["time"] == [64 * CALL + 1000 + 64 * 100 + 100]


def test_a_checkpoint_begins_at_the_threshold():
    done = {
        part: run(file_pages=64, journal_mode="data", journal_pages=32, checkpoint_part=part)
        for part in (2, 4)
    }
    assert occurrences(done[2], "Checkpoint'Begin") == 64 // 16
    assert occurrences(done[4], "Checkpoint'Begin") == 64 // 24


def test_writers_wait_for_a_checkpoint():
    values = {"file_pages": 64, "journal_mode": "data", "journal_pages": 8, "dirty_limit_pages": 4}
    assert finished(**values) > finished(**{**values, "journal_pages": 1024})


@pytest.mark.parametrize("journal_pages", [4, 64])
def test_the_journal_mode_has_no_effect_in_synchronous_mode(journal_pages):
    values = {"file_pages": 8, "is_synchronous": True, "journal_pages": journal_pages}
    times = {mode: finished(**values, journal_mode=mode) for mode in ("ordered", "writeback", "data")}
    assert set(times.values()) == {8 * (CALL + 1000 + 100 + RECORD)}


def test_a_synchronous_request_is_one_block():
    time = finished(file_pages=8, block_pages=4, is_synchronous=True)
    assert time == 2 * (3 + 4 * (CALL - 3) + 1000 + 400 + RECORD)


def test_writers_wait_at_the_dirty_limit():
    free, limited = finished(file_pages=64), finished(file_pages=64, dirty_limit_pages=8)
    assert limited < free
    net = NET.with_values(**TIMES, **DISK, file_pages=64, dirty_limit_pages=8)
    # 8 pages are dirty after 8 calls; the ninth goes on when the first is written.
    at = [net.run(until=time).tokens("ext3 write'Durable")["value"] for time in (8 * CALL, 8 * CALL + 1100)]
    assert at == [[0], [1]]
    waits = net.run(until=8 * CALL + 1000)
    assert waits.tokens("ext3 write'Call")["value"] == [8]
    assert waits.tokens("ext3 write'Dirty pages")["value"] == [8]


def test_low_memory_flushes_as_the_dirty_limit_does():
    memory, limit = run(file_pages=64, memory_pages=8), run(file_pages=64, dirty_limit_pages=8)
    assert memory.tokens("Finished")["time"] == limit.tokens("Finished")["time"]
    assert occurrences(memory, "Flush triggers'Low memory") > 0
    assert occurrences(memory, "Flush triggers'Too many dirty") == 0


def test_the_timer_flushes_behind_the_program():
    values = {"file_pages": 64, "disk_position_ns": 0, "disk_page_ns": 5}
    done = run(**values, flush_ns=100)
    assert occurrences(done, "Flush triggers'Timer is due") == 64 * CALL // 100
    assert done.time < finished(**values)


@pytest.mark.parametrize(
    ("block_pages", "copy_ns"), [(1, 10), (16, 10), (32, (16 * 10 + 16 * 30) // 32), (64, 25)]
)
def test_copies_of_blocks_beyond_an_eighth_of_l2_are_slower(block_pages, copy_ns):
    time = finished(file_pages=64, block_pages=block_pages)
    assert time == 64 * (3 + copy_ns) + 64 // block_pages * 3 + 1000 + 6400 + RECORD


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("mode", ["ordered", "data"])
def test_the_seed_does_not_change_the_time(seed, mode):
    values = {"file_pages": 64, "requests": 100, "is_random": True, "dirty_limit_pages": 10, "flush_ns": 400}
    values |= {"journal_mode": mode, "journal_pages": 16, "queue_requests": 4}
    one, other = (run(seed=each, **values) for each in (seed, 99))
    assert one.tokens("Finished")["time"] == other.tokens("Finished")["time"]
