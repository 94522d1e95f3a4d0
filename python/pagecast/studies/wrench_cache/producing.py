"""Exp 4 with the rate of the program's own computing, taken from step 1 alone.

The program makes the bytes of a block, writes them, makes the next ones: the time of its writes is the
kernel's and its own. The time that the forecast of step 1's writes lacks is taken as its own, for each byte
the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pagecast.comparison.rows import Row
from pagecast.studies.skeleton import Simulate
from pagecast.studies.wrench_cache.experiments import PRODUCING
from pagecast.studies.wrench_cache.forecast import CaseRun, run_case
from pagecast.studies.wrench_cache.rows import row
from pagecast.studies.wrench_cache.tables import measured

__all__ = ["Producing", "produce"]

CALIBRATED: Final = "write 1"
"""The rate is taken from this operation."""

FILES: Final = 4
"""So many files step 1 writes."""

BLOCKS: Final = 24
"""So many blocks each has beside its header."""

BLOCK_BYTES: Final = 4_096_000

JUDGED_STEPS: Final = ("2", "3", "4")


@dataclass(frozen=True, slots=True)
class Producing:
    """Exp 4 under one model, told how long the program takes for a block.

    That is 0 if step 1's writes are forecast too long as it is.
    """

    block_s: float
    run: CaseRun

    @property
    def rate_bytes_per_s(self) -> float | None:
        """What the program produces; None if it takes no time."""
        return BLOCK_BYTES / self.block_s if self.block_s > 0 else None

    def rows(self) -> Iterator[Row]:
        """Make a row of each operation of steps 2 to 4."""
        for operation in self.run.seconds:
            if operation.split()[1] in JUDGED_STEPS:
                key = (self.run.experiment, self.run.case, operation)
                yield row(
                    key,
                    model=self.run.model,
                    machine=self.run.machine,
                    forecast_s=self.run.mean_s(operation),
                    forecast_range_s=self.run.range_s(operation),
                )

    @property
    def mean_abs_error(self) -> float:
        """Over the reads and writes of steps 2 to 4."""
        errors = [abs(one.error) for one in self.rows()]
        return sum(errors) / len(errors)

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {
            "model": self.run.model,
            "machine": self.run.machine,
            "producing_bytes_per_s": self.rate_bytes_per_s,
            "mean_abs_error": self.mean_abs_error,
            "rows": [one.as_dict() for one in self.rows()],
        }


def produce(
    *, model: str, machine: str | None, seeds: Sequence[int], overrides: Sequence[str], simulate: Simulate
) -> Producing:
    """Forecast Exp 4 twice: to see what step 1 lacks, and with that.

    Parameters
    ----------
    model : str
    machine : str or None
        As in `run_case`.
    seeds : sequence of int
    overrides : sequence of str
    simulate : callable
    """

    def forecast(block_s: float) -> CaseRun:
        told = f'parameter.producing="{block_s * 1e9:.0f} ns"'
        return run_case(
            PRODUCING,
            PRODUCING.cases[0],
            model=model,
            machine=machine,
            seeds=seeds,
            overrides=[told, *overrides],
            simulate=simulate,
        )

    without = forecast(0.0)
    key = (without.experiment, without.case, CALIBRATED)
    lacking = measured()[key].mean_s - without.mean_s(CALIBRATED)
    block_s = max(lacking, 0.0) / (FILES * BLOCKS)
    return Producing(block_s, forecast(block_s) if block_s > 0 else without)
