"""The standard cases: the study understands each, and their sizes follow the guest."""

import pytest

from bed.cases import CASES, MEMORY, Scale, text_of
from pagecast.studies.live_kernel.case import parse
from pagecast.studies.live_kernel.program import translate

SCALE = Scale.of(2048, 20)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("scale", [SCALE, Scale.of(768, 5), Scale.of(2048, 20, cgroup_mib=256)])
def test_the_study_understands_every_case(name, scale):
    case = parse(text_of(name, scale), name=name, origin=name)
    assert translate(case).line_of["p0"]


@pytest.mark.parametrize("name", CASES)
def test_every_file_that_a_case_makes_is_gone_at_its_end(name):
    """The next repetition begins with an empty disk."""
    lines = [line.split() for line in text_of(name, SCALE).splitlines()]
    made = {words[2] for words in lines if words[0] == "open" and "c" in words[3]}
    removed = [words[1] for words in lines if words[0] == "unlink"]
    assert set(removed) == made
    assert len(removed) == len(made)


def test_sizes_follow_memory_and_dirty_ratio():
    # 2048 MiB less 220 for the kernel; a fifth of it is the dirty limit.
    assert Scale.of(2048, 20) == Scale(limit_mib=364, cache_mib=1828)
    assert Scale.of(2048, 5).limit_mib == 88
    assert Scale.of(2048, 20, cgroup_mib=512) == Scale(limit_mib=100, cache_mib=512)
    assert "write 0 0 728m 1m" in text_of("a_seqwrite", SCALE)


def test_writers_share_twice_the_dirty_limit():
    for count in (2, 4, 8):
        text = text_of(f"f{count}_writers", SCALE)
        assert text.count(f"write 0 0 {728 // count // 4 * 4}m 1m") == count


def test_random_calls_touch_every_block_once_in_an_order_that_is_always_the_same():
    text = text_of("i_random", SCALE)
    calls = [line.split() for line in text.splitlines() if line.endswith(" 64k 64k")]
    offsets = [int(offset[:-1]) for kind, _, offset, *_ in calls if kind == "write"]
    assert sorted(offsets) == list(range(0, len(offsets) * 64, 64))
    assert offsets != sorted(offsets)
    assert text == text_of("i_random", SCALE)


def test_calibration_is_the_first_case():
    assert next(iter(CASES)) == MEMORY
