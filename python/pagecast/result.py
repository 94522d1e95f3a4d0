"""The result of a simulation: tables as columns."""

import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, cast

from pagecast import _core
from pagecast.arguments import check_text, check_whole, written
from pagecast.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from pagecast.ranges import Drawn, Ranges

__all__ = ["TABLES", "Columns", "Result", "Tables", "is_modelled"]

Column: TypeAlias = "np.ndarray[tuple[int], np.dtype[Any]] | list[str]"

TABLES = ("operations", "parts", "waits", "latency", "rates", "timeline", "bdi", "devices", "files", "events")
"""The names of the tables that are saved, the same in Python, CSV, Parquet and JSON."""

_NOT_MODELLED = {"no-cache": ("cached", "dirty"), "endless-cache": ("dirty",)}


def is_modelled(model: str, level: str) -> bool:
    """Tell whether a model knows a level of the memory at all; if not, the 0 in its timeline says nothing.

    Parameters
    ----------
    model : str
    level : str
        A column of `timeline` without ``_bytes``.

    Returns
    -------
    bool
    """
    return level not in _NOT_MODELLED.get(model, ())


class Columns:
    """One table: columns by name, all of the same length.

    Numbers are NumPy arrays (seconds as float64, bytes and row numbers as int64), names are lists of str.
    Iterating gives the names of the columns, as with a DataFrame, and ``len`` the number of rows.

    Parameters
    ----------
    columns : dict
    """

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> Any:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"there is no column {name!r}; there are {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __len__(self) -> int:
        """Give the number of rows."""
        return len(next(iter(self._columns.values())))

    def __repr__(self) -> str:
        return f"<Columns: {len(self)} rows of {', '.join(self._columns)}>"

    def keys(self) -> list[str]:
        """Give the names of the columns."""
        return list(self._columns)

    def to_dict(self) -> dict[str, list[Any]]:
        """Give the columns as plain lists, as in the JSON output; NaN becomes None.

        Returns
        -------
        dict of list
        """
        return {name: _plain(column) for name, column in self._columns.items()}

    def to_pandas(self) -> "pd.DataFrame":
        """Give the table as a DataFrame; needs pandas.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        return pd.DataFrame(self._columns)


def _plain(column: Column) -> list[Any]:
    if isinstance(column, list):
        return column
    if (column != column).any():
        return [None if value != value else value for value in column.tolist()]
    return column.tolist()


class Tables(Protocol):
    """What a result is made of: that of the core, or of a net."""

    @property
    def model(self) -> str:
        """The model that was asked."""

    @property
    def options(self) -> dict[str, str]:
        """The options of the model, where they were given."""

    @property
    def machine_hash(self) -> str:
        """A hash of the machine."""

    @property
    def seed(self) -> int:
        """The seed of all random streams."""

    @property
    def origin(self) -> str:
        """Where the scenario came from."""

    @property
    def wall_s(self) -> float:
        """How long the simulation took."""

    @property
    def end_s(self) -> float:
        """The simulated time at its end."""

    @property
    def slots(self) -> dict[str, int]:
        """Cores that processes hold."""

    @property
    def events_left_out(self) -> int:
        """Events beyond those of the table."""

    @property
    def changes_evenly(self) -> bool:
        """Whether levels change evenly between rows."""

    @property
    def has_all_operations(self) -> bool:
        """Whether each operation has a row."""

    @property
    def blocks_left_out(self) -> int:
        """Blocks beyond those of the table."""

    def columns(self, table: str) -> dict[str, Any]:
        """Give a table by its name."""


class Result:
    """The result of one simulation of a scenario under one model.

    Each table is made when it is first asked for. Made by `simulate`.
    """

    always_saved: ClassVar[tuple[str, ...]] = TABLES
    """The names of the tables that are always saved."""

    saved_with_rows: ClassVar[tuple[str, ...]] = (
        "links", "servers", "rpc_slots", "payloads", "at_risk", "ranges", "level_bands", "latency_bands",
    )  # fmt: skip
    """The names of those that are saved if they have rows."""

    def __init__(self, core: Tables, ranges: "Ranges | None" = None) -> None:
        self._core = core
        self._ranges = ranges

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that are saved: some only with rows, as `at_risk` if it was asked for."""
        with_rows = (name for name in self.saved_with_rows if len(getattr(self, name)))
        return (*self.always_saved, *with_rows)

    @property
    def is_measured(self) -> bool:
        """Whether this was measured, and not forecast."""
        return False

    @property
    def made_by(self) -> str:
        """How figures and tables call it: "forecast by kernel"."""
        return f"forecast by {self.model}"

    @property
    def left_out(self) -> tuple[str, ...]:
        """Keys of the machine that the model has no place for, where it tells; not saved."""
        return ()

    @property
    def draws(self) -> str:
        """What the model itself draws by the seed, beside uneven disks; not saved."""
        return ""

    @property
    def model(self) -> str:
        """The model that was asked; "measured" for a real run."""
        return self._core.model

    @property
    def options(self) -> dict[str, str]:
        """The options of the model, where they were given."""
        return self._core.options

    @property
    def seed(self) -> int:
        """The seed of all random streams."""
        return self._core.seed

    @property
    def machine_hash(self) -> str:
        """A hash of the machine, for provenance."""
        return self._core.machine_hash

    @property
    def end_s(self) -> float:
        """The simulated time at which the last process ended."""
        return self._core.end_s

    @property
    def wall_s(self) -> float:
        """How long the simulation took in real time."""
        return self._core.wall_s

    @property
    def events_left_out(self) -> int:
        """How many events happened beyond those that `events` keeps."""
        return self._core.events_left_out

    @cached_property
    def slots(self) -> dict[str, int]:
        """The cores that processes hold for themselves, by the names of those that do; not saved."""
        return self._core.slots

    @property
    def provenance(self) -> dict[str, Any]:
        """Everything needed to repeat the simulation."""
        return {
            "pagecast_version": _core.__version__,
            "scenario": self._core.origin,
            "machine_hash": self.machine_hash,
            "seed": self.seed,
        }

    @cached_property
    def operations(self) -> Columns:
        """One row for each operation, in the order of their ends; with `record`, of the slow ones alone."""
        return self._table("operations")

    @property
    def has_all_operations(self) -> bool:
        """Whether each operation has a row in `operations`; if not, `latency` alone counts all."""
        return self._core.has_all_operations

    @cached_property
    def latency(self) -> Columns:
        """How long operations take, per process, path and kind: one row for each.

        Columns `count`, `bytes`, `total_s`, `mean_s`, `stddev_s`, `min_s`, the percentiles `p50_s`, `p90_s`,
        `p99_s` and `p99_9_s`, `max_s`, `first_start_s` and `last_end_s`. Of over 64 operations percentiles
        are right to 0.1 %. The calls of an operation with a pattern count one by one. Beyond 20,000 rows
        process and path are empty.
        """
        return self._table("latency")

    @cached_property
    def latency_bins(self) -> Columns:
        """The histograms of `latency`: the longest duration of each bin, and its count; not saved."""
        return self._table("latency_bins")

    @cached_property
    def latency_parts(self) -> Columns:
        """Where the time went, in sum; rows as in `latency`; not saved."""
        return self._table("latency_parts")

    @cached_property
    def rates(self) -> Columns:
        """What each process moved over time, per kind of operation.

        Columns `time_s` (when a window starts), `window_s`, `process`, `operation`, `bytes_per_s`, `iops`: an
        operation counts while it is under way. `ended`, `mean_s` and `max_s` are of the operations that ended
        in the window. There are at most 256 windows.
        """
        return self._table("rates")

    def slowest(self, n: int = 10) -> Columns:
        """Give the slowest operations, each with the parts of its duration.

        Parameters
        ----------
        n : int
            How many, at most; with ``record="histogram"`` at most 100.

        Returns
        -------
        Columns
            Those of `operations` and `parts`, the slowest first.
        """
        import numpy as np

        operations, parts = self.operations, self.parts
        duration_s = operations["duration_s"]
        rows = np.argsort(-duration_s, kind="stable")[: check_whole("n", n, least=0, most=2**31)]
        columns = {name: operations[name] for name in operations} | {
            name: parts[name] for name in parts if name not in operations
        }
        return Columns(
            {
                name: [column[row] for row in rows.tolist()] if isinstance(column, list) else column[rows]
                for name, column in columns.items()
            }
        )

    @cached_property
    def parts(self) -> Columns:
        """Where the time of each operation went; a row adds up to its duration. Rows as in `operations`."""
        return self._table("parts")

    @cached_property
    def waits(self) -> Columns:
        """Whom operations waited behind at a disk: their requests were there first.

        Columns `process` and `index` name the operation, `part` the part of its duration that was spent so,
        `behind_process` and `behind_path` who wrote the bytes last, or read them, and of which file;
        `waited_s` how long. Only `kernel` has rows here.
        """
        return self._table("waits")

    @cached_property
    def timeline(self) -> Columns:
        """The memory of each host over time."""
        return self._table("timeline")

    @property
    def changes_evenly(self) -> bool:
        """Whether levels change evenly between the rows of `timeline`; if not, they change at rows alone."""
        return self._core.changes_evenly

    @cached_property
    def bdi(self) -> Columns:
        """The kernel's estimates for each device over time; no rows under other models."""
        return self._table("bdi")

    @cached_property
    def at_risk(self) -> Columns:
        """What a power cut would lose of each disk at each moment; with ``at_risk=True``, under `kernel`.

        Columns `time_s`, `host`, `device`, `at_risk_bytes` and its parts `memory_bytes`, `disk_cache_bytes`
        and `uncommitted_bytes`; `files` with such bytes, and `names` that are in no committed transaction.
        """
        return self._table("at_risk")

    def with_ranges(self, ranges: "Ranges") -> "Result":
        """Give the same result with ranges."""
        return Result(self._core, ranges)

    @property
    def drawn(self) -> "Drawn | None":
        """What the ranges come from; None without ``uncertain=N``."""
        return None if self._ranges is None else self._ranges.drawn

    @cached_property
    def ranges(self) -> Columns:
        """The 90 % ranges of figures; with ``uncertain=N``.

        Columns `measure` (as ``pagecast sweep --measure`` takes it), `unit`, `forecast` (the figure without
        any draw), and of the draws `median`, `low` and `high`, their 5th and 95th percentile.
        """
        return Columns(self._ranges.figures if self._ranges else {"measure": []})

    @cached_property
    def level_bands(self) -> Columns:
        """The 90 % ranges of levels of memory over time; with ``uncertain=N``.

        Columns `time_s`, `host`, `dirty_low_bytes`, `dirty_high_bytes`, `cached_low_bytes` and
        `cached_high_bytes`, as far as the model knows them.
        """
        return Columns(self._ranges.level_bands if self._ranges else {"time_s": []})

    @cached_property
    def latency_bands(self) -> Columns:
        """The 90 % ranges of percentiles of durations; with ``uncertain=N``.

        Columns `operations` (a line of the figure of latencies), `position` (100 / (100 - percent)), `low_s`
        and `high_s`.
        """
        return Columns(self._ranges.latency_bands if self._ranges else {"operations": []})

    @cached_property
    def devices(self) -> Columns:
        """What each disk does over time: requests, bytes, flushes, utilisation, depth and time in the queue.

        Columns `time_s` (when a window starts), `window_s`, `host`, `device`, `reads`, `read_bytes`,
        `writes`, `write_bytes`, `flushes`, `utilisation`, `mean_depth`, `max_depth`, `request_s` and
        `queue_s`. There are at most 256 windows. Disks that are not used have no rows.
        """
        return self._table("devices")

    @cached_property
    def links(self) -> Columns:
        """What each direction of each link has carried.

        Columns `link`, `from`, `to`, `messages`, `bytes`, `link_bytes` (with headers), `rate_bytes_per_s`,
        `busy_s` (the time with a message on it) and `utilisation` (the part of what it could have carried).
        Directions that are not used have no rows.
        """
        return self._table("links")

    @cached_property
    def servers(self) -> Columns:
        """What each server of other hosts' files has done.

        Columns `host`, `threads`, `calls` (those that were answered), `read_bytes`, `write_bytes`,
        `call_s` and `queue_s` (the mean time of a call at a thread and before it), `mean_busy` and
        `max_busy` threads, `mean_waiting` and `max_waiting` calls, `utilisation` (the part of the time
        of all threads). Servers without calls have no rows.
        """
        return self._table("servers")

    @cached_property
    def rpc_slots(self) -> Columns:
        """The calls of each client to each server of a mount.

        Columns `host`, `mount`, `server`, `slots` (how many calls may be under way; NaN without a limit),
        `calls`, `read_bytes`, `write_bytes`, `call_s` (the mean time until the reply), `mean_in_use`,
        `max_in_use` and `utilisation` (the part of the slots). Mounts without calls have no rows.
        """
        return self._table("rpc_slots")

    @cached_property
    def payloads(self) -> Columns:
        """What each client of a striped mount asked of each server, and which server its calls waited for.

        Columns `client`, `server`, `payloads`, `bytes`, `time_s` (of all payloads), `last` (calls of several
        servers that this one answered last), `behind_s` (how long those waited for it alone), `part` (that
        took most of the time) and `link` (between the two, the one that was busy for the longest time).
        """
        return self._table("payloads")

    @cached_property
    def files(self) -> Columns:
        """How much of each file was in memory."""
        return self._table("files")

    @cached_property
    def events(self) -> Columns:
        """Decisions of the page cache."""
        return self._table("events")

    @cached_property
    def blocks(self) -> Columns:
        """The blocks in memory at the end, list by list, under models that keep such lists; not saved."""
        return self._table("blocks")

    @property
    def blocks_left_out(self) -> int:
        """How many blocks are left out of `blocks`, because their hosts have too many."""
        return self._core.blocks_left_out

    @cached_property
    def repeated(self) -> Columns:
        """How long operations take that are done again and again; not saved, but in `to_dict`."""
        from pagecast.repeated import repeated, repeated_of_latency

        return repeated(self.operations) if self.has_all_operations else repeated_of_latency(self.latency)

    @cached_property
    def cgroups(self) -> Columns:
        """The memory charged to each memory cgroup; not saved."""
        return self._table("cgroups")

    def table(self, name: str) -> Columns:
        """Give a table by its name.

        Parameters
        ----------
        name : str
            One of `tables`.

        Returns
        -------
        Columns
        """
        if check_text("name", name) not in self.tables:
            raise ArgumentError(f"there is no table {written(name)}; choose one of {', '.join(self.tables)}")
        return cast("Columns", getattr(self, name))

    def to_dict(self) -> dict[str, Any]:
        """Give all tables as plain lists: one of the ``runs`` of ``pagecast simulate --json``.

        Returns
        -------
        dict
        """
        tables = {name: self.table(name).to_dict() for name in self.tables}
        tables["repeated"] = self.repeated.to_dict()
        uncertain = {} if self.drawn is None else {"uncertain": self.drawn.as_dict()}
        return {"model": self.model, "options": self.options, **uncertain, **tables}

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write all tables as CSV, and as Parquet where pyarrow is installed.

        The directory appears when everything is in it, never half full.

        Parameters
        ----------
        directory : path-like
            Must not exist, or be empty.

        Raises
        ------
        OutputError
            The directory is not empty or cannot be written.
        """
        from pagecast.export import new_directory, save_provenance, save_tables

        with new_directory(directory) as folder:
            save_tables(self, folder)
            save_provenance([self], folder)

    def __repr__(self) -> str:
        return f"<Result of {self.model}: {len(self.operations)} operations in {self.end_s:.3f} s>"

    def _table(self, name: str) -> Columns:
        return Columns(self._core.columns(name))
