"""The guest's first file system: an archive that the kernel unpacks into memory (cpio, format newc).

It is written here and not by `cpio`, so that no root is needed for a device node and the same files give the
same bytes. Format: Documentation/driver-api/early-userspace/buffer-format.rst of the kernel.
"""

import lzma
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from bed.packages import BedError

__all__ = ["MODULES", "Archive", "libraries_of", "load_order"]

MODULES: Final = ("9pnet_virtio", "9p", "zram", "loop", "crc32c_generic", "ext4")
"""What the guest loads, with what these need; a name that the kernel has built in is passed over."""

_SUFFIX: Final = re.compile(r"\.ko(\.xz)?$")


class Archive:
    """Files, folders and links by path, written in the order in which they were added."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._names: set[str] = set()

    def add(self, path: str, content: bytes, *, mode: int = 0o644) -> None:
        """Add a file, and the folders above it."""
        self._folders(path)
        self._entry(path, stat.S_IFREG | mode, content)

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self._folders(path)
        self._entry(path, stat.S_IFLNK | 0o777, target.encode())

    def folder(self, path: str) -> None:
        """Add a folder, if it is not there yet."""
        if path and path not in self._names:
            self._folders(path)
            self._entry(path, stat.S_IFDIR | 0o755, b"")

    def console(self) -> None:
        """Add the device of the kernel's messages: the first program writes to it before there is a /dev."""
        self._folders("dev/console")
        self._entry("dev/console", stat.S_IFCHR | 0o600, b"", device=(5, 1))

    def to_bytes(self) -> bytes:
        """Give the archive."""
        end = self._header("TRAILER!!!", 0, 0, 0, (0, 0))
        return b"".join([*self._parts, end])

    def _folders(self, path: str) -> None:
        self.folder(path.rpartition("/")[0])

    def _entry(self, path: str, mode: int, content: bytes, device: tuple[int, int] = (0, 0)) -> None:
        self._names.add(path)
        padding = b"\0" * (-len(content) % 4)
        self._parts += [self._header(path, len(self._names), mode, len(content), device), content, padding]

    @staticmethod
    def _header(path: str, inode: int, mode: int, size: int, device: tuple[int, int]) -> bytes:
        name = path.encode() + b"\0"
        fields = (inode, mode, 0, 0, 1, 0, size, 0, 0, *device, len(name), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + name
        return header + b"\0" * (-len(header) % 4)


def load_order(modules: Path, wanted: Sequence[str] = MODULES) -> list[tuple[str, bytes]]:
    """Find the modules of a kernel that are wanted, each after those that it needs.

    Parameters
    ----------
    modules : Path
        The folder ``lib/modules/VERSION`` of the kernel.
    wanted : sequence of str

    Returns
    -------
    list of (str, bytes)
        Name of the file and its content, not compressed.

    Raises
    ------
    BedError
        One is neither there nor built in.
    """
    files = {_name(path.name): path for path in modules.glob("kernel/**/*.ko*")}
    built_in = {_name(Path(line).name) for line in (modules / "modules.builtin").read_text().splitlines()}
    found: dict[str, bytes] = {}

    def add(name: str) -> None:
        if name in found or name in built_in:
            return
        if name not in files:
            raise BedError(f"the kernel has no module {name}; {modules} is all that there is of it")
        content = _content(files[name])
        for other in _depends(content):
            add(other)
        found[name] = content

    for name in wanted:
        add(name)
    return [(f"{name}.ko", content) for name, content in found.items()]


def _name(file: str) -> str:
    return _SUFFIX.sub("", file).replace("-", "_")


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    return lzma.decompress(content) if path.suffix == ".xz" else content


def _depends(module: bytes) -> Iterable[str]:
    """Read what a module needs from its section .modinfo."""
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    return [_name(name) for name in found[1].decode().split(",") if name] if found else []


def libraries_of(program: Path, root: Path) -> dict[str, Path]:
    """Find the shared libraries of a program below `root`, by name, the loader among them.

    Names are read from the text of the files: every library that is named there and lies in `root` is taken,
    which may be one too many but none too few.

    Raises
    ------
    BedError
        There are none.
    """
    there = {
        path.name: path
        for pattern in ("ceph/*.so*", "*.so*")
        for path in root.glob(f"**/x86_64-linux-gnu/{pattern}")
    }
    found: dict[str, Path] = {}
    waiting = [program]
    while waiting:
        names = re.findall(rb"\0((?:lib|ld-)[\w.+-]+\.so[\w.]*)(?=\0)", waiting.pop().read_bytes())
        for name in (each.decode() for each in names):
            if name in there and name not in found:
                found[name] = there[name]
                waiting.append(there[name])
    if not found:
        raise BedError(f"{program}: none of its libraries is in {root}")
    return found
