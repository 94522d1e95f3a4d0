"""The page cache of one host in a SimPy model."""

import os
from collections.abc import Generator, Mapping, Sequence
from difflib import get_close_matches
from math import inf
from typing import Any, Literal

from simpy import Environment, Process
from simpy.events import Event

from pagecast import _core
from pagecast.api import File, model_options
from pagecast.arguments import check_mapping, check_name, check_number, check_type, check_whole, written
from pagecast.errors import ArgumentTypeError, ScenarioError, SimulationError
from pagecast.simpy.clock import clock_of
from pagecast.simpy.served import Serve, ServedDisk, Transfer
from pagecast.simpy.state import FileState, Latency, Memory, Outcome

__all__ = ["PageCache"]

_FURTHEST_S = 5.0
"""So far ahead is the clock set at most: as long as the flusher sleeps (`vm.dirty_writeback_centisecs`)."""

_PATIENCE_S = 3600.0
"""Linux itself begins what is due within seconds: who waits longer, and has a disk of the model's own that
does not answer and nothing else left to happen, waits for ever."""

Operating = Generator[Event, Any, Outcome]
"""For ``yield from`` in a SimPy process."""


class _Task:
    """A SimPy process as the page cache knows it, which does one operation at a time."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.operation: _core.Operation | None = None
        self.start_s = 0.0
        self.under_way: Event | None = None
        """Happens when the operation is done; None if there is none."""
        self.has_ended = False


class PageCache:
    """The page cache of one host, for the processes of a SimPy model.

    Parameters
    ----------
    env : simpy.Environment
    machine : Machine
        One host, whose mounts are disks; from `pagecast.load_machine`.
    model : str
        One of `pagecast.MODELS`.
    options : mapping of str, optional
        Options of the model, with units: ``{"chunk": "100 MB"}``.
    files : mapping of str to float or File, optional
        Files at time 0, by absolute path; a number is the size in bytes of a file that is not cached.
    disks : mapping of str to Serve, optional
        Disks that are the model's own, by their names in the machine file: generator functions that serve a
        `Request`. The others are the machine's, shared as in `pagecast.simulate`.
    request_bytes : int
        The most that a disk of the model's own is asked at once.
    units_per_s : float
        How many units of the environment's time are a second: 1000 if it counts milliseconds.
    seed : int
        Of the random calls of patterns.

    Raises
    ------
    ScenarioError
        A machine of several hosts; a file, path or disk that cannot be.
    UnknownModelError
        No such model or option.

    Notes
    -----
    Each SimPy process is a task of its own: it does one operation at a time, is throttled on its own, and
    the memory that it takes is free when it ends. As on Linux, nothing breaks off an operation on a file:
    if the process is interrupted or ends, the operation goes on to its end without it. The next one of the
    same process begins after that.
    """

    def __init__(
        self,
        env: Environment,
        machine: _core.Machine,
        *,
        model: str = "kernel",
        options: Mapping[str, object] | None = None,
        files: Mapping[str | os.PathLike[str], float | File] | None = None,
        disks: Mapping[str, Serve] | None = None,
        request_bytes: int = 4 * 2**20,
        units_per_s: float = 1.0,
        seed: int = 0,
    ) -> None:
        check_type("env", env, Environment, "simpy.Environment()")
        check_type("machine", machine, _core.Machine, "pagecast.load_machine(...)")
        request_bytes = check_whole("request_bytes", request_bytes)
        if request_bytes < 1:
            raise ScenarioError(f"request_bytes={request_bytes}: must be at least one byte")
        self.units_per_s = check_number("units_per_s", units_per_s, of="units of time")
        if not 0 < self.units_per_s < inf:
            raise ScenarioError(f"units_per_s={units_per_s}: must be a finite number above 0")
        self._env = env
        self._born = env.now
        self._core = _core.PageCache(machine, check_name("model", model), options=model_options(options))
        self._core.set_seed(check_whole("seed", seed, least=0, most=2**64 - 1))
        for path, file in check_mapping("files", files, "{'/data/in': 20e9}").items():
            self._add_file(path, file if isinstance(file, File) else File(size_bytes=file))
        self._disks = _core.Disks(machine)
        self._served = self._serve(check_mapping("disks", disks, "{'ssd': serve}"), request_bytes)
        self._transfers: dict[int, Transfer] = {}
        self._rates: dict[int, float] = {}
        self._tasks: dict[Process, _Task] = {}
        self._by_number: dict[int, _Task] = {}
        self._waiting = 0
        self._stirred = env.now
        self._failure: SimulationError | None = None
        self._last_ns = 0
        self._is_unsettled = False
        self._due_ns = self._next_ns()
        self._furthest = env.now + _FURTHEST_S * units_per_s
        self._clock = clock_of(env)
        self._clock.add(self)

    def open(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = False,
        truncate: bool = False,
        flags: Sequence[Literal["O_DIRECT", "O_SYNC", "O_DSYNC", "O_APPEND", "RWF_DONTCACHE"]] = (),
    ) -> Operating:
        """Say how the SimPy process reads and writes a file from now on.

        Parameters as those of `pagecast.open`. It holds until the process closes the file or opens it again;
        without it a file is open without flags.

        Raises
        ------
        SimulationError
            When a read or write begins: with ``O_DIRECT`` bytes that are not whole blocks of the disk; with
            ``RWF_DONTCACHE`` a kernel or file system that does not take it.
        """
        return self.do(_core.open(path, create=create, truncate=truncate, flags=flags))

    def close(self, path: str | os.PathLike[str]) -> Operating:
        """Read and write the file without flags from now on; takes no time."""
        return self.do(_core.close(path))

    def read(
        self,
        path: str | os.PathLike[str],
        *,
        offset_bytes: float = 0,
        size_bytes: float | None = None,
        call_bytes: float | None = None,
        buffer: Literal["reused", "fresh"] = "reused",
    ) -> Operating:
        """Read a file, or a piece of it; parameters as those of `pagecast.read`.

        Returns
        -------
        generator
            For ``yield from``, which gives an `Outcome`.

        Raises
        ------
        ScenarioError
            A negative size, or a path that cannot be.
        FileMissingError, NoMountError, BeyondEndError, OutOfMemoryError
            When it begins, like those of the other operations.
        """
        return self.do(
            _core.read(
                path, offset_bytes=offset_bytes, size_bytes=size_bytes, call_bytes=call_bytes, buffer=buffer
            )
        )

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        size_bytes: float,
        offset_bytes: float = 0,
        append: bool = False,
        call_bytes: float | None = None,
    ) -> Operating:
        """Write to a file; parameters as those of `pagecast.write`.

        A file that is not there is made when the write begins. It has its new size when the write has ended:
        until then it is read up to the size it had.
        """
        return self.do(
            _core.write(
                path, size_bytes=size_bytes, offset_bytes=offset_bytes, append=append, call_bytes=call_bytes
            )
        )

    def fsync(self, path: str | os.PathLike[str]) -> Operating:
        """Wait until the file's dirty pages are on its disk."""
        return self.do(_core.fsync(path))

    def sync(self) -> Operating:
        """Wait until all dirty pages are on their disks."""
        return self.do(_core.sync())

    def truncate(self, path: str | os.PathLike[str], *, size_bytes: float) -> Operating:
        """Set the size of a file; pages beyond it leave the cache, dirty ones unwritten."""
        return self.do(_core.truncate(path, size_bytes=size_bytes))

    def unlink(self, path: str | os.PathLike[str]) -> Operating:
        """Remove a file and its pages."""
        return self.do(_core.unlink(path))

    def drop_caches(self) -> Operating:
        """Drop all clean pages."""
        return self.do(_core.drop_caches())

    def alloc(self, size_bytes: float) -> Operating:
        """Take anonymous memory, held until `free` or the end of the SimPy process."""
        return self.do(_core.alloc(size_bytes))

    def free(self, size_bytes: float | None = None) -> Operating:
        """Give anonymous memory back: all that the SimPy process holds, or less if a size is given."""
        return self.do(_core.free(size_bytes))

    def do(self, operation: _core.Operation) -> Operating:
        """Do any operation of `pagecast` that is about files, the page cache or memory, patterns too.

        Parameters
        ----------
        operation : Operation
            ``pagecast.fadvise(...)``, ``pagecast.sync_file_range(...)``, ...

        Returns
        -------
        generator
            For ``yield from``, which gives an `Outcome`.

        Raises
        ------
        ScenarioError
            When it begins: the operation is the model's own, such as computing and waiting, or is begun as
            only processes of a scenario do it (`asynchronous`, `not_before`).
        """
        check_type("operation", operation, _core.Operation, "pagecast.read(...)")
        return self._carried_out(operation)

    def set_priority(self, ionice: str) -> None:
        """Give the SimPy process's requests to disks a priority from now on.

        Parameters
        ----------
        ionice : str
            As `ionice` prints it: "idle", or "realtime" or "best-effort" and a level from 0 (best) to 7.
            Disks with a scheduler that minds it look at it.

        Raises
        ------
        ScenarioError
            No such priority.
        """
        self._come_to_now()
        if not self._core.set_priority(self._task().number, check_name("ionice", ionice)):
            raise ScenarioError(
                f"ionice={ionice!r}: must be 'idle', or 'realtime' or 'best-effort' and a level from 0 to 7"
            )

    def latency(self) -> list[Latency]:
        """Give how long the operations took that have ended, as the table `latency` of a result.

        Returns
        -------
        list of Latency
            A row for each name of a process, file and kind. SimPy names a process after its generator
            function.
        """
        return [
            Latency(process, path, operation, count, size_bytes, *times)
            for process, path, operation, count, size_bytes, times in self._core.latencies()
        ]

    def memory(self) -> Memory:
        """Give the content of the memory now.

        Returns
        -------
        Memory
        """
        self._come_to_now()
        return Memory(*self._core.levels(self._last_ns))

    def file(self, path: str | os.PathLike[str]) -> FileState:
        """Give the state of a file now.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        FileState

        Raises
        ------
        FileMissingError, NoMountError
            There is no such file.
        """
        self._come_to_now()
        return FileState(*self._core.file_levels(self._last_ns, path))

    # What the clock asks.

    @property
    def due(self) -> float:
        """When `wake` is to be called at the latest, in time of the environment."""
        if self._failure is not None:
            return inf
        if self._is_unsettled:
            return self._env.now
        if self._due_ns is None:
            return inf
        return min(self._born + self._due_ns * 1e-9 * self.units_per_s, self._furthest)

    @property
    def is_waited_for(self) -> bool:
        """Whether an operation is under way, and may end though nothing but page caches is left to happen."""
        if self._waiting == 0 or not self._transfers or self._disks.next_event_ns() is not None:
            return self._waiting > 0
        return self._env.now - self._stirred < _PATIENCE_S * self.units_per_s

    def wake(self, at: float) -> None:
        """Do what is due at a time of the environment."""
        now_ns = self._now_ns()
        if self._due_ns is not None and at >= self._born + self._due_ns * 1e-9 * self.units_per_s:
            now_ns = max(now_ns, self._due_ns)  # the environment's time is rounded
        self._settle(now_ns)

    # What disks of the model's own tell.

    def tell_rate(self, transfer: int, bytes_per_s: float) -> None:
        """Take note of how fast a transfer goes from now on."""
        self._rates[transfer] = bytes_per_s
        self._settle_soon()

    def complete(self, transfer: int) -> None:
        """Take note that a transfer has moved all its bytes."""
        self._come_to_now()
        self._obey(self._last_ns)
        if transfer in self._transfers:  # not cancelled at this very time
            self._forget(transfer)
            self._core.completed(self._last_ns, transfer)
            self._settle_soon()

    def _add_file(self, path: str | os.PathLike[str], file: File) -> None:
        if file.host is not None:
            raise ScenarioError(f"host={file.host!r} of {os.fspath(path)}: there is only one; leave it out")
        self._core.add_file(path, file.size_bytes, file.cached_bytes, file.dirty_bytes)

    def _serve(self, disks: Mapping[str, Serve], request_bytes: int) -> dict[int, ServedDisk]:
        known = {name: at for at, (name, _, _) in enumerate(self._core.disks)}
        served = {}
        for name, serve in disks.items():
            if name not in known:
                nearest = get_close_matches(name, known, n=1) or sorted(known)
                raise ScenarioError(f"the machine has no disk {name!r}; it has {', '.join(nearest)}")
            if not callable(serve):
                raise ArgumentTypeError(
                    f"disks[{name!r}]={written(serve)} is a {type(serve).__name__}; give a generator "
                    "function that takes a request and yields events"
                )
            _, read_bytes_per_s, write_bytes_per_s = self._core.disks[known[name]]
            served[known[name]] = ServedDisk(
                self._env,
                self,
                name,
                serve,
                request_bytes=request_bytes,
                read_bytes_per_s=read_bytes_per_s,
                write_bytes_per_s=write_bytes_per_s,
            )
        return served

    def _carried_out(self, operation: _core.Operation) -> Operating:
        task = self._task()
        while task.under_way is not None:  # the process was interrupted in it
            yield task.under_way
        self._come_to_now()
        try:
            self._core.begin(self._last_ns, task.number, operation)
        except SimulationError as error:
            self._note(error)
            raise
        task.operation, task.start_s = operation, self._now_s
        task.under_way = self._env.event()
        self._waiting += 1
        self._settle_soon()
        outcome: Outcome = yield task.under_way
        return outcome

    def _task(self) -> _Task:
        """Give the task of the process that is running."""
        process = self._env.active_process
        if process is None:
            raise SimulationError(
                "no process of this environment is running; write `yield from` in a SimPy process"
            )
        task = self._tasks.get(process)
        if task is None:
            task = _Task(self._core.add_task(process.name))
            self._tasks[process] = self._by_number[task.number] = task
            process.callbacks.append(lambda _: self._leave(process))
        return task

    def _leave(self, process: Process) -> None:
        """The process has ended."""
        task = self._tasks.pop(process)
        task.has_ended = True
        if task.under_way is None and self._failure is None:
            self._come_to_now()
            self._remove(task)
            self._settle_soon()

    def _remove(self, task: _Task) -> None:
        del self._by_number[task.number]
        self._core.remove_task(self._last_ns, task.number)

    @property
    def _now_s(self) -> float:
        return self._env.now / self.units_per_s

    def _now_ns(self) -> int:
        now_ns = round((self._env.now - self._born) / self.units_per_s * 1e9)
        return max(now_ns, self._last_ns)

    def _next_ns(self) -> int | None:
        calls = (self._core.next_call_ns(), self._disks.next_event_ns())
        return min((call for call in calls if call is not None), default=None)

    def _come_to_now(self) -> None:
        """Do what is due before anything is told at this time: much, if nobody has called for a while."""
        if self._failure is not None:
            raise SimulationError(f"the page cache is of no use any more: {self._failure}")
        now_ns = self._now_ns()
        if self._due_ns is not None and self._due_ns <= now_ns:
            self._settle(now_ns)
            self._clock.arm()
        self._last_ns = now_ns

    def _settle_soon(self) -> None:
        """Once all that happens at this time has happened."""
        if not self._is_unsettled:
            self._is_unsettled = True
            self._clock.arm()

    def _settle(self, now_ns: int) -> None:
        """Do what is due until now, and carry out all orders."""
        self._is_unsettled = True  # what is told meanwhile is heard
        try:
            self._due_ns = self._settled(now_ns)
        except SimulationError as error:
            self._note(error)
            raise
        self._is_unsettled = False
        self._furthest = self._env.now + _FURTHEST_S * self.units_per_s

    def _settled(self, now_ns: int) -> int | None:
        due_ns = self._due_ns
        while True:
            at_ns = now_ns if due_ns is None else min(max(due_ns, self._last_ns), now_ns)
            self._last_ns = at_ns
            for transfer in self._disks.completed(at_ns):
                self._core.completed(at_ns, transfer)
            self._obey(at_ns)
            rates = [*self._disks.rates(at_ns), *self._rates.items()]
            self._rates.clear()
            self._core.advance(at_ns, rates)
            due_ns = self._next_ns()
            if (due_ns is None or due_ns > now_ns) and at_ns == now_ns:
                return due_ns

    def _note(self, error: SimulationError) -> None:
        """After what its model has no answer to it is of no use."""
        if self._core.is_useless:
            self._failure = error

    def _obey(self, at_ns: int) -> None:
        for order in self._core.orders():
            self._carry_out(at_ns, order)

    def _carry_out(self, at_ns: int, order: _core.Order) -> None:
        if order.kind in ("start", "done"):
            self._stirred = self._env.now
        if order.kind == "done":
            self._done(self._by_number[order.task], order)
        elif order.kind == "start" and order.disk in self._served:
            self._transfers[order.transfer] = Transfer(self._served[order.disk], order)
        elif order.transfer in self._transfers:
            self._transfers[order.transfer].obey(order)
            if order.kind == "cancel":
                self._forget(order.transfer)
        else:
            self._disks.carry_out(at_ns, order)

    def _forget(self, transfer: int) -> None:
        del self._transfers[transfer]
        self._rates.pop(transfer, None)

    def _done(self, task: _Task, order: _core.Order) -> None:
        assert task.operation is not None, "it was begun"
        assert task.under_way is not None, "it was begun"
        self._waiting -= 1
        from_cache_bytes, from_device_bytes, parts_s = order.outcome()
        task.under_way.succeed(
            Outcome(
                operation=task.operation.name,
                path=task.operation.path,
                start_s=task.start_s,
                end_s=self._now_s,
                from_cache_bytes=from_cache_bytes,
                from_device_bytes=from_device_bytes,
                parts_s=parts_s,
            )
        )
        task.operation = task.under_way = None
        if task.has_ended:
            self._remove(task)
