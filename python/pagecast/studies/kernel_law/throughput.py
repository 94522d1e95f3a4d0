"""Throughput of many writers on one disk: published figures, and the same cases simulated."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from pagecast.api import Scenario, simulate
from pagecast.errors import StudyError
from pagecast.studies.tables import Record, number, read, whole

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = [
    "ERAS",
    "MIB",
    "Case",
    "Simulate",
    "Throughput",
    "by_kind",
    "by_limit",
    "cases",
    "forecast",
    "simulate_case",
]

TABLE: Final = "published_throughput.csv"
COLUMNS: Final = (
    "table",
    "kernel",
    "throttling",
    "filesystem",
    "storage",
    "n_disks",
    "workload",
    "n_writers",
    "block_bytes",
    "mem_class_mib",
    "mem_limit_mib",
    "dirty_ratio_percent",
    "dirty_limit_bytes",
    "background_ratio_percent",
    "background_bytes",
    "metric",
    "value",
)

ERAS: Final = {"throughput": ("IO-less", "3.2"), "foreground": ("foreground writeback", "3.1")}
"""For each experiment how its kernels hold writers back, in the words of the table, and their version."""

MIB: Final = 2**20

BEGIN_S: Final = 10.0
END_S: Final = 60.0
"""Bytes written in between count."""

SCENARIO: Final = Path(__file__).parent / "scenario.toml"

OF_A_DISK: Final = "[machine.disk.hdd]"
"""From here on the scenario is about one disk."""

STORAGES: Final = {"hdd": "", "hdd_jbod": "JBOD", "hdd_raid0": "RAID 0"}
"""What is compared, and its name."""

LEAST_LIMIT: Final = 8 * MIB
"""With less, file systems are in each other's way, and the trees of btrfs fill it."""

MOST_WRITERS: Final = 100
"""On all disks together; forecasts of more take minutes each."""

ONE_STREAM: Final = "one stream: one writer or btrfs, limit of 8 MiB or more"
SEVERAL_FILES: Final = "several files, or a limit of 1 MiB"

NO_SEEKS: Final = ("btrfs",)
"""File systems that allocate successive writes side by side."""


