"""Studies: published experiments, run again and held against what was measured.

A study is a package or module with what `Study` names. Adding one is one of them and one line in `STUDIES`.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

from pagecast.errors import StudyError

if TYPE_CHECKING:
    from rich.console import Console

    from pagecast.comparison.rows import Row

__all__ = ["STUDIES", "Outcome", "Progress", "Study", "load"]

STUDIES: Final = {
    "wrench-cache": "pagecast.studies.wrench_cache",
    "cawl": "pagecast.studies.cawl",
    "live-kernel": "pagecast.studies.live_kernel",
    "kernel-law": "pagecast.studies.kernel_law",
    "nvme-note": "pagecast.studies.notes.nvme",
    "checksum-note": "pagecast.studies.notes.checksum",
}
"""Where each study is; imported when it is asked for."""

Progress = Callable[[float, str], None]
"""Is told the fraction done, 0 to 1, and what comes next."""


class Outcome(Protocol):
    """What running a study gives; each study adds what its own tables and figures need."""

    @property
    def rows(self) -> Sequence["Row"]:
        """A row per measured point and model."""

    def to_json(self) -> dict[str, object]:
        """Give the rows, their summary and the provenance."""

    def print_to(self, console: "Console") -> None:
        """Print the tables for a reader at a terminal."""

    def write_report(self, path: Path) -> None:
        """Write one self-contained HTML file."""


class Study(Protocol):
    """What a package or module in `STUDIES` offers."""

    EXPERIMENTS: tuple[str, ...]
    MODELS: tuple[str, ...]

    def run(
        self,
        *,
        experiments: Sequence[str] = (),
        models: Sequence[str] = (),
        machine: str | None = None,
        data: Path | None = None,
        seeds: int | None = None,
        overrides: Sequence[str] = (),
        command: str = "",
        progress: Progress | None = None,
    ) -> Outcome:
        """Run the experiments and compare; nothing named means all of them."""


def load(name: str) -> Study:
    """Find a study by its name.

    Parameters
    ----------
    name : str
        A key of `STUDIES`.

    Returns
    -------
    Study

    Raises
    ------
    StudyError
        There is no such study.
    """
    if name not in STUDIES:
        raise StudyError(f"there is no study {name!r}; there is {', '.join(STUDIES)}")
    return cast(Study, import_module(STUDIES[name]))
