"""The published cases: `dd` over NFS, by kernel, dirty limit of the client, and number of writers."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pagecast.errors import StudyError
from pagecast.studies.tables import Record, number, read, whole

__all__ = ["MIB", "Case", "Commits", "cases", "reference"]

TABLE: Final = "published_throughput.csv"
COLUMNS: Final = (
    "kernel",
    "throttling",
    "filesystem",
    "n_writers",
    "block_bytes",
    "mem_class_mib",
    "dirty_limit_bytes",
    "background_ratio_percent",
    "metric",
    "value",
)

MIB: Final = 2**20

VERSIONS: Final = {"vanilla": "3.1", "ioless6": "3.2"}
"""The kernels that are compared, by the end of their name, and the version that they are forecast as."""

TRENDS: Final = ("nfs-smooth", "nfs-wq", "nfs-wq-smooth")
"""Patches of the NFS client that were not merged: for trends only."""


@dataclass(frozen=True)
class Commits:
    """What COMMITs of a case had: MiB, and how long one took from sending to its answer, in seconds."""

    size_mib: float
    round_trip_s: float

    @property
    def mib_per_s(self) -> float:
        """The rate at which the disk of the server takes what is committed."""
        return self.size_mib / self.round_trip_s


@dataclass(frozen=True)
class Case:
    """One published case; `commits` is None where the mails do not say.

    `version` is the version that it is forecast as, empty for patches that were not merged.
    """

    kernel: str
    version: str
    limit_bytes: int
    writers: int
    call_bytes: int
    memory_mib: int
    background_percent: int
    mib_per_s: float
    commits: Commits | None = None

    @property
    def name(self) -> str:
        """What it is called in rows."""
        return f"{self.kernel}, limit {self.limit_bytes // MIB} MiB, {self.writers} writers"


def cases(folder: Path) -> list[Case]:
    """Read the published cases, those of patches at the end.

    Raises
    ------
    StudyError
        The table is not there, cannot be understood, or has no case over NFS.
    """
    of_nfs = [record for record in read(folder, TABLE, COLUMNS) if record["filesystem"] == "nfs"]
    metrics: dict[tuple[str, str, str], dict[str, float]] = {}
    for record in of_nfs:
        metrics.setdefault(_key(record), {})[record["metric"]] = _value(record)
    rates = [record for record in of_nfs if record["metric"] == "write_bandwidth"]
    if not rates:
        raise StudyError(f"{folder / TABLE}: there is no write_bandwidth of nfs")
    found = [_case(record, metrics[_key(record)]) for record in rates]
    return sorted(found, key=lambda case: not case.version)


def reference(of: list[Case]) -> Case:
    """Give the case that fixes the server: the fastest of the oldest kernel with the largest limit.

    Raises
    ------
    StudyError
        There are only cases of patches that were not merged.
    """
    known = [case for case in of if case.version]
    if not known:
        raise StudyError(f"{TABLE}: there is no case of a kernel that was released")
    return min(known, key=lambda case: (case.version, -case.limit_bytes, -case.mib_per_s))


def _key(record: Record) -> tuple[str, str, str]:
    return (record["kernel"], record["dirty_limit_bytes"], record["n_writers"])


def _case(record: Record, metrics: dict[str, float]) -> Case:
    ending = next((name for name in (*VERSIONS, *TRENDS) if record["kernel"].endswith(f"-{name}")), None)
    if ending is None:
        raise StudyError(
            f"{TABLE}: kernel is {record['kernel']!r}; known are {', '.join((*VERSIONS, *TRENDS))}"
        )
    case = Case(
        kernel=record["kernel"],
        version=VERSIONS.get(ending, ""),
        limit_bytes=whole(record, "dirty_limit_bytes", TABLE),
        writers=whole(record, "n_writers", TABLE),
        call_bytes=whole(record, "block_bytes", TABLE),
        memory_mib=whole(record, "mem_class_mib", TABLE),
        background_percent=whole(record, "background_ratio_percent", TABLE),
        mib_per_s=_value(record),
    )
    if "nfs_commit_size" not in metrics or "nfs_commit_rtt_time" not in metrics:
        return case
    return replace(case, commits=Commits(metrics["nfs_commit_size"], metrics["nfs_commit_rtt_time"] / 1000))


def _value(record: Record) -> float:
    value = number(record, "value", TABLE)
    if value <= 0:
        raise StudyError(f"{TABLE}: {record['metric']} is {value:g}; a case that writes nothing is none")
    return value
