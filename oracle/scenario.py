"""A scenario (machine, files, processes), and what it means to run one under a model.

What it models: processes that do one operation after another; a process may wait for others to end before
it starts. Operations: read, write, fsync, open (which makes the file), truncate, unlink, fadvise (dontneed),
drop_caches, compute, sleep, alloc, free.
Source: README.md of this folder.
Leaves out: full disks, events that processes signal to each other.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .endless_cache import EndlessCache
from .engine import NS, Engine, Sleep, Steps, to_ns
from .kernel.policy import Kernel
from .machine import Host, Link, Machine, Mount
from .no_cache import NoCache
from .policy import Call, ImpossibleError, Policy
from .wrench import Wrench

MODELS = {"kernel": Kernel, "wrench": Wrench, "no-cache": NoCache, "endless-cache": EndlessCache}


@dataclass(frozen=True)
class Op:
    """One operation.

    `size` is how much is read (None: up to the end), written, truncated to, taken or given back (None: all).
    """

    kind: str
    path: str = ""
    size: int | None = None
    offset: int | None = 0  # None: a write at the end
    seconds: float = 0.0
    is_fresh: bool = False  # a read into anonymous memory that it takes
    truncates: bool = False  # open
    call_bytes: int | None = None  # size of a system call of a read or write; None: it is a single one
    label: str = field(default="", compare=False)  # for whoever reads the results


@dataclass(frozen=True)
class Process:
    name: str
    ops: tuple[Op, ...]
    host: str = "machine"
    after: tuple[str, ...] = ()  # names of processes that end before this one starts
    start_s: float = 0.0


@dataclass(frozen=True)
class File:
    """A file at time 0; its first `cached` bytes are in the cache of `host`."""

    size: int
    cached: int = 0
    host: str = "machine"


@dataclass(frozen=True)
class Scenario:
    hosts: dict[str, Host]
    mounts: dict[str, Mount]  # by path prefix
    files: dict[str, File]
    processes: tuple[Process, ...]  # in starting order
    links: dict[str, Link] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """One operation that was carried out."""

    process: str
    index: int
    op: Op
    start_ns: int
    end_ns: int

    @property
    def duration_s(self) -> float:
        return (self.end_ns - self.start_ns) / NS


@dataclass(frozen=True)
class Result:
    operations: list[Done]  # in the order of their ends
    policy: Policy  # its state at the end
    end_ns: int


def run(
    scenario: Scenario,
    model: str,
    on_operation: Callable[[Done, Policy], None] | None = None,
    **options: float | str,
) -> Result:
    """Carry out a scenario under a model; `on_operation(done, policy)` sees every operation as it ends."""
    return _Run(scenario, model, on_operation, options).result()


class _Run:
    def __init__(self, scenario, model, on_operation, options):
        self.scenario, self.on_operation = scenario, on_operation
        self.engine = Engine()
        self.machine = Machine(self.engine.network, scenario.hosts, scenario.mounts, scenario.links)
        self.policy = MODELS[model](self.engine, self.machine, **options)
        self.size = {path: file.size for path, file in scenario.files.items()}  # of the files that exist
        self.held = dict.fromkeys((process.name for process in scenario.processes), 0)  # anonymous memory
        self.unfinished = {process.name for process in scenario.processes}
        self.rows: list[Done] = []

    def result(self) -> Result:
        for path, file in self.scenario.files.items():
            self.policy.preload(file.host, path, file.cached)
        self.engine.alive = len(self.unfinished)
        for process in self.scenario.processes:
            if not process.after:
                self._start(process)
        self.engine.run()
        return Result(self.rows, self.policy, self.engine.now_ns)

    def _start(self, process: Process) -> None:
        self.engine.start_at(to_ns(process.start_s), self._body(process))

    def _body(self, process: Process) -> Steps:
        for index, op in enumerate(process.ops):
            start = self.engine.now_ns
            yield from self._carry_out(process, op)
            self.rows.append(Done(process.name, index, op, start, self.engine.now_ns))
            if self.on_operation:
                self.on_operation(self.rows[-1], self.policy)
        self._free(process, self.held[process.name])
        self.engine.alive -= 1
        self.unfinished.remove(process.name)
        for other in self.scenario.processes:
            if process.name in other.after and self.unfinished.isdisjoint(other.after):
                self._start(other)

    def _carry_out(self, process: Process, op: Op) -> Steps:
        host = process.host
        if op.kind == "compute":
            yield self.machine.computing(host, to_ns(op.seconds))
        elif op.kind == "sleep":
            yield Sleep(self.engine.now_ns + to_ns(op.seconds))
        elif op.kind == "alloc":
            self._take(process, op.size)
            yield from self.policy.alloc(host, op.size)
        elif op.kind == "free":
            held = self.held[process.name]
            self._free(process, held if op.size is None else min(op.size, held))
        elif op.kind == "drop_caches":
            self.policy.drop_caches(host)
        elif op.kind == "write":
            yield from self._write(process, op)
        elif op.kind == "open" and (op.truncates or op.path not in self.size):
            yield from self._resize(host, op.path, 0)
        elif op.path not in self.size:
            raise ImpossibleError(f"{op.kind} of {op.path}, which is no file")
        elif op.kind == "read":
            yield from self._read(process, op)
        elif op.kind == "fsync":
            yield from self.policy.fsync(host, op.path)
        elif op.kind == "truncate":
            yield from self._resize(host, op.path, op.size)
        elif op.kind == "unlink":
            del self.size[op.path]
            for each in self._hosts(host, op.path):
                self.policy.unlink(each, op.path)
                yield from self.policy.cut(each, op.path)
        elif op.kind == "fadvise":
            self.policy.dont_need(host, op.path)

    def _read(self, process: Process, op: Op) -> Steps:
        file_size = self.size[op.path]
        size = max(0, file_size - op.offset) if op.size is None else op.size
        if op.offset + size > file_size:
            raise ImpossibleError(f"read of {op.path} beyond its end")
        if op.is_fresh:
            self._take(process, size)
        call = Call(
            process.host, op.path, op.offset, size, file_size, op.is_fresh, op.call_bytes, process.name
        )
        yield from self.policy.read(call)

    def _write(self, process: Process, op: Op) -> Steps:
        file_size = self.size.get(op.path, 0)
        offset = file_size if op.offset is None else op.offset
        call = Call(process.host, op.path, offset, op.size, file_size, False, op.call_bytes, process.name)
        yield from self.policy.write(call)
        self.size[op.path] = max(
            self.size.get(op.path, 0), offset + op.size
        )  # grows when the bytes are there

    def _resize(self, host: str, path: str, size: int) -> Steps:
        before = self.size.get(path, 0)
        self.size[path] = size
        if size < before:
            for each in self._hosts(host, path):
                self.policy.truncate(each, path, size)
                yield from self.policy.cut(each, path)

    def _hosts(self, host: str, path: str) -> Iterable[str]:
        """Who is told that a file has changed: the host that did it and the one where the file is."""
        return {host: None, self.machine.mount_of(path).host: None}

    def _take(self, process: Process, size: int) -> None:
        here = sum(self.held[p.name] for p in self.scenario.processes if p.host == process.host)
        if here + size > self.machine.hosts[process.host].memory_bytes:
            raise ImpossibleError(f"{process.name} wants more memory than {process.host} has")
        self.held[process.name] += size

    def _free(self, process: Process, size: int) -> None:
        self.held[process.name] -= size
        self.policy.give_back(process.host, size)
