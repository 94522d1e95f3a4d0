"""A client of NFS and its server in one guest: what they are like, and what the guest must have for them.

The client is a network namespace behind a veth pair with netem (tc-netem(8)). The server is knfsd in the
guest's own kernel, on ext4 with DAX on persistent memory, without a page cache; or a second kernel,
user-mode Linux, with its own memory, page cache and disk. Left out: a server with a page cache in the
client's kernel; both share the dirty limit then, and writers stall for minutes.
"""

from dataclasses import dataclass
from typing import Final

__all__ = ["MODULES", "PERSISTENT_MIB", "SCRIPTS", "SERVERS", "SERVER_MODULES", "Nfs"]

SERVERS: Final = ("dax", "2hosts")

PERSISTENT_MIB: Final = 4096
"""The server's disk with `dax`; what is not written takes no memory of this machine."""

MODULES: Final = ("veth", "sch_netem", "nfsv4", "nfsd", "nd_e820", "nd_pmem")
"""Of the guest's kernel. nd_e820 finds the persistent memory that the kernel's command line names."""

SERVER_MODULES: Final = ("zram", "nfsd", "crc32c_generic")
"""Of user-mode Linux, which has ext4 and its network built in."""

SCRIPTS: Final = ("nfs.sh", "server", "usr/bin/srv")
"""Where the scripts of guest/ go for NFS."""


@dataclass(frozen=True, slots=True)
class Nfs:
    """The link, the mount and the server. Memory in MiB, rates in bytes per second.

    `server` is a name in `SERVERS`. The rates of the server's disk and its memory hold with `2hosts` only.
    """

    server: str
    link_bytes_per_s: int = 100 << 20
    delay_us: int = 100
    """Each way."""
    mtu: int = 1500
    export: str = "sync"
    version: str = "4.2"
    rsize: int = 1 << 20
    wsize: int = 1 << 20
    options: tuple[str, ...] = ()
    """More options of nfs(5)."""
    threads: int = 8
    server_memory_mib: int = 1024
    server_write_bytes_per_s: int = 40 << 20
    server_read_bytes_per_s: int = 50 << 20

    @property
    def has_own_kernel(self) -> bool:
        """Whether the server has a kernel, and so a page cache, of its own."""
        return self.server == "2hosts"

    def words(self) -> dict[str, object]:
        """Give what guest/nfs.sh is told, by name."""
        return {
            "NFS": self.server,
            "NFS_LINK": 8 * self.link_bytes_per_s,
            "NFS_DELAY": self.delay_us,
            "NFS_MTU": self.mtu,
            "NFS_EXPORT": self.export,
            "NFS_VERS": self.version,
            "NFS_RSIZE": self.rsize,
            "NFS_WSIZE": self.wsize,
            "NFS_OPTIONS": "".join(f",{option}" for option in self.options),
            "NFS_THREADS": self.threads,
            "NFS_SERVER_MEMORY": self.server_memory_mib,
            "NFS_SERVER_WRITE_BPS": self.server_write_bytes_per_s,
            "NFS_SERVER_READ_BPS": self.server_read_bytes_per_s,
        }

    def described(self) -> str:
        """Say in words what a dry run says."""
        server = "in the same kernel, ext4 with DAX on persistent memory"
        if self.has_own_kernel:
            server = (
                f"in user-mode Linux, {self.server_memory_mib} MiB of memory, disk "
                f"{self.server_write_bytes_per_s >> 20} MiB/s write and "
                f"{self.server_read_bytes_per_s >> 20} MiB/s read"
            )
        return (
            f"NFS {self.version}, export {self.export}, wsize {self.wsize}, link "
            f"{self.link_bytes_per_s >> 20} MiB/s and {self.delay_us} us each way; server {server}"
        )

    def name(self) -> str:
        """Name it in a platform's name: nfs-2hosts-async, and all that is not by default."""
        default = Nfs(self.server)
        words = {
            "link_bytes_per_s": f"link{self.link_bytes_per_s >> 20}",
            "delay_us": f"delay{self.delay_us}us",
            "mtu": f"mtu{self.mtu}",
            "version": f"v{self.version}",
            "rsize": f"rsize{self.rsize >> 10}k",
            "wsize": f"wsize{self.wsize >> 10}k",
            "options": "-".join(option.replace("=", "") for option in self.options),
            "threads": f"threads{self.threads}",
            "server_memory_mib": f"server{self.server_memory_mib}m",
            "server_write_bytes_per_s": f"write{self.server_write_bytes_per_s >> 20}",
            "server_read_bytes_per_s": f"read{self.server_read_bytes_per_s >> 20}",
        }
        parts = [
            "nfs",
            self.server,
            *([self.export] if self.has_own_kernel or self.export != default.export else []),
        ]
        return "-".join(
            [*parts, *(w for key, w in words.items() if getattr(self, key) != getattr(default, key))]
        )