@dataclass(frozen=True)
class Case:
    """One published case.

    `most_mib_per_s` is the most that was published of the same disks and file system. `writers` are those of
    each disk where each has a file system of its own. `disk_mib_per_s` is the rate of one disk: the most that
    was published of the machine, on any file system.
    """

    table: str
    kernel: str
    filesystem: str
    storage: str
    disks: int
    writers: int
    call_bytes: int
    memory_mib: int
    limit: str
    limit_bytes: int
    background: str
    published_mib_per_s: float
    most_mib_per_s: float
    disk_mib_per_s: float
    version: str = ERAS["throughput"][1]

    @property
    def name(self) -> str:
        """What it is called in rows."""
        storage = f" {STORAGES[self.storage]} of {self.disks} disks" if self.disks > 1 else ""
        return (
            f"{self.table} {self.kernel} {self.filesystem}{storage} {self.memory_mib} MiB, "
            f"limit {self.limit}, background {self.background}, {self.writers} writers of {self.call_bytes} B"
        )

    @property
    def is_most(self) -> bool:
        """Whether the others are measured by this very case."""
        return self.published_mib_per_s == self.most_mib_per_s

    @property
    def has_no_seeks(self) -> bool:
        """Whether the disk has next to nothing but one stream to write."""
        return self.limit_bytes >= LEAST_LIMIT and (self.writers == 1 or self.filesystem in NO_SEEKS)

    @property
    def kind(self) -> str:
        """What it says about the disks."""
        if self.disks > 1:
            return f"{STORAGES[self.storage]}, {self.disks} disks"
        return ONE_STREAM if self.has_no_seeks else SEVERAL_FILES

    def _of_disks(self) -> Iterator[str]:
        options = {"ext3": ("journal={}", "delalloc=false"), "ext4": ("journal={}",), "xfs": ("journal={}",)}
        for at, mount in enumerate(self.mounts, 1):
            disk = f"machine.disk.hdd{at if at > 1 else ''}"
            yield from (f'{disk}.{way}="{self.disk_mib_per_s} MiB/s"' for way in ("read", "write"))
            for option in (f'type="{self.filesystem}"', *options.get(self.filesystem, ())):
                yield f'machine.mount."{mount}".{option}'

    @property
    def is_array(self) -> bool:
        """Whether its disks make one."""
        return self.storage == "hdd_raid0"

    @property
    def mounts(self) -> tuple[str, ...]:
        """Where its file systems are."""
        return ("/fs", *(f"/fs{disk}" for disk in range(2, 1 if self.is_array else self.disks + 1)))

    @property
    def scenario(self) -> str:
        """The scenario; where disks make no array, each has a file system and writers of its own."""
        text = SCENARIO.read_text(encoding="utf-8")
        of_a_disk = text[text.index(OF_A_DISK) :]
        others = (
            of_a_disk.replace("hdd", f"hdd{at}").replace("/fs", mount).replace('"dd', f'"dd{at}_')
            for at, mount in enumerate(self.mounts[1:], 2)
        )
        return "\n".join((text, *others))

    @property
    def published(self) -> float:
        """As a part of the most."""
        return self.published_mib_per_s / self.most_mib_per_s

    @cached_property
    def overrides(self) -> tuple[str, ...]:
        """Settings of the case in the scenario."""
        limits = {"dirty": self.limit, "dirty_background": self.background}
        vm = [
            f"machine.vm.{name}_ratio={value.removesuffix('%')}"
            if value.endswith("%")
            else f'machine.vm.{name}_bytes="{value} B"'
            for name, value in limits.items()
        ]
        disks = self.disks if self.is_array else 1
        bytes_each = (2 * END_S * self.disk_mib_per_s * MIB * disks + self.limit_bytes) / self.writers
        raid = [f'machine.disk.hdd.raid={{ level = "0", disks = {self.disks} }}'] if self.is_array else []
        return (
            *vm,
            *raid,
            *self._of_disks(),
            f"parameter.writers={self.writers}",
            f'parameter.call="{self.call_bytes} B"',
            f'parameter.size="{round(bytes_each)} B"',
            f'machine.memory.size="{self.memory_mib} MiB"',
            f'machine.kernel.version="{self.version}"',
        )


@dataclass(frozen=True)
class Throughput:
    """A case and its forecast, as a part of the rate of the disk."""

    case: Case
    forecast: float
    machine_hash: str

    @property
    def difference(self) -> float:
        """Forecast less published, both as parts of the most."""
        return self.forecast - self.case.published


Simulate = Callable[[Case, tuple[str, ...]], "Result"]
"""Like `simulate_case`; tests put their own in its place."""


def cases(folder: Path, experiment: str = "throughput") -> list[Case]:
    """Read the published cases with `dd` on disks, of the kernels of an experiment.

    Raises
    ------
    StudyError
        The table is not there or cannot be understood.
    """
    throttling, version = ERAS[experiment]
    chosen = [record for record in read(folder, TABLE, COLUMNS) if _is_compared(record, throttling)]
    most: dict[tuple[str, ...], float] = {}
    of_machine: dict[tuple[str, ...], float] = {}
    for record in chosen:
        most[_disk(record)] = max(_value(record), most.get(_disk(record), 0.0))
        of_machine[_machine(record)] = max(_value(record), of_machine.get(_machine(record), 0.0))
    return [_case(record, most[_disk(record)], of_machine[_machine(record)], version) for record in chosen]


def _is_compared(record: Record, throttling: str) -> bool:
    return (
        record["throttling"].startswith(throttling)
        and record["workload"] == "sequential dd"
        and record["metric"] == "write_bandwidth"
        and record["storage"] in STORAGES
        and (record["storage"] == "hdd") == (record["n_disks"] == "1")
        and _writers(record) <= MOST_WRITERS
    )


def _writers(record: Record) -> int:
    each = whole(record, "n_disks", TABLE) if record["storage"] == "hdd_jbod" else 1
    return each * whole(record, "n_writers", TABLE)


