"""Types of the compiled part of pagecast; `make lint` checks them against it with stubtest."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, SupportsFloat, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "DIRTY_SETTINGS",
    "FILE_SYSTEMS",
    "MODELS",
    "Backed",
    "Batches",
    "Bench",
    "CacheFiles",
    "CacheLock",
    "Calibration",
    "ChangedSettings",
    "DirectCost",
    "Disks",
    "LibraryCost",
    "Machine",
    "Measured",
    "MemoryGroup",
    "Operation",
    "Order",
    "PageCache",
    "Pattern",
    "Recording",
    "RecordingWriter",
    "Result",
    "RunPlan",
    "Scenario",
    "SyncCost",
    "SyscallCost",
    "__version__",
    "alloc",
    "bench_check",
    "bench_check_device",
    "bench_copy",
    "cache_available",
    "cache_drop",
    "cache_drop_check",
    "cache_evict",
    "cache_find",
    "cache_lock",
    "cache_lock_need",
    "cache_status",
    "cache_warm",
    "check_tracing",
    "close",
    "compute",
    "copy",
    "describe_fio",
    "device_limit",
    "dirty_settings",
    "dirty_thresholds",
    "drain",
    "drop_caches",
    "exit",
    "fadvise",
    "fclose",
    "fdatasync",
    "fflush",
    "find_command",
    "fopen",
    "format_bytes",
    "format_rate",
    "fread",
    "free",
    "fseek",
    "fsync",
    "fwrite",
    "generate_recording",
    "json_schema",
    "memory_counters",
    "mkdir",
    "mmap",
    "mmap_read",
    "mmap_write",
    "msync",
    "munmap",
    "now",
    "open",
    "parse_bytes",
    "parse_percent",
    "position_ratio",
    "put_back_dirty_settings",
    "read",
    "read_recording",
    "readahead",
    "rename",
    "run_command",
    "setvbuf",
    "signal",
    "simulate",
    "sleep",
    "sync",
    "sync_file_range",
    "syncfs",
    "task_ratelimit",
    "truncate",
    "unlink",
    "wait",
    "workload_format",
    "workload_formats",
    "write",
    "writer_pause",
]

_Path: TypeAlias = str | os.PathLike[str]
_By: TypeAlias = Literal["threads", "libaio", "io_uring", "posix_aio"]

__version__: str
DIRTY_SETTINGS: list[str]
FILE_SYSTEMS: list[str]
MODELS: list[str]

@final
class Operation:
    __hash__: None  # type: ignore[assignment]
    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str | None: ...
    def not_before(self, time_s: SupportsFloat, /) -> Operation: ...
    def asynchronous(self, *, depth: int, by: _By = "threads") -> Operation: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Pattern:
    __hash__: None  # type: ignore[assignment]
    def __new__(
        cls,
        random: str | None = None,
        *,
        once: bool = False,
        backwards: bool = False,
        stride_bytes: SupportsFloat | None = None,
        within_bytes: SupportsFloat | None = None,
        writes: SupportsFloat = 0,
        depth: int = 1,
        by: _By = "threads",
        rate_bytes_per_s: SupportsFloat | None = None,
        rate_iops: SupportsFloat | None = None,
        for_s: SupportsFloat | None = None,
        seed: int = 0,
    ) -> Pattern: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

def now() -> float: ...
def read(
    path: _Path,
    *,
    offset_bytes: SupportsFloat = 0,
    size_bytes: SupportsFloat | None = None,
    call_bytes: SupportsFloat | None = None,
    vector: int = 1,
    buffer: Literal["reused", "fresh"] = "reused",
    pattern: Pattern | None = None,
) -> Operation: ...
def write(
    path: _Path,
    *,
    size_bytes: SupportsFloat,
    offset_bytes: SupportsFloat = 0,
    append: bool = False,
    call_bytes: SupportsFloat | None = None,
    vector: int = 1,
    pattern: Pattern | None = None,
) -> Operation: ...
def open(
    path: _Path,
    *,
    create: bool = False,
    truncate: bool = False,
    flags: Sequence[Literal["O_DIRECT", "O_SYNC", "O_DSYNC", "O_APPEND", "RWF_DONTCACHE"]] = (),
) -> Operation: ...
def copy(
    path: _Path,
    to: _Path,
    *,
    by: Literal["read_write", "sendfile", "copy_file_range"],
    offset_bytes: SupportsFloat = 0,
    size_bytes: SupportsFloat | None = None,
    call_bytes: SupportsFloat | None = None,
) -> Operation: ...
def close(path: _Path) -> Operation: ...
def fsync(path: _Path) -> Operation: ...
def fdatasync(path: _Path) -> Operation: ...
def sync() -> Operation: ...
def syncfs(path: _Path) -> Operation: ...
def sync_file_range(
    path: _Path,
    *,
    flags: Sequence[Literal["WAIT_BEFORE", "WRITE", "WAIT_AFTER"]],
    offset_bytes: SupportsFloat = 0,
    size_bytes: SupportsFloat | None = None,
) -> Operation: ...
def readahead(
    path: _Path,
    *,
    offset_bytes: SupportsFloat = 0,
    size_bytes: SupportsFloat | None = None,
) -> Operation: ...
def mmap(path: _Path) -> Operation: ...
def munmap(path: _Path) -> Operation: ...
def mmap_read(
    path: _Path,
    *,
    offset_bytes: SupportsFloat = 0,
    size_bytes: SupportsFloat | None = None,
    advice: Literal["normal", "sequential", "random"] = "normal",
) -> Operation: ...
def mmap_write(
    path: _Path,
    *,
    offset_bytes: SupportsFloat = 0,
    size_bytes: SupportsFloat | None = None,
    advice: Literal["normal", "sequential", "random"] = "normal",
) -> Operation: ...
def msync(
    path: _Path,
    *,
    offset_bytes: SupportsFloat = 0,
    size_bytes: SupportsFloat | None = None,
    is_async: bool = False,
) -> Operation: ...
def truncate(path: _Path, *, size_bytes: SupportsFloat) -> Operation: ...
def rename(path: _Path, to: _Path) -> Operation: ...
def mkdir(path: _Path) -> Operation: ...
def unlink(path: _Path) -> Operation: ...
def drain() -> Operation: ...
def drop_caches() -> Operation: ...
def fadvise(
    path: _Path,
    *,
    advice: Literal["dontneed", "willneed", "sequential", "random", "normal", "noreuse"],
    offset_bytes: SupportsFloat = 0,
    size_bytes: SupportsFloat | None = None,
) -> Operation: ...
def fopen(
    path: _Path,
    *,
    mode: Literal["r", "w", "a", "r+", "w+", "a+"],
    stream: Literal["c", "c++", "python", "java"] = "c",
    buffer_bytes: SupportsFloat | None = None,
) -> Operation: ...
def setvbuf(path: _Path, *, size_bytes: SupportsFloat) -> Operation: ...
def fwrite(
    path: _Path,
    *,
    size_bytes: SupportsFloat,
    offset_bytes: SupportsFloat | None = None,
    call_bytes: SupportsFloat | None = None,
) -> Operation: ...
def fread(
    path: _Path,
    *,
    size_bytes: SupportsFloat | None = None,
    offset_bytes: SupportsFloat | None = None,
    call_bytes: SupportsFloat | None = None,
) -> Operation: ...
def fseek(path: _Path, *, offset_bytes: SupportsFloat) -> Operation: ...
def fflush(path: _Path) -> Operation: ...
def fclose(path: _Path) -> Operation: ...
def compute(duration_s: SupportsFloat) -> Operation: ...
def sleep(duration_s: SupportsFloat) -> Operation: ...
def alloc(size_bytes: SupportsFloat) -> Operation: ...
def free(size_bytes: SupportsFloat | None = None) -> Operation: ...
def wait(event: str) -> Operation: ...
def signal(event: str) -> Operation: ...
def exit() -> Operation: ...
def format_bytes(size_bytes: int, /) -> str: ...
def format_rate(rate_bytes_per_s: SupportsFloat, /) -> str: ...
def parse_bytes(text: str, /) -> int: ...
def parse_percent(text: str, /) -> float: ...
def json_schema() -> str: ...
def describe_fio(path: str) -> str | None: ...
def workload_format(path: str) -> str | None: ...
def workload_formats() -> list[tuple[str, str, list[str]]]: ...
def position_ratio(
    *,
    limit: int,
    background: int,
    dirty: int,
    device_limit: int,
    device_background: int,
    device_dirty: int,
    bandwidth: int,
    strict_limit: bool = False,
    floor_in_ratio: bool = False,
) -> tuple[int, float]: ...
def task_ratelimit(dirty_ratelimit: int, position_ratio: int) -> int: ...
def dirty_thresholds(
    dirtyable: int, *, dirty_ratio: int, dirty_background_ratio: int, plain: bool = False
) -> tuple[int, int]: ...
def device_limit(limit: int, *, max_ratio: int) -> int: ...
def writer_pause(
    *,
    dirty_ratelimit: int,
    task_ratelimit: int,
    bandwidth: int,
    device_dirty: int,
    hz: int,
    dirtied: int,
    think: int,
) -> tuple[int, int | None, int]: ...

@final
class Machine:
    __hash__: None  # type: ignore[assignment]
    @staticmethod
    def from_toml(text: bytes, origin: str, *, base_dir: _Path, machine_dir: _Path) -> Machine: ...
    @property
    def hosts(self) -> list[str]: ...
    @property
    def mounts(self) -> list[str]: ...
    @property
    def hash(self) -> str: ...
    def implied(self) -> list[tuple[str, str, str, str, str]]: ...
    def to_toml(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Backed:
    def __new__(cls) -> Backed: ...
    @property
    def bytes(self) -> int: ...
    def look(self, now_s: float, free_bytes: int, free_blocks: Sequence[int] | None = None) -> None: ...

@final
class PageCache:
    def __new__(cls, machine: Machine, model: str, *, options: Mapping[str, str]) -> PageCache: ...
    @property
    def disks(self) -> list[tuple[str, float, float]]: ...
    @property
    def is_useless(self) -> bool: ...
    def add_file(
        self, path: _Path, size_bytes: SupportsFloat, cached_bytes: SupportsFloat, dirty_bytes: SupportsFloat
    ) -> None: ...
    def add_task(self) -> int: ...
    def remove_task(self, now_ns: int, task: int) -> None: ...
    def begin(self, now_ns: int, task: int, operation: Operation) -> None: ...
    def completed(self, now_ns: int, transfer: int) -> None: ...
    def advance(self, now_ns: int, rates: list[tuple[int, float]]) -> None: ...
    def next_call_ns(self) -> int | None: ...
    def orders(self) -> list[Order]: ...
    def levels(self, now_ns: int) -> tuple[int, int, int, int]: ...
    def file_levels(self, now_ns: int, path: _Path) -> tuple[int, int, int]: ...

@final
class Order:
    @property
    def kind(self) -> Literal["start", "limit", "shorten", "cancel", "done"]: ...
    @property
    def transfer(self) -> int: ...
    @property
    def disk(self) -> int: ...
    @property
    def is_write(self) -> bool: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def limit_bytes_per_s(self) -> float: ...
    @property
    def task(self) -> int: ...
    def outcome(self) -> tuple[int, int, dict[str, float]]: ...

@final
class Disks:
    def __new__(cls, machine: Machine) -> Disks: ...
    def carry_out(self, now_ns: int, order: Order) -> None: ...
    def rates(self, now_ns: int) -> list[tuple[int, float]]: ...
    def next_event_ns(self) -> int | None: ...
    def completed(self, now_ns: int) -> list[int]: ...

@final
class Scenario:
    @staticmethod
    def from_toml(
        text: bytes,
        origin: str,
        *,
        base_dir: _Path,
        machine_dir: _Path,
        overrides: Sequence[str],
    ) -> Scenario: ...
    @staticmethod
    def from_parts(
        machine: Machine,
        files: Sequence[tuple[str | None, _Path, SupportsFloat, SupportsFloat, SupportsFloat]],
        processes: Sequence[
            tuple[
                str,
                str | None,
                str | None,
                Sequence[str],
                SupportsFloat,
                tuple[int, int, Sequence[str]] | None,
                Callable[[], Iterable[Operation]],
            ]
        ],
    ) -> Scenario: ...
    def in_cgroup(self, name: str, limit_bytes: int, is_v2: bool) -> Scenario: ...
    def with_memory(self, size_bytes: int) -> Scenario: ...
    def record(self, operations: int) -> Recording: ...
    @property
    def origin(self) -> str: ...
    @property
    def models(self) -> list[str]: ...
    @property
    def tolerance(self) -> dict[str, float]: ...
    @property
    def machine(self) -> Machine: ...
    @property
    def hosts(self) -> list[str]: ...
    @property
    def processes(self) -> list[str]: ...
    @property
    def files(self) -> list[str]: ...
    @property
    def sources(self) -> list[tuple[str, str, list[tuple[str, str]]]]: ...
    @property
    def machine_hash(self) -> str: ...

@final
class Result:
    @property
    def model(self) -> str: ...
    @property
    def options(self) -> dict[str, str]: ...
    @property
    def machine_hash(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def origin(self) -> str: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def end_s(self) -> float: ...
    @property
    def slots(self) -> dict[str, int]: ...
    @property
    def events_left_out(self) -> int: ...
    @property
    def changes_evenly(self) -> bool: ...
    @property
    def has_all_operations(self) -> bool: ...
    @property
    def blocks_left_out(self) -> int: ...
    def columns(self, table: str) -> dict[str, Any]: ...

def simulate(
    scenario: Scenario,
    model: str,
    *,
    seed: int = 0,
    options: Mapping[str, str] | None = None,
    residency: str | None = None,
    record: str = "all",
    at_risk: bool = False,
    threads: int | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> Result: ...

@final
class Recording:
    def __len__(self) -> int: ...
    @property
    def processes(self) -> int: ...
    @property
    def files(self) -> list[tuple[str, int, bool]]: ...
    @property
    def notes(self) -> list[tuple[str, str]]: ...
    @property
    def level(self) -> Literal["files", "blocks", "objects"]: ...
    def save(
        self,
        form: Literal["trace", "csv"],
        path: _Path | None = None,
        *,
        progress: Callable[[float], object] | None = None,
    ) -> None: ...
    def batches(self) -> Batches: ...
    def describe(self, most_pages: int) -> str: ...
    def lines(self) -> dict[str, list[int]]: ...
    def object_lru(self, size_bytes: int) -> tuple[int, int, int, int]: ...

@final
class Batches:
    def __iter__(self) -> Batches: ...
    def __next__(self) -> dict[str, list[Any]]: ...

@final
class RecordingWriter:
    def __new__(cls, origin: str, level: str = "files") -> RecordingWriter: ...
    def push(self, columns: dict[str, list[Any]]) -> None: ...
    def file(self, path: str, size_bytes: int) -> None: ...
    def note(self, text: str) -> None: ...
    def finish(self) -> Recording: ...

def read_recording(
    path: _Path,
    *,
    origin: str | None = None,
    format: str | None = None,
    lenient: bool = False,
    columns: str | None = None,
    strace_overhead: str | None = None,
    system_files: bool = False,
    operations: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Recording: ...
def generate_recording(origin: str, description: str, requests: int, seed: int) -> Recording: ...

_Progress: TypeAlias = Callable[[str, int, int | None], object]

@final
class CacheFiles:
    @property
    def paths(self) -> list[str]: ...
    @property
    def problems(self) -> list[tuple[str, str]]: ...
    @property
    def links_left_out(self) -> int: ...
    @property
    def links_back(self) -> int: ...
    @property
    def special_left_out(self) -> int: ...
    @property
    def mounts_left_out(self) -> list[str]: ...
    def __len__(self) -> int: ...

@final
class CacheLock:
    @property
    def locked_bytes(self) -> int: ...
    def release(self) -> None: ...

_Moved: TypeAlias = tuple[int, int, float, float, list[tuple[float, int]]]

@final
class Calibration:
    def __new__(cls, directory: _Path, needed_bytes: int) -> Calibration: ...
    @staticmethod
    def check(directory: _Path, needed_bytes: int) -> None: ...
    def accepts_direct(self) -> bool: ...
    def streams(
        self,
        streams: Sequence[tuple[bool, int, int, int, int | None]],
        *,
        direct: bool,
        most_bytes: int,
        most_s: float,
        mark_s: float,
        durable: bool = False,
    ) -> list[_Moved]: ...
    def copies(
        self, file_bytes: int, call_bytes: int, *, threads: int = 1, huge: bool = False
    ) -> list[tuple[float, float, float, float, float, float]]: ...
    def mappings(
        self, file_bytes: int, call_bytes: int
    ) -> tuple[float, float, float, float, float] | None: ...
    def syncs(self, waiting: str, *, block_bytes: int, most: int, most_s: float) -> list[float]: ...
    def drain(self, bytes: int) -> tuple[_Moved, float]: ...
    def put(self, bytes: int) -> None: ...
    def cut(self) -> float: ...
    def fill(self, bytes: int, mark_bytes: int) -> _Moved: ...
    def memory(self, bytes: int, call_bytes: int) -> float: ...
    def stream_buffer(self) -> int | None: ...
    def beside(self, dirty_bytes: int, most_bytes: int) -> tuple[_Moved, _Moved, _Moved]: ...
    def touches(self, bytes: int, piece_bytes: int) -> tuple[list[float], list[float]]: ...
    def close(self) -> None: ...

@final
class DirectCost:
    def __new__(
        cls, *, bw_dev: SupportsFloat, sc_sw: SupportsFloat, c_sk: SupportsFloat = 0.0
    ) -> DirectCost: ...
    def write(self, offset_bytes: SupportsFloat, size_bytes: SupportsFloat) -> float: ...
    def write_all(self, offset_bytes: ArrayLike, size_bytes: ArrayLike) -> NDArray[np.float64]: ...

@final
class SyncCost:
    def __new__(
        cls,
        *,
        bw_ramdisk: SupportsFloat,
        bw_dev: SupportsFloat,
        bw_rdev: SupportsFloat,
        sc_sw: SupportsFloat,
        bs: SupportsFloat = 512.0,
        c_sk: SupportsFloat = 0.0,
        partial: Literal["block", "page"] = "block",
    ) -> SyncCost: ...
    def write(self, offset_bytes: SupportsFloat, size_bytes: SupportsFloat) -> float: ...
    def write_all(self, offset_bytes: ArrayLike, size_bytes: ArrayLike) -> NDArray[np.float64]: ...

@final
class SyscallCost:
    def __new__(
        cls,
        *,
        bw_ramdisk: SupportsFloat,
        bw_reduced: SupportsFloat,
        bw_dev: SupportsFloat,
        limit_bg: SupportsFloat,
        limit_hard: SupportsFloat,
        dirty_expire: SupportsFloat = 30.0,
        sc_w: SupportsFloat = 0.0,
        throttling: Literal["minimum", "harmonic"] = "minimum",
        bw_sync: SupportsFloat | None = None,
    ) -> SyscallCost: ...
    def write(
        self,
        offset_bytes: SupportsFloat,
        size_bytes: SupportsFloat,
        *,
        pause_s: SupportsFloat = 0.0,
        at_s: SupportsFloat | None = None,
        file: int = 0,
    ) -> float: ...
    def write_all(
        self,
        offset_bytes: ArrayLike,
        size_bytes: ArrayLike,
        *,
        pause_s: ArrayLike | None = None,
        at_s: ArrayLike | None = None,
        file: int = 0,
    ) -> tuple[NDArray[np.float64], NDArray[np.uint64]]: ...
    def pause(self, duration_s: SupportsFloat) -> None: ...
    @property
    def dirty_bytes(self) -> int: ...
    @property
    def active_bytes(self) -> int: ...
    @property
    def cleaned_bytes(self) -> int: ...
    @property
    def setpoint_bytes(self) -> int: ...
    @property
    def time_s(self) -> float: ...

@final
class LibraryCost:
    def __new__(
        cls,
        calls: SyscallCost,
        *,
        bw_mem: SupportsFloat,
        bf: SupportsFloat = 4096.0,
        lib_metacost: SupportsFloat = 0.0,
        when_full: Literal["now", "next"] = "now",
    ) -> LibraryCost: ...
    def write(
        self, size_bytes: SupportsFloat, *, pause_s: SupportsFloat = 0.0, at_s: SupportsFloat | None = None
    ) -> float: ...
    def write_all(
        self, size_bytes: ArrayLike, *, pause_s: ArrayLike | None = None, at_s: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.uint64]]: ...
    def flush(self) -> float: ...
    @property
    def pending_bytes(self) -> int: ...
    @property
    def dirty_bytes(self) -> int: ...
    @property
    def time_s(self) -> float: ...

@final
class MemoryGroup:
    def __new__(cls, limit_bytes: int) -> MemoryGroup: ...
    @property
    def version(self) -> int | None: ...
    @property
    def peak_bytes(self) -> int | None: ...
    @property
    def out_of_memory_kills(self) -> int: ...
    def close(self) -> None: ...

def cache_find(
    paths: Sequence[_Path],
    *,
    follow: bool = False,
    one_file_system: bool = False,
    progress: _Progress | None = None,
) -> CacheFiles: ...
def cache_status(
    files: CacheFiles, *, method: str | None = None, cells: int = 0, progress: _Progress | None = None
) -> dict[str, Any]: ...
def cache_evict(
    files: CacheFiles, *, method: str | None = None, sync: bool = True, progress: _Progress | None = None
) -> dict[str, Any]: ...
def cache_warm(
    files: CacheFiles, *, method: str | None = None, progress: _Progress | None = None
) -> dict[str, Any]: ...
def cache_lock(
    files: CacheFiles, *, method: str | None = None, progress: _Progress | None = None
) -> tuple[CacheLock, dict[str, Any]]: ...
def cache_lock_need(files: CacheFiles) -> tuple[int, int | None]: ...
def cache_available() -> int: ...
def cache_drop_check() -> None: ...
def cache_drop(
    what: str = "all", *, sync: bool = True, progress: _Progress | None = None
) -> tuple[dict[str, int], dict[str, int]]: ...
def memory_counters() -> dict[str, int]: ...
def find_command(name: str) -> str: ...
def run_command(
    command: Sequence[str],
    *,
    paths: Sequence[_Path],
    group: MemoryGroup | None = None,
    show_output: bool = False,
    progress: _Progress | None = None,
) -> dict[str, Any]: ...

@final
class Bench:
    def __new__(
        cls,
        directory: _Path,
        *,
        size_bytes: int,
        call_bytes: int,
        threads: int,
        is_cached: bool,
        limit_s: float,
        device: _Path | None = None,
    ) -> Bench: ...
    @property
    def path(self) -> Path | None: ...
    def run(self, cell: dict[str, Any], *, progress: _Progress | None = None) -> dict[str, Any]: ...
    def prepare(self, cell: dict[str, Any], *, progress: _Progress | None = None) -> tuple[int, bool]: ...
    def close(self) -> None: ...

@final
class ChangedSettings:
    def __new__(cls, wanted: Sequence[tuple[str, int]]) -> ChangedSettings: ...
    def close(self) -> None: ...

def bench_check(
    directory: _Path, *, size_bytes: int, call_bytes: int, threads: int, is_cached: bool
) -> dict[str, Any]: ...
def bench_check_device(device: _Path, *, size_bytes: int) -> dict[str, Any]: ...
def bench_copy(
    cell: dict[str, Any], *, size_bytes: int, progress: _Progress | None = None
) -> dict[str, Any]: ...
def dirty_settings() -> dict[str, int]: ...
def put_back_dirty_settings() -> dict[str, int]: ...
def check_tracing() -> None: ...

@final
class RunPlan:
    def __new__(
        cls,
        scenario: Scenario,
        *,
        residency: str | None = None,
        per_call: int | None = None,
        record: str = "all",
    ) -> RunPlan: ...
    @property
    def prepared_bytes(self) -> int: ...
    @property
    def written_bytes(self) -> int: ...
    @property
    def space_bytes(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def operations(self) -> int: ...
    @property
    def is_open_ended(self) -> bool: ...
    @property
    def paths(self) -> list[tuple[str, Path]]: ...
    def check(self, directory: _Path) -> dict[str, Any]: ...
    def run(
        self,
        directory: _Path,
        *,
        keep: bool = False,
        sample_hz: int = 20,
        trace: bool = False,
        progress: _Progress | None = None,
    ) -> Measured: ...

@final
class Measured:
    @property
    def result(self) -> Result: ...
    @property
    def file_system(self) -> str: ...
    @property
    def kept(self) -> Path | None: ...
    @property
    def sample_hz(self) -> int: ...
    @property
    def prepared_s(self) -> float: ...
    @property
    def sampler_s(self) -> float: ...
    def learnt(self) -> dict[str, Any] | None: ...
    def details(self) -> dict[str, Any]: ...
    def calls(self) -> dict[str, Any]: ...
    def samples(self) -> dict[str, Any]: ...
    def file_samples(self) -> dict[str, Any]: ...
    def trace(self) -> dict[str, Any]: ...
