"""What the kernel had learnt of the disk before a run, for the model `kernel`; measured, never set by hand.

With ``trace=True`` the run's own events tell both rates, as of their first update.
"""

from typing import TYPE_CHECKING, Final

from pagecast.studies.learnt import Learnt
from pagecast.studies.machines import disk_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagecast import Machine
    from pagecast.running import Measured

__all__ = ["COSTED", "learnt_options"]

COSTED: Final = "kernel"
"""The model that has such options."""


def learnt_options(measured: "Measured", machine: "Machine", paths: "Sequence[str]") -> dict[str, str]:
    """Give the options; nothing where nothing is known."""
    devices = measured.devices
    if not len(devices):
        return {}
    return Learnt(
        write_bandwidth_bytes_per_s=float(devices["avg_write_bandwidth_bytes_per_s"][0]),
        dirty_ratelimit_bytes_per_s=float(devices["dirty_ratelimit_bytes_per_s"][0]),
    ).options(disk_of(machine))
