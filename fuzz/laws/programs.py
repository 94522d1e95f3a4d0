"""Random programs and their files: each operation can be done where it stands.

A process owns the files that it changes; what several read is changed by nobody. So sizes are known while a
program is drawn, and hardly one is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from fuzz.laws.chance import MB, MS, Chance
from fuzz.laws.document import Size, Table, Time
from fuzz.laws.machines import STRIPED

MOST_MOVED = 12_000 * MB
MOST_CALLS = 100_000
MOST_PATTERN_CALLS = 500
BLOCK = 4096


@dataclass
class Room:
    """What all programs of a host share: memory that may be taken, cache that is filled, bytes to move."""

    memory: int
    anonymous: int = 0
    cached: int = 0
    moved: int = 0

    def move(self, size: int) -> bool:
        """Whether so much may still be read or written."""
        if self.moved + size > MOST_MOVED:
            return False
        self.moved += size
        return True

    def take(self, size: int) -> bool:
        """Whether so much anonymous memory may be taken: half is left to the page cache."""
        if self.anonymous + size > self.memory // 2:
            return False
        self.anonymous += size
        return True


@dataclass
class Program:
    """A program while it is drawn: what its own files are by now, and what it has done."""

    chance: Chance
    room: Room
    mounts: list[str]
    sizes: dict[str, int]
    shared: list[Table]
    name: str
    events: list[str]
    is_remote: bool = False
    done: list[Table] = field(default_factory=list)
    opened: dict[str, list[str]] = field(default_factory=dict)

    def draw(self, verbs: list[str], most: int) -> list[Table]:
        """Draw its operations."""
        for _ in range(self.chance.randint(1, most)):
            VERBS[self.chance.choice(verbs)](self)
        return self.done

    def own(self) -> str | None:
        """Draw one of its files that exist, but for those past the cache, whose calls are of whole blocks."""
        plain = [path for path in self.sizes if "O_DIRECT" not in self.opened.get(path, ())]
        return self.chance.choice(plain) if plain else None

    def new_path(self) -> str:
        """Name a file that is not there."""
        return f"{self.chance.choice(self.mounts)}/{self.name}.{len(self.done)}"

    def part(self, size: int) -> Table:
        """Draw a part of a file: often all of it."""
        if size == 0 or self.chance.random() < 0.5:
            return {}
        offset = self.chance.randrange(size)
        if self.chance.often():
            offset = offset // BLOCK * BLOCK
        return {"offset": Size(offset), "size": Size(self.chance.between(1, size - offset))}

    def call(self, size: int) -> Table:
        """Draw the size of calls: often one is all."""
        least = max(1, size // MOST_CALLS)
        calls = [each for each in (512, 4096, 65_536, 100_000, 1 << 20, 10 * MB) if each >= least]
        return {"call": Size(self.chance.choice(calls))} if calls and self.chance.often() else {}


def read(program: Program) -> None:
    chance = program.chance
    existing = {path: size for path, size in program.sizes.items() if program.own() and size}
    existing |= {file["path"]: file["size"] for file in program.shared}
    if not existing:
        return compute(program)
    path, size = chance.choice(list(existing.items()))
    part = {} if "O_DIRECT" in program.opened.get(path, ()) else program.part(size)
    moved = part.get("size", size)
    if not program.room.move(moved):
        return compute(program)
    operation: Table = {"read": path, **part}
    if "O_DIRECT" in program.opened.get(path, ()):
        operation |= {"call": Size(chance.one_of(BLOCK, 65_536, 1 << 20))}
    else:
        operation |= program.call(moved)
    if chance.seldom() and program.room.take(moved):
        operation["buffer"] = "fresh"
    program.done.append(operation)
    return None


def write(program: Program) -> None:
    chance = program.chance
    path = program.own()
    if path is None or chance.sometimes():
        path = program.new_path()
    old = program.sizes.get(path, 0)
    size = chance.size(1, program.room.memory // 2)
    flags = program.opened.get(path, [])
    if "O_SYNC" in flags or "O_DSYNC" in flags:
        size = Size(min(size, 50 * MB))
    if not program.room.move(size):
        return compute(program)
    operation: Table = {"write": path, "size": size}
    offset = 0
    if chance.random() < 0.5:
        operation["append"], offset = True, old
    elif old and chance.random() < 0.5:
        offset = chance.randrange(old)
        operation["offset"] = Size(offset)
    program.done.append(operation | program.call(size))
    program.sizes[path] = max(old, (old if "O_APPEND" in flags else offset) + size)
    return None


def write_past_the_cache(program: Program) -> None:
    """Open a file of its own with O_DIRECT and write or read whole blocks."""
    chance = program.chance
    path = program.new_path()
    blocks = chance.between(1, 20_000)
    call = Size(BLOCK * chance.one_of(1, 16, 256))
    if program.is_remote or not program.room.move(2 * blocks * BLOCK):
        return compute(program)
    flags = ["O_DIRECT", "O_DSYNC"] if chance.sometimes() else ["O_DIRECT"]
    program.done += [
        {"write": path, "size": Size(blocks * BLOCK), "call": call},
        {"open": path, "flags": flags},
        {"write": path, "size": Size(blocks * BLOCK // 2 // BLOCK * BLOCK or BLOCK), "call": call},
        {"read": path, "call": call},
        {"close": path},
    ]
    program.sizes[path] = blocks * BLOCK
    return None


def open_with_flags(program: Program) -> None:
    path = program.own()
    if path is None or program.is_remote:
        return compute(program)
    flags = program.chance.one_of(["O_SYNC"], ["O_DSYNC"], ["O_APPEND"], [])
    program.opened[path] = flags
    program.done.append({"open": path, "flags": flags} if flags else {"open": path})
    return None


def fsync(program: Program) -> None:
    path = program.own()
    if path is None:
        return compute(program)
    program.done.append({program.chance.one_of("fsync", "fsync", "fdatasync"): path})
    return None


def sync(program: Program) -> None:
    program.done.append(
        program.chance.one_of({"sync": True}, {"syncfs": program.chance.choice(program.mounts)})
    )


def sync_range(program: Program) -> None:
    path = program.own()
    if path is None or program.is_remote:
        return compute(program)
    words = program.chance.some_of(["WAIT_BEFORE", "WRITE", "WAIT_AFTER"], 3) or ["WRITE"]
    program.done.append({"sync_file_range": path, "flags": words, **program.part(program.sizes[path])})
    return None


def truncate(program: Program) -> None:
    path = program.own()
    if path is None:
        return compute(program)
    size = Size(program.chance.one_of(0, program.chance.randint(0, program.sizes[path] * 2)))
    program.done.append({"truncate": path, "size": size})
    program.sizes[path] = size
    return None


def unlink(program: Program) -> None:
    path = program.own()
    if path is None:
        return compute(program)
    program.done.append({"unlink": path})
    del program.sizes[path]
    program.opened.pop(path, None)
    return None


def copy(program: Program) -> None:
    chance, path = program.chance, program.own()
    flagged = path is not None and program.opened.get(path)
    if path is None or flagged or program.is_remote or not program.room.move(2 * program.sizes[path]):
        return compute(program)
    target, size = program.new_path(), program.sizes[path]
    by = chance.one_of("read_write", "sendfile", "copy_file_range")
    if by == "copy_file_range":
        target = path + "c"
    program.done.append({"copy": path, "to": target, "by": by, **program.call(size)})
    program.sizes[target] = max(size, program.sizes.get(target, 0))
    return None


def mapped(program: Program) -> None:
    """Touch a file of its own through a mapping; some stay mapped."""
    chance, path = program.chance, program.own()
    if path is None or program.is_remote or program.sizes[path] == 0 or path.startswith(STRIPED):
        return compute(program)
    size = program.sizes[path]
    stays = chance.sometimes()
    program.done += [{"mmap": path}] if stays else []
    for _ in range(chance.randint(1, 2)):
        part = program.part(size)
        if program.room.move(part.get("size", size)):
            verb = chance.one_of("mmap_read", "mmap_write")
            advice = chance.one_of({}, {"advice": chance.one_of("sequential", "random")})
            program.done.append({verb: path, **part, **advice})
    program.done += [{"msync": path}] if chance.sometimes() else []
    program.done += [{"munmap": path}] if stays else []
    return None


def stream(program: Program) -> None:
    """Write a new file through a library's buffer, and read it again."""
    chance, path = program.chance, program.new_path()
    size = chance.size(1, 200 * MB)
    if not program.room.move(2 * size):
        return compute(program)
    library = chance.one_of("c", "c++", "python", "java")
    call = Size(chance.one_of(64, 512, 1000, 65_536))
    program.done += [
        {"fopen": path, "mode": "w", "stream": library},
        {"fwrite": path, "size": size, "call": call},
        {"fclose": path},
        {"fopen": path, "mode": "r", "stream": library},
        {"fread": path, "call": call},
    ]
    program.done += [{"fclose": path}] if chance.often() else []
    program.sizes[path] = size
    return None


