"""The outcome of the study."""

from dataclasses import dataclass

from pagecast.comparison import outcome
from pagecast.studies.kernel_law.law import Event, Threshold
from pagecast.studies.kernel_law.throughput import Throughput

__all__ = ["KernelLawOutcome"]


@dataclass(frozen=True, kw_only=True)
class KernelLawOutcome(outcome.Outcome):
    """Outcome; parts that were not asked for are empty."""

    experiments: tuple[str, ...]
    events: tuple[Event, ...]
    thresholds: tuple[Threshold, ...]
    throughputs: tuple[Throughput, ...]
    foreground: tuple[Throughput, ...]

    def beside_times(self) -> dict[str, object]:
        """Give events and limits under the names of ``--json``."""
        return {
            "events": [
                {
                    "event": one.number,
                    "printed_task_ratelimit_pages_per_s": one.printed,
                    "task_ratelimit_pages_per_s": one.ours,
                    "real_error": one.real_error,
                    "printed_period_ms": one.period[0],
                    "period_ms": one.period[1],
                    "printed_pause_ms": one.pause[0],
                    "pause_ms": one.pause[1],
                }
                for one in self.events
            ],
            "thresholds": [
                {
                    "set": one.of,
                    "row": one.row,
                    "limit_pages": one.limit_pages,
                    "background_pages": one.background_pages,
                    "dirtyable_pages": one.dirtyable_pages,
                }
                for one in self.thresholds
            ],
        }
