"""posix_fadvise(2): a checksum of 1 GiB three times, with and without eviction after each."""

from typing import Final

from pagecast.comparison.rows import Role
from pagecast.studies.notes.note import Case, Note, Point
from pagecast.studies.notes.study import study_of

__all__ = ["NOTE", "STUDY", "run"]

SIZE: Final = 2**30


def _passes(*seconds: float, calibration: int | None = None) -> list[Point]:
    def role(number: int) -> Role:
        return "calibration" if number == calibration else "judged"

    return [Point(f"pass {k}", each, SIZE, role(k)) for k, each in enumerate(seconds, start=1)]


NOTE: Final = Note(
    name="checksum-note",
    title="A checksum three times, with and without eviction: forecast and measured",
    lead=(
        "A program takes the checksum of a file of 1 GiB three times, and then the same with "
        "posix_fadvise(POSIX_FADV_DONTNEED) after each pass. The disk reads about 200 MiB/s; the third "
        "pass over the cached file gives the cost of the checksum; the other five times are forecast."
    ),
    source="a note on posix_fadvise; its figures as quoted, the original was not found",
    machine="checksum-note",
    cases=(
        Case("kept", "kept", "checksum_kept.toml", _passes(5.14, 0.50, 0.45, calibration=3)),
        Case("evicted", "evicted", "checksum_evicted.toml", _passes(4.98, 4.86, 4.92)),
    ),
    pitfalls=(
        "Each time is one run. The four passes that read the disk differ by 6 %, the two that do not by "
        "11 %: no forecast can be closer to all of them.",
        "The disk's rate is a round number of the note, and nothing is known of kernel, memory or program.",
    ),
)

STUDY: Final = study_of(NOTE)

run: Final = STUDY.run
