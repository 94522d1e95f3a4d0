"""The benchmark: every cell of the matrix, again and again."""

import os
import platform
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagecast import _core
from pagecast.arguments import check_path
from pagecast.benchmark.plan import ACCESSES, DEFAULT_CALLS, DEFAULT_SIZE, MODES, Cell, Plan
from pagecast.benchmark.result import Benchmark, Copy, Measurement, Repetition, device_rates
from pagecast.errors import NotAllowedError
from pagecast.progress import Progress, teller

if TYPE_CHECKING:
    from pagecast.benchmark.fio import Fio

__all__ = ["bench", "measure"]


def bench(
    dir: str | os.PathLike[str],
    *,
    calls: Sequence[int] = DEFAULT_CALLS,
    threads: Sequence[int] = (),
    modes: Sequence[str] = MODES,
    accesses: Sequence[str] = ACCESSES,
    size_bytes: int = DEFAULT_SIZE,
    repetitions: int = 3,
    limit_s: float = 10.0,
    device: str | os.PathLike[str] | None = None,
    settings: dict[str, int] | None = None,
    with_fio: bool = False,
    progress: Progress | None = None,
) -> Benchmark:
    """Measure the rates of the page cache and of the device below a directory, and name the source of each.

    Files are made in a folder of their own, which is gone afterwards, also after Ctrl-C; the next one in
    the same directory removes the files of a killed benchmark. Before each measurement files are made,
    evicted or read into the cache, and the kernel is asked whether they are as they should be.

    Parameters
    ----------
    dir : path-like
        A directory on the disk to be measured.
    calls : sequence of int
        Bytes of a call: multiples of 4096 up to 16 MiB.
    threads : sequence of int
        One, and as many as there are processors, if not given.
    modes : sequence of {"buffered", "direct"}
    accesses : sequence of {"write-new", "overwrite", "read-cold", "read-warm"}
    size_bytes : int
        Bytes that all threads of a cell read or write together.
    repetitions : int
    limit_s : float
        No measurement takes longer; the bytes moved until then count.
    device : path-like, optional
        A block device to be measured too. **Its content is lost.** One that is in use is refused.
    settings : dict, optional
        Kernel settings (``vm.dirty_*``) for the time of the benchmark; put back afterwards. Needs root.
    with_fio : bool
        Measure the same cells with fio as well.
    progress : callable, optional
        Called with the fraction done, and the next action.

    Returns
    -------
    Benchmark

    Raises
    ------
    ArgumentError, ArgumentTypeError
        A value that is not possible.
    ProbeError
        The directory or the device cannot be used, there is not enough room or memory, or the kernel refused
        something.
    NotAllowedError
        A right is missing.
    """
    plan = Plan(
        calls=calls,
        threads=threads,
        modes=modes,
        accesses=accesses,
        size_bytes=size_bytes,
        repetitions=repetitions,
        limit_s=limit_s,
        device=None if device is None else Path(check_path("device", device)),
        settings=settings,
    )
    return measure(plan, dir, with_fio=with_fio, progress=progress)


def measure(
    plan: Plan, dir: str | os.PathLike[str], *, with_fio: bool = False, progress: Progress | None = None
) -> Benchmark:
    """Measure a plan; see `bench`."""
    fio = _fio() if with_fio else None
    notes = _put_back()
    place = plan.check(dir)
    usual = _core.dirty_settings()
    with ExitStack() as stack:
        if plan.settings:
            stack.enter_context(closing(_core.ChangedSettings(list(plan.settings.items()))))
        settings = _core.dirty_settings()
        made = _core.Bench(dir, **plan.needed(), limit_s=plan.limit_s, device=plan.device)
        core = stack.enter_context(closing(made))
        matrix = _Matrix(plan, core, fio)
        matrix.measure(teller(progress))
    return Benchmark(
        measurements=matrix.measurements(),
        copies=matrix.copies(),
        settings=settings,
        changed_settings={name: usual[name] for name in settings if usual[name] != settings[name]},
        place={"directory": os.fspath(dir), **place, "block_device": plan.device and os.fspath(plan.device)},
        provenance=_provenance(plan, fio),
        notes=notes,
    )


def _fio() -> "Fio":
    from pagecast.benchmark.fio import Fio

    return Fio()


def _put_back() -> list[str]:
    """Put back settings that a killed benchmark has left changed; gives what to say about it."""
    try:
        left = _core.put_back_dirty_settings()
    except NotAllowedError as error:
        return [f"a benchmark that was killed has left settings changed: {error}"]
    values = ", ".join(f"{name} = {value}" for name, value in left.items())
    return [f"put back the settings of a killed benchmark: {values}"] if values else []


class _Matrix:
    """All cells, one round after the other: a drift then shows as spread, and not in a single cell."""

    def __init__(self, plan: Plan, core: _core.Bench, fio: "Fio | None") -> None:
        self._plan = plan
        self._core = core
        self._fio = fio
        self._repetitions: dict[Cell, list[Repetition]] = {cell: [] for cell in plan.cells()}
        self._fio_rates: dict[Cell, list[float]] = {cell: [] for cell in plan.cells()}
        self._copies: dict[tuple[str, int, int], Copy] = {}

    def measure(self, progress: Progress) -> None:
        cells = list(self._plan.cells())
        steps = self._plan.repetitions * len(cells)
        for step in range(steps):
            repetition, place = divmod(step, len(cells))
            progress(step / steps, str(cells[place]))
            self._measure_one(cells[place], repetition)

    def _measure_one(self, cell: Cell, repetition: int) -> None:
        copy = self._copies.setdefault(_copy_key(cell), Copy(*_copy_key(cell), rates=[]))
        if len(copy.rates) <= repetition:  # once for all cells of this direction, call size and threads
            copy.rates.append(_copied(cell, self._plan.size_bytes))
        self._repetitions[cell].append(Repetition(**self._core.run(cell.asked())))
        if self._fio is not None:
            rate = self._fio.run(self._core, cell, self._plan.limit_s, self._plan.device)
            self._fio_rates[cell].append(rate)

    def measurements(self) -> list[Measurement]:
        alone = [
            Measurement(
                cell,
                repetitions,
                copy_bytes_per_s=self._copies[_copy_key(cell)].bytes_per_s,
                fio_rates=self._fio_rates[cell],
            )
            for cell, repetitions in self._repetitions.items()
        ]
        rates = device_rates(alone)
        return [
            replace(one, device_bytes_per_s=rates.get(one.cell.target, {}).get(one.cell.direction))
            for one in alone
        ]

    def copies(self) -> list[Copy]:
        return list(self._copies.values())


def _copy_key(cell: Cell) -> tuple[str, int, int]:
    return cell.direction, cell.call_bytes, cell.threads


def _copied(cell: Cell, size_bytes: int) -> float:
    copied = _core.bench_copy(cell.asked(), size_bytes=size_bytes)
    return float(copied["bytes"] / copied["duration_s"])


def _provenance(plan: Plan, fio: "Fio | None") -> dict[str, Any]:
    return {
        "pagecast_version": _core.__version__,
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "memory_bytes": _core.memory_counters()["total_bytes"],
        "size_bytes": plan.size_bytes,
        "repetitions": plan.repetitions,
        "limit_s": plan.limit_s,
        "fio_version": None if fio is None else fio.version,
    }
