"""Cases that are being validated, and how."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pagecast.arguments import check_flag, check_whole
from pagecast.comparison.rows import RIVALS, main_model
from pagecast.running import DEFAULT_SAMPLE_HZ, MOST_SAMPLE_HZ, Plan
from pagecast.uncertainty import MOST_DRAWS
from pagecast.validation.case import Case, Validated
from pagecast.validation.forecasting import preparing_s

if TYPE_CHECKING:
    from pagecast.result import Result
    from pagecast.running import Measured

__all__ = ["MODELS", "RUNS", "Doing", "Run", "Settings"]

MODELS: Final = ("kernel", *RIVALS)
"""The models that are asked by default."""

RUNS: Final = 3
"""How often a case is run by default."""

LEAST_WEIGHT_S: Final = 0.5
"""The least time of a run, for the progress: its files are made and removed too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How cases are validated.

    Attributes
    ----------
    runs : int
        How often each is run.
    models : tuple of str
    sample_hz : int
        How often to look at the machine, per second.
    trace : bool
        Record the kernel's events of write-back; needs root.
    machine : str
        Name of the machine in rows; where the scenario comes from if it is empty.
    uncertain : int or None
        So many draws give the total under `kernel` a 90 % range.
    """

    runs: int = RUNS
    models: tuple[str, ...] = MODELS
    sample_hz: int = DEFAULT_SAMPLE_HZ
    trace: bool = False
    machine: str = ""
    uncertain: int | None = None

    def __post_init__(self) -> None:
        check_whole("runs", self.runs, least=1)
        check_whole("sample_hz", self.sample_hz, least=1, most=MOST_SAMPLE_HZ)
        check_flag("trace", self.trace)
        if self.uncertain is not None:
            check_whole("uncertain", self.uncertain, least=2, most=MOST_DRAWS)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run, the kernel's earlier estimates, and the forecast of each model."""

    measured: "Measured"
    learnt: dict[str, str]
    forecasts: "dict[str, Result]"


@dataclass(slots=True, eq=False)
class Doing:
    """A case that is being validated."""

    case: Case
    plan: Plan
    first: "dict[str, Result]" = field(default_factory=dict)
    """Under each model, as if nothing were known of the kernel's state."""
    runs: list[Run] = field(default_factory=list)
    range_of_total: tuple[float, float] | None = None
    """The 90 % range of the total under `kernel`, as parts of the forecast; drawn at the first run."""

    @property
    def weight_s(self) -> float:
        """How long a run may take."""
        return max(LEAST_WEIGHT_S, *(result.end_s for result in self.first.values()))

    @property
    def expected_s(self) -> float:
        """How long a run takes by the forecast of the model that is judged, its files made before it."""
        return self.first[main_model(tuple(self.first))].end_s + preparing_s(
            self.case, self.plan.prepared_bytes
        )

    @property
    def written_bytes(self) -> int:
        """Bytes that a run writes, its files made before it included."""
        return self.plan.prepared_bytes + self.plan.written_bytes

    @property
    def validated(self) -> Validated:
        """Finished runs."""
        forecasts = {model: tuple(run.forecasts[model] for run in self.runs) for model in self.first}
        return Validated(self.case, tuple(run.measured for run in self.runs), forecasts, self.range_of_total)
