"""The `wrench` policy: the data-block model of WRENCH-cache.

What it models: per host a page cache as two lists of blocks (inactive, active; oldest in front), a dirty
limit, forced flushing, eviction, a periodic flusher, and files on another host as in the NFS experiment.
Source: the paper's algorithms, and its published outputs wherever the text leaves a choice. README.md lists
these choices, and what is ours because the publication has nothing: fsync, truncate, overwriting and so on.
Leaves out: a background threshold, read-ahead, offsets in files.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from .engine import Engine, Signal, Sleep, Steps, Wait, to_ns
from .machine import Machine, Mount
from .policy import Call, Policy

MB = 1_000_000
MESSAGE_BYTES = 1024  # a request, an answer or an acknowledgement between hosts


@dataclass(eq=False)
class Block:
    file: str
    size: int
    is_dirty: bool
    last_access_ns: int
    dirty_since_ns: int


class Cache:
    """The page cache of one host. Methods that take simulated time are generators."""

    def __init__(
        self,
        engine: Engine,
        machine: Machine,
        host: str,
        *,
        chunk_bytes: int,
        dirty_ratio: float,
        is_newer: bool,
    ):
        self.engine, self.machine, self.host = engine, machine, host
        self.chunk_bytes, self.dirty_ratio = chunk_bytes, dirty_ratio
        self.is_newer = is_newer  # also evicts from the active list, and never what is being written
        self.total = self.free = machine.hosts[host].memory_bytes
        self.dirty = 0
        self.inactive: list[Block] = []
        self.active: list[Block] = []

    # -- amounts -------------------------------------------------------------------------
    def cached(self) -> int:
        return sum(b.size for b in self.inactive + self.active)

    def cached_of(self, file: str) -> int:
        return sum(b.size for b in self.inactive + self.active if b.file == file)

    def dirty_of(self, file: str) -> int:
        return sum(b.size for b in self.inactive + self.active if b.file == file and b.is_dirty)

    def evictable(self) -> int:
        return sum(b.size for b in self.inactive)  # dirty blocks and those of the file being read included

    def available(self) -> int:
        return self.free + self.cached() - self.dirty

    def own(self, file: str) -> str | None:
        """The file that a writer of it does not evict."""
        return file if self.is_newer else None

    def take_anonymous(self, size: int) -> None:
        self.free = max(0, self.free - size)

    def release_anonymous(self, size: int) -> None:
        self.free = min(self.total, self.free + size)

    # -- flushing ------------------------------------------------------------------------
    def flush(self, amount: float, is_meant: Callable[[Block], bool]) -> Steps:
        """Write `amount` of dirty data to disk, inactive list first. Returns how much was written."""
        flushed = yield from self._flush_list(self.inactive, amount, is_meant)
        flushed += yield from self._flush_list(self.active, amount - flushed, is_meant)
        return flushed

    def _flush_list(self, blocks: list[Block], amount: float, is_meant: Callable[[Block], bool]) -> Steps:
        parts: list[tuple[str, int]] = []
        flushed = 0
        for block in [b for b in blocks if b.is_dirty and is_meant(b)]:
            if flushed >= amount:
                break
            size = min(block.size, amount - flushed)
            if size == block.size:
                block.is_dirty = False
            else:  # the rest stays dirty where it is
                block.size -= size
                part = Block(block.file, size, False, block.last_access_ns, block.dirty_since_ns)
                self.inactive.append(part)
            flushed += size
            parts.append((block.file, size))
        yield from self._write_out(parts)
        self.dirty -= flushed  # only now
        return flushed

    def _write_out(self, parts: list[tuple[str, int]]) -> Steps:
        """Write parts of files: one transfer per disk, all at once."""
        done = []
        for disk in self.machine.hosts[self.host].disks:
            files = [(file, size) for file, size in parts if self.machine.mount_of(file).disk == disk]
            if files:
                done.append(Signal())
                flow = self.machine.writing(self.host, files[0][0], sum(size for _, size in files))
                self.engine.start(_then(flow, self.engine, done[-1]))
        for signal in done:
            yield Wait(signal)

    def flusher(self, number: int, period_ns: int, expiry_ns: int) -> Steps:
        """The periodic flusher of host `number`: one expired block after the other, inactive list first."""
        if period_ns == 0:  # vm.dirty_writeback_centisecs = 0 switches it off
            return
        yield Sleep(0, host=number)
        while True:
            start = self.engine.now_ns
            for blocks in (self.inactive, self.active):
                while expired := [
                    b for b in blocks if b.is_dirty and self.engine.now_ns - b.dirty_since_ns >= expiry_ns
                ]:
                    block = expired[0]
                    block.is_dirty = False
                    yield self.machine.writing(self.host, block.file, block.size)
                    self.dirty -= block.size  # its size now: it may have been split meanwhile
            if self.engine.now_ns < start + period_ns:
                yield Sleep(start + period_ns, host=number)

    # -- eviction and balance ------------------------------------------------------------
    def evict(self, amount: int, keep: str | None = None) -> int:
        """Forget `amount` of clean data, oldest first; not of file `keep`. Returns how much was forgotten."""
        evicted = 0
        for blocks in [self.inactive, self.active] if self.is_newer else [self.inactive]:
            for block in [b for b in blocks if not b.is_dirty and b.file != keep]:
                if evicted < amount:
                    evicted += self._drop(blocks, block, amount - evicted)
        return evicted

    def discard_beyond(self, file: str, size: int) -> None:
        """Forget what is cached of a file beyond `size` bytes: what came first, dirty or not."""
        left = self.cached_of(file) - size
        for blocks in (self.inactive, self.active):
            for block in [b for b in blocks if b.file == file]:
                if left > 0:
                    left -= self._drop(blocks, block, left)

    def drop_clean(self, file: str | None = None) -> None:
        for blocks in (self.inactive, self.active):
            for block in [b for b in blocks if not b.is_dirty and file in (None, b.file)]:
                self._drop(blocks, block, block.size)

    def _drop(self, blocks: list[Block], block: Block, most: int) -> int:
        """Forget up to `most` bytes of a block, and return how many. One that leaves whole keeps its size."""
        size = min(block.size, most)
        if size == block.size:
            blocks.remove(block)
        else:
            block.size -= size
        self.free = min(self.total, self.free + size)
        if block.is_dirty:
            self.dirty -= size
        return size

    def balance(self) -> None:
        """Make the lists equal when the active one is more than twice the inactive one."""
        inactive, active = (sum(b.size for b in blocks) for blocks in (self.inactive, self.active))
        to_move = (active - inactive) // 2 if active > 2 * inactive else 0
        while to_move > 0:
            block = self.active[0]
            size = min(block.size, to_move)
            to_move -= size
            if size == block.size:
                self.inactive.append(self.active.pop(0))
            else:
                block.size -= size
                self.inactive.append(
                    Block(block.file, size, block.is_dirty, block.last_access_ns, block.dirty_since_ns)
                )

    # -- one chunk -----------------------------------------------------------------------
    def read(self, file: str, file_size: int, size: int, is_fresh: bool) -> Steps:
        """Read a chunk: what is not cached first, then from the lists."""
        from_disk = min(size, max(0, file_size - self.cached_of(file)))
        from_cache = size - from_disk
        yield from self.flush(size + from_disk - self.free - self.evictable(), lambda b: b.file != file)
        self.evict(size + from_disk - self.free, keep=file)
        if from_disk > 0:
            self._add(file, from_disk, is_dirty=False)
            self.balance()
            yield self.machine.reading(self.host, file, from_disk)
        if from_cache > 0:
            self._access(file, from_cache)
            self.balance()
            yield self.machine.from_memory(self.host, from_cache)
        if is_fresh:
            self.take_anonymous(size)

    def _access(self, file: str, amount: int) -> None:
        """Move `amount` of a file to the end of the active list: dirty blocks as they are, clean ones as one.

        There may be less: others may have evicted some of it since the read began.
        """
        clean, left = 0, amount
        for blocks in (self.inactive, self.active):
            for block in [b for b in blocks if b.file == file]:
                if left == 0:
                    break
                size = min(block.size, left)
                left -= size
                if size == block.size:
                    blocks.remove(block)
                    moved = block
                else:
                    block.size -= size
                    moved = Block(file, size, block.is_dirty, block.last_access_ns, block.dirty_since_ns)
                if block.is_dirty:
                    self.active.append(moved)
                else:
                    clean += size
        if clean > 0:
            self.active.append(Block(file, clean, False, self.engine.now_ns, 0))

    def write(self, file: str, file_size: int, size: int, is_dirty: bool, is_fresh: bool = False) -> Steps:
        """Write a chunk: at memory speed below the dirty limit, else flush as much as is written, then write.

        `file_size` is that after the chunk. With `is_fresh` as much anonymous memory is taken: it came from
        another host to a reader.
        """
        limit = math.floor(self.dirty_ratio * max(0, self.available()))
        room = limit - self.dirty if is_dirty else self.available()
        self.discard_beyond(file, file_size - size)
        left = to_flush = size
        if room > 0:
            needed = min(size, room) + (size if is_fresh else 0)
            self.evict(needed - self.free, keep=self.own(file))
            put = yield from self._put(file, size, is_dirty)
            left -= put
            to_flush = left if put else self.chunk_bytes
        while left > 0:
            flushed = yield from self.flush(to_flush, lambda b: True)
            evicted = self.evict(left - self.free, keep=self.own(file))
            put = yield from self._put(file, left, is_dirty)
            left -= put
            to_flush = left if put else self.chunk_bytes  # ours: else a few bytes are flushed a million times
            if flushed == evicted == put == 0:  # ours: the publication would loop for ever
                if is_dirty:
                    yield self.machine.writing(self.host, file, left)
                break
        if is_fresh:
            self.take_anonymous(size)

    def _put(self, file: str, size: int, is_dirty: bool) -> Steps:
        """Copy up to `size` bytes into free memory; returns how many."""
        room = min(size, max(0, self.free))
        if room < size and room < self.chunk_bytes // 1000:
            room = 0  # ours: else a chunk takes a million rounds
        if room > 0:
            self._add(file, room, is_dirty)
            yield self.machine.to_memory(self.host, room)
        return room

    def write_through(self, file: str, file_size: int, size: int) -> Steps:
        """Write a chunk to the disk; it stays in the cache, clean."""
        yield self.machine.writing(self.host, file, size)
        self.discard_beyond(file, file_size - size)
        self.evict(size - self.free, keep=self.own(file))
        self._add(file, size, is_dirty=False)

    def preload(self, file: str, sizes: list[int]) -> None:
        for size in sizes:
            self._add(file, size, is_dirty=False)

    def _add(self, file: str, size: int, is_dirty: bool) -> None:
        now = self.engine.now_ns
        self.inactive.append(Block(file, size, is_dirty, now, now if is_dirty else 0))
        self.free -= size
        self.dirty += size if is_dirty else 0


class Wrench(Policy):
    """Chunks of local files go through the host's cache, those of remote files through both hosts' caches."""

    def __init__(
        self,
        engine: Engine,
        machine: Machine,
        vintage: str = "camera_ready",
        chunk_bytes: int = 100 * MB,
        dirty_ratio: float = 0.4,
        flush_period_s: float = 5,
        dirty_expiry_s: float = 30,
        remote_memory: str = "client",
    ):
        super().__init__(engine, machine)
        assert vintage in ("camera_ready", "v1")
        assert remote_memory in ("client", "server")
        self.server_pays = remote_memory == "server"
        self.chunk_bytes = chunk_bytes
        self.caches: dict[str, Cache] = {}
        for number, host in enumerate(machine.hosts):
            cache = Cache(
                engine,
                machine,
                host,
                chunk_bytes=chunk_bytes,
                dirty_ratio=dirty_ratio,
                is_newer=vintage == "camera_ready",
            )
            self.caches[host] = cache
            engine.start(cache.flusher(number, to_ns(flush_period_s), to_ns(dirty_expiry_s)))

    def chunks(self, size: int) -> list[int]:
        return [min(self.chunk_bytes, size - start) for start in range(0, size, self.chunk_bytes)]

    def give_way(self) -> Sleep:
        """Let everything else that happens at this instant go first."""
        return Sleep(self.engine.now_ns)

    # -- operations ----------------------------------------------------------------------
    def read(self, call: Call) -> Steps:
        cache = self.caches[call.host]
        is_remote = self.machine.is_remote(call.host, call.path)
        if is_remote and call.size > 0 and cache.cached_of(call.path) < call.file_size:
            yield from self._download(call)
        else:
            for size in self.chunks(call.size):
                yield from cache.read(call.path, call.file_size, size, call.is_fresh)
                yield self.give_way()

    def write(self, call: Call) -> Steps:
        cache, mount = self.caches[call.host], self.machine.mount_of(call.path)
        if call.size > 0 and mount.host != call.host:
            yield from self._upload(call)
            return
        end, file_size = call.offset, call.file_size
        for size in self.chunks(call.size):
            end += size
            file_size = max(file_size, end)
            if mount.write_through:
                yield from cache.write_through(call.path, file_size, size)
            else:
                yield from cache.write(call.path, file_size, size, is_dirty=True)
                yield self.give_way()

    def fsync(self, host: str, path: str) -> Steps:
        yield from self.caches[host].flush(math.inf, lambda b: b.file == path)

    def preload(self, host: str, path: str, size: int) -> None:
        self.caches[host].preload(path, self.chunks(size))

    def truncate(self, host: str, path: str, size: int) -> None:
        self.caches[host].discard_beyond(path, size)

    def dont_need(self, host: str, path: str) -> None:
        self.caches[host].drop_clean(path)

    def drop_caches(self, host: str) -> None:
        self.caches[host].drop_clean()

    def take(self, host: str, size: int) -> None:
        self.caches[host].evict(size - self.caches[host].free)
        self.caches[host].take_anonymous(size)

    def give_back(self, host: str, size: int) -> None:
        self.caches[host].release_anonymous(size)

    # -- files on another host -----------------------------------------------------------
    def _send(self, mount: Mount, size: int, is_last_first: bool = False) -> Steps:
        """The latency, then a flow over the link."""
        latency_ns = to_ns(self.machine.links[str(mount.link)].latency_s)
        if latency_ns > 0:
            yield Sleep(self.engine.now_ns + latency_ns)
        flow = self.machine.on_link(mount.link, size)
        flow.is_last_first = is_last_first
        yield flow

    def _download(self, call: Call) -> Steps:
        """A request; then each chunk is read by the server, sent, and kept, clean, by the client.

        As published (`server_pays`), the anonymous memory of the transfer is taken of the server, and never
        given back there; otherwise it is that of the reader.
        """
        mount = self.machine.mount_of(call.path)
        server, client = self.caches[mount.host], self.caches[call.host]
        sizes = self.chunks(call.size)

        def serve(i: int) -> Steps:
            yield from server.read(call.path, call.file_size, sizes[i], is_fresh=self.server_pays)
            yield self.give_way()

        def send(i: int) -> Steps:
            yield from self._send(mount, sizes[i], is_last_first=True)

        def keep(i: int) -> Steps:
            is_fresh = call.is_fresh and not self.server_pays
            yield from client.write(call.path, call.file_size, sizes[i], is_dirty=False, is_fresh=is_fresh)

        yield from self._send(mount, MESSAGE_BYTES)
        yield from self._pipeline(len(sizes), [serve, send, keep], order=(1, 2, 0))

    def _upload(self, call: Call) -> Steps:
        """A request and its answer; chunks are sent and written through by the server; an acknowledgement."""
        mount = self.machine.mount_of(call.path)
        server = self.caches[mount.host]
        sizes = self.chunks(call.size)

        def send(i: int) -> Steps:
            yield from self._send(mount, sizes[i], is_last_first=True)

        def store(i: int) -> Steps:
            file_size = max(call.file_size, call.offset + sum(sizes[: i + 1]))
            yield from server.write_through(call.path, file_size, sizes[i])

        yield from self._send(mount, MESSAGE_BYTES)
        yield from self._send(mount, MESSAGE_BYTES)
        yield from self._pipeline(len(sizes), [send, store], order=(0, 1))
        yield from self._send(mount, MESSAGE_BYTES, is_last_first=True)

    def _pipeline(self, chunks: int, stages: list[Callable[[int], Steps]], order: tuple[int, ...]) -> Steps:
        """Take chunks through stages that overlap; where several can go on at once they do so in this order.

        A stage has one chunk at a time. It begins chunk k when the stage before has finished k, and the stage
        after has finished k - 2.
        """
        started, finished = [0] * len(stages), [0] * len(stages)
        all_done = Signal()

        def go_on() -> None:
            for s in order:
                k = started[s]
                has_chunk = k < chunks and finished[s] == k and (s == 0 or finished[s - 1] > k)
                if has_chunk and (s == len(stages) - 1 or finished[s + 1] >= k - 1):
                    started[s] += 1
                    self.engine.start(carry(s, k))

        def carry(s: int, k: int) -> Steps:
            yield from stages[s](k)
            finished[s] += 1
            go_on()
            if finished[-1] == chunks and not all_done.happened:
                self.engine.happen(all_done)

        go_on()
        yield Wait(all_done)


def _then(flow: object, engine: Engine, done: Signal) -> Steps:
    yield flow
    engine.happen(done)
