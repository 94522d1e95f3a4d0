"""Full recordings, read from the folder that ``--data`` names: memory while Exp 1 ran, second by second."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pagecast.studies.recorded import needed, records

__all__ = ["MEMORY_PROFILES", "Profile", "memory_profiles"]

MEMORY_PROFILES: Final = "exp1_memprof_real"

_COLUMNS: Final = ("time_s", "used_bytes", "file_cache_bytes", "dirty_bytes", "free_bytes")


@dataclass(frozen=True, slots=True)
class Profile:
    """Levels of memory, arrays of one length; times count from the start of the first read."""

    time_s: NDArray[np.float64]
    used_bytes: NDArray[np.float64]
    cached_bytes: NDArray[np.float64]
    dirty_bytes: NDArray[np.float64]
    free_bytes: NDArray[np.float64]

    @property
    def dirtyable_bytes(self) -> NDArray[np.float64]:
        """Base of the dirty limit."""
        return self.free_bytes + self.cached_bytes


def memory_profiles(folder: Path) -> dict[str, Profile]:
    """Read the levels of memory during Exp 1.

    Returns
    -------
    dict
        By case, "20 GB". `cached_bytes` is without shared memory (tmpfs), which the kernel counts as cached
        too.

    Raises
    ------
    StudyError
        The folder or the recording is not there, or malformed.
    """
    samples: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for case, sample in records(needed(folder, MEMORY_PROFILES), _sample):
        samples[case].append(sample)
    return {case: Profile(*np.array(rows).T) for case, rows in samples.items()}


def _sample(row: dict[str, str]) -> tuple[str, tuple[float, ...]]:
    return f"{row['size_gb']} GB", tuple(float(row[name]) for name in _COLUMNS)
