"""The machine file of a guest: what was set and what its kernel said, in the words of a scenario.

Nothing in it is measured: sizes and costs of memory are calibrated on the case m_memory by the study that
reads the recording, and are placeholders here.
"""

import re
from typing import Final

from bed.guest import Settings
from bed.packages import BedError

__all__ = ["machine_of", "name_of"]

_QUEUE_REQUESTS: Final = {"zram": 100_000, "queue": 128}
"""How many may wait: the throttle before zram has no bound, a loop device has 128 (drivers/block/loop.c)."""

_SYSCTLS: Final = ("dirty_expire_centisecs", "dirty_writeback_centisecs", "min_free_kbytes")


def name_of(settings: Settings, platform: str) -> str:
    """Name a platform after its kernel, its disk and its memory: guest612-zram-2g."""
    major, minor = _version(platform)
    gib, rest = divmod(settings.memory_mib, 1024)
    memory = f"{settings.memory_mib}m" if rest else f"{gib}g"
    parts = [f"guest{major}{minor}", settings.disk, memory]
    if settings.cgroup_bytes:
        parts.append(f"cgroup{settings.cgroup_bytes >> 20}m")
    return "-".join(parts)


def machine_of(settings: Settings, platform: str) -> str:
    """Write the machine file of a guest.

    Parameters
    ----------
    settings : Settings
    platform : str
        The text of ``platform.txt``.

    Raises
    ------
    BedError
        The guest did not say all that belongs into the file.
    """
    major, minor = _version(platform)
    is_mglru = int(_found(r"^(0x[0-9a-f]{4})$", platform, "lru_gen"), 16) & 1
    total_kib = int(_found(r"^MemTotal: +(\d+) kB", platform, "MemTotal"))
    sysctls = "\n".join(f"{name} = {_sysctl(name, platform)}" for name in _SYSCTLS)
    return f"""\
# A guest in virtual time, made by `python -m bed guest`. Recorded, but for [memory]: calibrated on m_memory.
cores = 1

[kernel]
version = "{major}.{minor}"
lru = "{"mglru" if is_mglru else "two-list"}"

[vm]
dirty_ratio = {settings.dirty_ratio}
dirty_background_ratio = {settings.dirty_background_ratio}
{sysctls}

[memory]
size = "{total_kib} KiB"
read = "5 GB/s"
write = "2 GB/s"
sharing = "time"

[disk.disk]
size = "8 GiB"
read = "{settings.read_bytes_per_s} B/s"
write = "{settings.write_bytes_per_s} B/s"
sharing = "separate"
nr_requests = {_QUEUE_REQUESTS[settings.disk]}
stable_writes = {str(settings.disk == "zram").lower()}

[mount."/data"]
disk = "disk"
"""


def _sysctl(name: str, platform: str) -> str:
    return _found(rf"^vm.{name} = (\d+)", platform, name)


def _version(platform: str) -> tuple[str, str]:
    found = re.search(r"^Linux \S+ (\d+)\.(\d+)", platform)
    if found is None:
        raise BedError("platform.txt does not begin with the kernel's version")
    return found[1], found[2]


def _found(pattern: str, platform: str, what: str) -> str:
    found = re.search(pattern, platform, re.MULTILINE)
    if found is None:
        raise BedError(f"platform.txt has no {what}")
    return found[1]
