"""Operations: what they take, how they look, and what they refuse."""

from pathlib import PurePosixPath

import numpy as np
import pytest

import pagecast as pc
from pagecast.errors import ScenarioError


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        (pc.read("/data/f"), "<read /data/f>"),
        (pc.read("/data/f", size_bytes=20e9), "<read /data/f 20 GB>"),
        (pc.write("/data/f", size_bytes=4096), "<write /data/f 4.1 kB>"),
        (pc.open("/data/f", create=True), "<open /data/f>"),
        (pc.open("/data/f", flags=["O_DIRECT"]), "<open /data/f>"),
        (pc.fsync("/data/f"), "<fsync /data/f>"),
        (pc.fdatasync("/data/f"), "<fdatasync /data/f>"),
        (pc.sync(), "<sync>"),
        (pc.syncfs("/data"), "<syncfs /data>"),
        (pc.sync_file_range("/data/f", flags=["WRITE"]), "<sync_file_range /data/f>"),
        (pc.readahead("/data/f", size_bytes=1e6), "<readahead /data/f>"),
        (pc.copy("/data/f", "/data/g", by="sendfile"), "<copy /data/f /data/g>"),
        (pc.copy("/data/f", "/data/g", by="read_write", size_bytes=1e6), "<copy /data/f /data/g 1 MB>"),
        (pc.mmap("/data/f"), "<mmap /data/f>"),
        (pc.munmap("/data/f"), "<munmap /data/f>"),
        (pc.mmap_read("/data/f", advice="random"), "<mmap_read /data/f>"),
        (pc.mmap_write("/data/f", offset_bytes=1, size_bytes=4096), "<mmap_write /data/f 4.1 kB>"),
        (pc.msync("/data/f", is_async=True), "<msync /data/f>"),
        (pc.truncate("/data/f", size_bytes=0), "<truncate /data/f>"),
        (pc.fadvise("/data/f", advice="dontneed"), "<fadvise /data/f>"),
        (pc.fopen("/data/f", mode="w", stream="c++", buffer_bytes=0), "<fopen /data/f>"),
        (pc.setvbuf("/data/f", size_bytes=65536), "<setvbuf /data/f>"),
        (pc.fwrite("/data/f", size_bytes=4096, call_bytes=512), "<fwrite /data/f 4.1 kB>"),
        (pc.fread("/data/f", offset_bytes=0), "<fread /data/f>"),
        (pc.fseek("/data/f", offset_bytes=1e6), "<fseek /data/f>"),
        (pc.fflush("/data/f"), "<fflush /data/f>"),
        (pc.fclose("/data/f"), "<fclose /data/f>"),
        (pc.compute(28.0), "<compute 28.000 s>"),
        (pc.alloc(1e9), "<alloc 1 GB>"),
        (pc.free(), "<free>"),
        (pc.free(1e9), "<free 1 GB>"),
        (pc.wait("dawn"), "<wait dawn>"),
        (pc.drop_caches(), "<drop_caches>"),
        (pc.drain(), "<drain>"),
        (pc.read("/f", size_bytes=1e6, call_bytes=4096, pattern=pc.Pattern()), "<read /f 1 MB>"),
        (pc.read("/f", call_bytes=4096, pattern=pc.Pattern(writes=0.5)), "<readwrite /f>"),
        (pc.fsync("/f").asynchronous(depth=4).not_before(2), "<fsync /f>"),
        (pc.exit(), "<exit>"),
    ],
)
def test_an_operation_says_what_it_is(operation, text):
    assert repr(operation) == text
    assert operation.name == text.strip("<>").split()[0]


def test_sizes_are_any_kind_of_number():
    expected = pc.read("/f", size_bytes=1_000_000)
    assert pc.read("/f", size_bytes=1e6) == expected
    assert pc.read("/f", size_bytes=np.int32(1_000_000)) == expected
    assert pc.read("/f", size_bytes=np.float32(1e6)) == expected
    assert pc.read("/f", size_bytes=1_000_001) != expected


def test_paths_have_one_normal_form():
    assert pc.read(PurePosixPath("/data/f")).path == "/data/f"
    assert pc.read("/data//./f/").path == "/data/f"


def test_a_write_starts_at_0_unless_it_appends():
    assert pc.write("/f", size_bytes=1) == pc.write("/f", size_bytes=1, offset_bytes=0)
    assert pc.write("/f", size_bytes=1) != pc.write("/f", size_bytes=1, append=True)


def test_flags_are_a_set():
    assert pc.open("/f", flags=["O_SYNC", "O_DIRECT"]) == pc.open(
        "/f", flags=("O_DIRECT", "O_SYNC", "O_SYNC")
    )
    assert pc.open("/f", flags=[]) == pc.open("/f")
    assert pc.open("/f", flags=["O_SYNC"]) != pc.open("/f", flags=["O_DSYNC"])