def advise(program: Program) -> None:
    chance = program.chance
    existing = program.sizes | {file["path"]: file["size"] for file in program.shared}
    if not existing:
        return compute(program)
    path, size = chance.choice(list(existing.items()))
    if chance.sometimes():
        program.done.append({"readahead": path, **program.part(size)})
    else:
        words = ("dontneed", "willneed", "sequential", "random", "normal", "noreuse")
        program.done.append({"fadvise": path, "advice": chance.choice(words), **program.part(size)})
    return None


def drop_caches(program: Program) -> None:
    program.done.append({"drop_caches": True})


def memory(program: Program) -> None:
    size = program.chance.size(MB, program.room.memory // 4)
    if program.room.take(size):
        program.done.append({"alloc": size})
    else:
        program.done.append({"free": program.chance.one_of("all", size)})


def compute(program: Program) -> None:
    program.done.append({program.chance.one_of("compute", "sleep"): program.chance.time(MS, 40_000 * MS)})


def loop(program: Program) -> None:
    """Append small records, as a log is written, or read again and again."""
    chance = program.chance
    path = f"{chance.choice(program.mounts)}/{program.name}.log"
    rounds, size = chance.randint(2, 40), chance.size(512, 4 * MB)
    if "O_DIRECT" in program.opened.get(path, ()) or not program.room.move(rounds * size):
        return compute(program)
    body: list[Table] = [{"write": path, "size": size, "append": True}]
    if chance.often():
        body.append({chance.one_of("fsync", "fdatasync"): path})
    body.append({chance.one_of("compute", "sleep"): chance.time(MS // 10, 300 * MS)})
    program.done.append({"repeat": rounds, "do": body})
    program.sizes[path] = program.sizes.get(path, 0) + rounds * size
    return None


def pattern(program: Program) -> None:
    """Many calls on a file, in an order of their own: reads, or writes of one of its own files."""
    chance = program.chance
    shared = {file["path"]: file["size"] for file in program.shared}
    own = {path: size for path, size in program.sizes.items() if program.opened.get(path, []) == []}
    existing = {path: size for path, size in (shared | own).items() if size}
    if not existing:
        return compute(program)
    path, size = chance.choice(list(existing.items()))
    call = chance.one_of(4096, 65_536, 100_000, 1 << 20)
    moved = min(size, call * chance.between(1, MOST_PATTERN_CALLS))
    if not program.room.move(moved):
        return compute(program)
    order: Table = dict(
        chance.one_of(
            {},
            {"backwards": True},
            {"stride": Size(3 * call)},
            {"random": "uniform"},
            {"random": "uniform", "once": True},
            {"random": "zipf:1.1"},
            {"random": "normal:10 %"},
        )
    )
    order["depth"] = chance.one_of(1, 4, 16)
    operation: Table = {"read": path, "size": Size(moved), "call": Size(call), "pattern": order}
    if path in own and chance.random() < 0.5:
        operation = {"write" if name == "read" else name: value for name, value in operation.items()}
        order["within"] = Size(size)
    elif path in own and chance.sometimes():
        order["writes"] = "30 %"
    operation["by"] = chance.one_of("threads", "libaio", "io_uring", "posix_aio")
    if order["depth"] == 1:
        del operation["by"]
    if chance.seldom():
        operation["rate_iops"] = chance.one_of(100, 10_000)
    program.done.append(operation)
    return None


def event(program: Program) -> None:
    """Signal an event, or wait for one that a process before it in the file signals."""
    if program.events and program.chance.random() < 0.5:
        program.done.append({"wait": program.chance.choice(program.events)})
    else:
        program.done.append({"signal": f"{program.name}.{len(program.done)}"})


VERBS: dict[str, Callable[[Program], None]] = {
    "read": read,
    "write": write,
    "direct": write_past_the_cache,
    "open": open_with_flags,
    "fsync": fsync,
    "sync": sync,
    "sync_range": sync_range,
    "truncate": truncate,
    "unlink": unlink,
    "copy": copy,
    "mapped": mapped,
    "stream": stream,
    "advise": advise,
    "drop_caches": drop_caches,
    "memory": memory,
    "compute": compute,
    "loop": loop,
    "pattern": pattern,
    "event": event,
}
EVERYTHING = ["read", "read", "read", "write", "write", "write", "write", "fsync", "fsync", *VERBS]
REMOTE = [
    "read",
    "read",
    "write",
    "write",
    "fsync",
    "truncate",
    "unlink",
    "advise",
    "compute",
    "loop",
    "event",
]


def files(chance: Chance, room: Room, paths: list[str], host: str | None) -> list[Table]:
    """Draw files that are there at time 0, some of them partly cached, and of these some partly dirty."""
    drawn = []
    for path in paths:
        file: Table = {"path": path, "size": chance.size(1, room.memory)}
        if chance.seldom():
            file["size"] = Size(0)
        cached = min(chance.randint(0, file["size"]), room.memory // 2 - room.cached)
        if cached > 0 and chance.sometimes() and not path.startswith(STRIPED):
            room.cached += cached
            file["cached"] = Size(cached)
            if chance.sometimes():
                file["dirty"] = Size(cached // 10)
        drawn.append(file | ({"host": host} if host else {}))
    return drawn


def start(chance: Chance) -> Table:
    """Draw when a process starts: many at once."""
    return {} if chance.often() else {"start": Time(chance.between(MS, 30_000 * MS))}
