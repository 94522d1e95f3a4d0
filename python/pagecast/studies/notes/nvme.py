"""The page cache on a fast NVMe disk: five rates of writing and reading 32 GiB with calls of 1 MiB."""

from typing import Final

from pagecast.comparison.rows import Role
from pagecast.studies.notes.note import Case, Note, Point
from pagecast.studies.notes.study import study_of

__all__ = ["NOTE", "STUDY", "run"]

MIB: Final = 2**20
SIZE: Final = 32 * 2**30


def _at(operation: str, mib_per_s: float, role: Role = "judged") -> Point:
    return Point(operation, SIZE / MIB / mib_per_s, SIZE, role)


NOTE: Final = Note(
    name="nvme-note",
    title="The page cache on a fast NVMe disk: forecast and measured",
    lead=(
        "Is the page cache too slow for modern NVMe disks? Five rates of fio, 32 GiB with calls of 1 MiB, on "
        "one desktop. The machine file has three of them; the buffered write to a new file and that to the "
        "block device are forecast."
    ),
    source="github.com/asch/remzi, README.md of 2024-07-24 (commit d88f236f) and its flame graphs",
    machine="nvme-note",
    cases=(
        Case("device", "direct", "nvme_direct.toml", [_at("write", 6587, "calibration")]),
        Case("device", "buffered", "nvme_buffered.toml", [_at("write", 2952)]),
        Case(
            "file",
            "buffered",
            "nvme_file.toml",
            [
                _at("write new", 3795),
                _at("write again", 10.9 * 1024, "calibration"),
                _at("read again", 18.2 * 1024, "calibration"),
            ],
        ),
    ),
    pitfalls=(
        "Each figure is one run; their spread is not known.",
        "The cost of a new page is not among the three figures. It is cited from a table of another machine, "
        "a Xeon of 2019 with ext4, and its nanoseconds are taken over as they are. Several ways to carry "
        "them over were looked at together with what they give; docs/validation/nvme-note.md has them all.",
        "Nothing is written back meanwhile: the note's dirty limits are 80 and 90 %. It does not show the "
        "cost of a flusher beside the writer.",
        "The cached read is not in the revision of the note that is cited; it is calibration only.",
    ),
)

STUDY: Final = study_of(NOTE)

run: Final = STUDY.run