def test_a_flag_alone_is_no_list():
    with pytest.raises(TypeError, match=r"'O_DIRECT' is a string; write \['O_DIRECT'\]"):
        pc.open("/f", flags="O_DIRECT")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pc.read("/f", size_bytes=-1), "size_bytes=-1: a size cannot be negative"),
        (
            lambda: pc.read("/f", offset_bytes=float("nan")),
            "offset_bytes=NaN: a size must be a finite number",
        ),
        (lambda: pc.read("/f", call_bytes=0), "call_bytes=0: must be at least one byte"),
        (lambda: pc.now(), "now() is for programs, and none runs"),
        (
            lambda: pc.Pattern("gauss"),
            'random="gauss" is not known; write "uniform", "zipf:1.1", "pareto:0.2" or "normal:10 %"',
        ),
        (lambda: pc.Pattern(depth=0), "depth=0: must be a whole number from 1 to 65536"),
        (
            lambda: pc.Pattern("uniform", backwards=True),
            "a pattern has two orders; keep one of random, backwards and stride_bytes",
        ),
        (
            lambda: pc.Pattern("zipf:1", once=True),
            'once=True is for random="uniform" alone; remove it',
        ),
        (lambda: pc.Pattern(writes=1.5), "writes=1.5: must be from 0 to 1"),
        (lambda: pc.Pattern(rate_iops=0), "rate_iops=0: must be a finite number above 0"),
        (
            lambda: pc.Pattern(rate_iops=1, rate_bytes_per_s=1),
            "both rate_bytes_per_s and rate_iops are given; remove one of them",
        ),
        (
            lambda: pc.read("/f", pattern=pc.Pattern()),
            "a pattern is about calls; give call_bytes, for example 4096",
        ),
        (
            lambda: pc.read("/f", call_bytes=10, pattern=pc.Pattern(stride_bytes=15)),
            "stride_bytes=15 is no multiple of call_bytes=10; make it one",
        ),
        (
            lambda: pc.write("/f", size_bytes=9, call_bytes=1, append=True, pattern=pc.Pattern()),
            "a pattern has neither vector nor append; remove them",
        ),
        (
            lambda: pc.sleep(1).asynchronous(depth=3),
            "<sleep 1.000 s> cannot be asynchronous; leave it out",
        ),
        (
            lambda: pc.read("/f", call_bytes=1).asynchronous(depth=3),
            "<read /f> cannot be asynchronous; for many calls at once use Pattern(depth=...)",
        ),
        (lambda: pc.write("/f", size_bytes=2.0**60), "size_bytes=1152921504606847000: a size is too large"),
        (lambda: pc.compute(-0.5), "duration_s=-0.5: a time cannot be negative"),
        (lambda: pc.sleep(float("inf")), "duration_s=inf: a time must be a finite number"),
        (lambda: pc.read("f"), 'path "f" is not absolute; begin it with `/`'),
        (lambda: pc.read("/a/../f"), 'path "/a/../f" has ".." in it; write the path out'),
        (lambda: pc.read("/f\n"), 'path "/f\\n" has a control character; remove it'),
        (lambda: pc.read("/caf\udce9"), 'path "/caf\\xE9" is not UTF-8; rename the file'),
        (lambda: pc.read("/f", buffer="new"), 'buffer="new" is not known; choose one of reused, fresh'),
        (
            lambda: pc.open("/f", flags=["O_DIRCT"]),
            'flags="O_DIRCT" is not known; choose one of O_DIRECT, O_SYNC, O_DSYNC, O_APPEND, RWF_DONTCACHE',
        ),
        (
            lambda: pc.fopen("/f", mode="rw"),
            'mode="rw" is not known; choose one of r, w, a, r+, w+, a+',
        ),
        (
            lambda: pc.write("/f", size_bytes=1, vector=1025),
            "vector=1025: must be a whole number from 1 to 1024",
        ),
        (
            lambda: pc.read("/f", vector=-1),
            "vector=-1: must be a whole number from 1 to 1024",
        ),
        (
            lambda: pc.copy("/f", "/g", by="splice"),
            'by="splice" is not known; choose one of read_write, sendfile, copy_file_range',
        ),
        (
            lambda: pc.copy("/a//f", "/a/f", by="sendfile"),
            'to="/a/f" is the file itself; name another one',
        ),
        (
            lambda: pc.fadvise("/f", advice="please"),
            'advice="please" is not known; '
            "choose one of dontneed, willneed, sequential, random, normal, noreuse",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_once(make, message):
    with pytest.raises(ScenarioError) as caught:
        make()
    assert str(caught.value) == message


def test_a_text_is_no_size():
    with pytest.raises(TypeError):
        pc.read("/f", size_bytes="20 GB")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: pc.read("/data/f", size_bytes="3 GB"),
            "size_bytes='3 GB' is a str, not a number of bytes; write 20e9",
        ),
        (
            lambda: pc.write("/data/f", size_bytes=1, offset_bytes=[]),
            r"offset_bytes=\[\] is a list, not a number",
        ),
        (lambda: pc.write("/data/f", size_bytes=1, call_bytes="1 MB"), "call_bytes='1 MB' is a str"),
        (lambda: pc.sleep("1 s"), "duration_s='1 s' is a str, not a number of seconds"),
    ],
)
def test_what_is_no_number_is_named_with_its_argument(make, message):
    with pytest.raises(TypeError, match=message):
        make()
