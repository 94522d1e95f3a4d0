"""What holds however files are opened and made durable, also by several processes at once."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import pagecast as pc
from pagecast import _core

BLOCK = 512
PAGE = 4096
READ_BYTES_PER_S = 400e6
MIB = 2**20
FILE_BLOCKS = 64 * MIB // BLOCK
FILES = ("/data/a", "/data/b", "/slow/c")

MACHINE = """\
cores = 2
[memory]
size = "{memory} MiB"
read = "4 GB/s"
write = "2 GB/s"
nodes = {nodes}
[memory.cost]
call = "{call} us"
page_insert = "1 us"
fault = "500 ns"
page_remove = "1 us"
[disk.fast]
size = "10 GB"
read = "400 MB/s"
write = "200 MB/s"
sharing = "{sharing}"
[disk.slow]
size = "10 GB"
read = "50 MB/s"
write = "20 MB/s"
[mount."/data"]
disk = "fast"
[mount."/slow"]
disk = "slow"
"""

machines = st.fixed_dictionaries(
    {
        "memory": st.sampled_from([300, 600, 4000]),
        "nodes": st.sampled_from([1, 1, 2]),
        "call": st.sampled_from([0, 10]),
        "sharing": st.sampled_from(["total", "separate", "time"]),
    }
)
flags = st.lists(st.sampled_from(["O_DIRECT", "O_SYNC", "O_DSYNC"]), unique=True)
calls = st.sampled_from([512, 4096, 65536, MIB, 16 * MIB])


@st.composite
def spans(draw: st.DrawFn) -> tuple[int, int]:
    """Draw whole blocks of a file: the first byte and how many."""
    first = draw(st.integers(0, FILE_BLOCKS - 1))
    return first * BLOCK, draw(st.integers(1, FILE_BLOCKS - first)) * BLOCK


@st.composite
def operations(draw: st.DrawFn) -> pc.Operation:
    """Draw an operation on a file that is always there and never gets shorter."""
    path, (offset, size) = draw(st.sampled_from(FILES)), draw(spans())
    buffer: Any = draw(st.sampled_from(["reused", "reused", "fresh"]))
    at = {"offset_bytes": offset, "size_bytes": size, "call_bytes": draw(calls)}
    choices = {
        "open": pc.open(path, flags=draw(flags)),
        "close": pc.close(path),
        "read": pc.read(path, **at, buffer=buffer),
        "write": pc.write(path, **at),
        "fsync": pc.fsync(path),
        "fdatasync": pc.fdatasync(path),
        "sync": pc.sync(),
        "drop": pc.drop_caches(),
        "dontneed": pc.fadvise(path, advice="dontneed"),
        "free": pc.free(),
        "sleep": pc.sleep(draw(st.sampled_from([0.1, 6.0, 40.0]))),
    }
    kinds = [*choices, "open", "read", "read", "write", "write", "write", "free"]
    return choices[draw(st.sampled_from(kinds))]


programs = st.lists(operations(), max_size=10)


def simulate(model: str, machine: dict[str, Any], drawn: list[list[pc.Operation]]) -> pc.Result:
    """Run programs at once, and when all have ended one that writes back what is left and lets go."""
    text = MACHINE.format(**machine).encode()
    hardware = _core.Machine.from_toml(text, "machine.toml", base_dir=".", machine_dir=".")
    # What a process reads into new memory is small beside all memory, so that none runs out of it.
    processes: dict[str, Any] = {f"p{number}": each for number, each in enumerate(drawn)}
    last = pc.Process([pc.sync()], after=[*processes])
    sizes: dict[Any, Any] = dict.fromkeys(FILES, FILE_BLOCKS * BLOCK)
    return pc.simulate(pc.Scenario(hardware, processes=processes | {"last": last}, files=sizes), model=model)


def freed(program: list[pc.Operation]) -> list[pc.Operation]:
    """Give new memory back after each operation."""
    return [each for operation in program for each in (operation, pc.free())]


@given(
    model=st.sampled_from(["kernel", "wrench", "no-cache", "endless-cache"]),
    machine=machines,
    drawn=st.lists(programs, min_size=1, max_size=3),
)
def test_laws_of_every_way_of_opening(
    model: str, machine: dict[str, Any], drawn: list[list[pc.Operation]]
) -> None:
    result = simulate(model, machine, [freed(each) for each in drawn])
    table = result.operations
    parts = sum(np.rint(result.parts[name] * 1e9) for name in result.parts if name.endswith("_s"))
    assert (parts == np.rint(table["duration_s"] * 1e9)).all()
    moved = np.isin(table["operation"], ["read", "write"])
    assert (table["bytes"][moved] == (table["from_cache_bytes"] + table["from_device_bytes"])[moved]).all()
    assert (result.files["dirty_bytes"] == 0).all(), "the last one has written back all there was"
    assert (result.files["cached_bytes"] <= result.files["size_bytes"]).all()
    again = simulate(model, machine, [freed(each) for each in drawn])
    assert (again.operations["end_s"] == table["end_s"]).all()


def moved_blocks(span: tuple[int, int], call: int) -> tuple[int, int]:
    """Count the blocks that a call fills in part, and those that calls have something of, each of them."""
    offset, size = span
    in_part, of_calls = set[int](), 0
    for first in range(offset, offset + size, call):
        end = min(first + call, offset + size)
        touched = range(first // PAGE, -(-end // PAGE))
        in_part.update(block for block in touched if first > block * PAGE or end < (block + 1) * PAGE)
        of_calls += len(touched)
    return len(in_part), of_calls


@given(machine=machines, span=spans(), call=calls, opened=flags)
def test_a_lone_call_takes_as_long_as_its_bytes(
    machine: dict[str, Any], span: tuple[int, int], call: int, opened: list[Any]
) -> None:
    """On a machine that does nothing else: system calls, pages and copies, and then the disk."""
    offset, size = span
    path = "/data/a"
    write = pc.write(path, offset_bytes=offset, size_bytes=size, call_bytes=call)
    result = simulate("kernel", machine | {"memory": 4000}, [[pc.open(path, flags=opened), write]])
    row = 1
    each_s = machine["call"] * 1e-6
    calls_s = -(-size // call) * each_s
    in_part, of_calls = moved_blocks(span, call)
    if "O_DIRECT" in opened:
        device_s = size / 200e6
    else:
        # A cold block is read before a part of it is changed, and a durable call writes all of its blocks.
        device_s = in_part * PAGE / READ_BYTES_PER_S + (of_calls * PAGE / 200e6 if opened else 0.0)
    copied_s = 0.0 if "O_DIRECT" in opened else size / 4096 * 1e-6
    took_s = float(result.operations["duration_s"][row])
    least, most = calls_s + device_s + copied_s, calls_s + device_s + copied_s + size / 2e9
    # A last call that is smaller than the others is paid by its bytes; steps are whole nanoseconds.
    assert least - each_s - 1e-6 <= took_s <= most + 1e-6
