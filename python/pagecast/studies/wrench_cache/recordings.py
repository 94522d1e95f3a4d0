"""Full recordings, read from the folder that ``--data`` names: memory while Exp 1 ran, second by second."""

import csv
import gzip
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pagecast.errors import StudyError

__all__ = ["MEMORY_PROFILES", "Profile", "memory_profiles"]

MEMORY_PROFILES: Final = "exp1_memprof_real.csv.gz"

_COLUMNS: Final = ("time_s", "used_bytes", "file_cache_bytes", "dirty_bytes", "free_bytes")


@dataclass(frozen=True, slots=True)
class Profile:
    """What memory held, arrays of one length; times count from the start of the first read."""

    time_s: NDArray[np.float64]
    used_bytes: NDArray[np.float64]
    cached_bytes: NDArray[np.float64]
    dirty_bytes: NDArray[np.float64]
    free_bytes: NDArray[np.float64]

    @property
    def dirtyable_bytes(self) -> NDArray[np.float64]:
        """What the dirty limit is a part of."""
        return self.free_bytes + self.cached_bytes


def memory_profiles(folder: Path) -> dict[str, Profile]:
    """Read what memory held during Exp 1.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict
        By case, "20 GB". `cached_bytes` is without shared memory (tmpfs), which the kernel counts as cached
        too.

    Raises
    ------
    StudyError
        The folder or the recording is not there, or not what it should be.
    """
    path = folder / MEMORY_PROFILES
    if not path.is_file():
        raise StudyError(
            f"{folder}: no {MEMORY_PROFILES} in it; --data wants the folder of recordings "
            "that the study's README describes, and can be left out"
        )
    samples: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    try:
        with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                samples[f"{row['size_gb']} GB"].append(tuple(float(row[name]) for name in _COLUMNS))
    except (OSError, EOFError, KeyError, TypeError, ValueError) as error:
        raise StudyError(
            f"{path}: cannot be read as a memory profile ({error}); "
            f"it needs the columns size_gb, {', '.join(_COLUMNS)}"
        ) from error
    return {case: Profile(*np.array(rows).T) for case, rows in samples.items()}