def _machine(record: Record) -> tuple[str, ...]:
    columns = ("table", "storage", "n_disks", "mem_class_mib")
    return tuple(record[column] for column in columns)


def _disk(record: Record) -> tuple[str, ...]:
    columns = (
        "table",
        "kernel",
        "filesystem",
        "storage",
        "n_disks",
        "mem_class_mib",
        "mem_limit_mib",
        "block_bytes",
    )
    return tuple(record[column] for column in columns)


def _value(record: Record) -> float:
    value = number(record, "value", TABLE)
    if value <= 0:
        raise StudyError(f"{TABLE}: value is {value:g} MiB/s; a case that writes nothing is none")
    return value


def _case(record: Record, most_mib_per_s: float, of_machine_mib_per_s: float, version: str) -> Case:
    memory = "mem_limit_mib" if record["mem_limit_mib"] else "mem_class_mib"
    memory_mib = whole(record, memory, TABLE)
    if record["dirty_limit_bytes"]:
        limit, limit_bytes = record["dirty_limit_bytes"], whole(record, "dirty_limit_bytes", TABLE)
    else:
        limit = f"{record['dirty_ratio_percent']}%"
        limit_bytes = whole(record, "dirty_ratio_percent", TABLE) * memory_mib * MIB // 100
    return Case(
        record["table"],
        record["kernel"],
        record["filesystem"],
        record["storage"],
        whole(record, "n_disks", TABLE),
        whole(record, "n_writers", TABLE),
        whole(record, "block_bytes", TABLE),
        memory_mib,
        limit,
        limit_bytes,
        record["background_bytes"] or f"{record['background_ratio_percent']}%",
        _value(record),
        most_mib_per_s,
        of_machine_mib_per_s / whole(record, "n_disks", TABLE),
        version,
    )


def simulate_case(case: Case, overrides: tuple[str, ...]) -> "Result":
    """Simulate a case under the model `kernel`."""
    scenario = Scenario.from_toml(
        case.scenario, origin=SCENARIO.name, base_dir=SCENARIO.parent, set=[*case.overrides, *overrides]
    )
    return simulate(scenario, model="kernel")


def forecast(of: Iterable[Case], overrides: tuple[str, ...], simulate: Simulate) -> Iterator[Throughput]:
    """Simulate cases; the same case in several tables is simulated once."""
    known: dict[tuple[str, ...], tuple[float, str]] = {}
    for case in of:
        if case.overrides not in known:
            result = simulate(case, overrides)
            written = _written_bytes_per_s(result) / (case.disk_mib_per_s * MIB * case.disks)
            known[case.overrides] = (written, str(result.provenance["machine_hash"]))
        yield Throughput(case, *known[case.overrides])


def _written_bytes_per_s(result: "Result") -> float:
    """Give the bytes written back in the time that counts: dirtied bytes less dirty bytes."""
    timeline = result.timeline
    clean = np.asarray(timeline["dirtied_bytes"], float) - np.asarray(timeline["dirty_bytes"], float)
    begin, end = np.interp((BEGIN_S, END_S), np.asarray(timeline["time_s"]), clean)
    return float(end - begin) / (END_S - BEGIN_S)


def by_limit(of: Iterable[Throughput]) -> dict[tuple[int, int, str], list[Throughput]]:
    """Group comparable cases on one disk: by size of the limit in MiB, number of writers, and file system."""
    groups: dict[tuple[int, int, str], list[Throughput]] = {}
    for one in (one for one in of if one.case.disks == 1):
        key = (round(one.case.limit_bytes / MIB), one.case.writers, one.case.filesystem)
        groups.setdefault(key, []).append(one)
    return dict(sorted(groups.items()))


def by_kind(of: Iterable[Throughput]) -> dict[str, list[Throughput]]:
    """Group cases by what they say about the disks, those on one disk first."""
    groups: dict[str, list[Throughput]] = {ONE_STREAM: [], SEVERAL_FILES: []}
    for one in sorted(of, key=lambda one: (one.case.disks, one.case.storage)):
        groups.setdefault(one.case.kind, []).append(one)
    return {kind: found for kind, found in groups.items() if found}
