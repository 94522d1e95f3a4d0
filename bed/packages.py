"""The programs of the guest: the distribution's own packages, unpacked into a folder. Nothing is installed.

The package manager resolves, downloads and checks; `dpkg-deb -x` unpacks. Neither needs root, and both write
only in the folder. Dependencies are downloaded too, as if nothing was installed, so that what is unpacked
does not depend on this machine. Left out: distributions without apt, and processors other than amd64.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

__all__ = [
    "LEAST_KERNEL", "NFS", "PROGRAMS", "RECORDED", "BedError", "Packages", "candidate", "kernel_of", "suites",
]  # fmt: skip

PROGRAMS: Final = ("qemu-system-x86", "busybox-static", "e2fsprogs", "mount")
"""Beside the kernel: the emulator, the guest's shell, what makes a file system and what a loop device."""

RECORDED: Final = ("fio", "strace", "dash", "coreutils", "tar", "sqlite3", "git", "tcc", "xfsprogs")
"""Packages of cases with programs: fio, strace, the traced programs, and mkfs of XFS."""

NFS: Final = ("iproute2", "user-mode-linux")
"""Packages of cases of NFS: what makes a link, and the kernel of a server with memory of its own."""

KERNEL: Final = "linux-image-amd64"
"""Depends on the distribution's newest kernel."""

LEAST_KERNEL: Final = (6, 5)
"""The first kernel with cachestat(2)."""

_TOOLS: Final = ("apt-get", "apt-cache", "dpkg-deb")
_KEYRING: Final = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_TARGETS: Final = "$(SITE)\t$(RELEASE)\t$(COMPONENT)\t$(ORIGIN)"


class BedError(Exception):
    """The bed cannot be built or used; the text says what to do."""


def suites(targets: str) -> list[tuple[str, str]]:
    """Read site and suite of Debian's main packages from what ``apt-get indextargets`` prints."""
    rows = (line.split("\t") for line in targets.splitlines())
    found = [(row[0], row[1]) for row in rows if len(row) == 4 and row[2:] == ["main", "Debian"]]
    return list(dict.fromkeys(found))


def candidate(policy: str) -> tuple[int, int] | None:
    """Read major and minor version of what ``apt-cache policy`` would install; None if there is nothing."""
    found = re.search(r"Candidate: (?:\d+:)?(\d+)\.(\d+)", policy)
    return (int(found[1]), int(found[2])) if found else None


def kernel_of(depends: str) -> str | None:
    """Read the name of the kernel's own package from ``apt-cache depends linux-image-amd64``."""
    found = re.search(r"Depends: (linux-image-\d\S+)", depends)
    return found[1] if found else None


class Packages:
    """The unpacked packages of a bed's folder: `root` has the programs, `kernel` the kernel."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.kernel = folder / "kernel"
        self._apt = folder / "apt"
        self._archives = self._apt / "cache" / "archives"

    def is_there(self) -> bool:
        """Tell whether an earlier call of `fetch` came to its end."""
        return (self.root / ".complete").exists()

    def fetch(self) -> None:
        """Download and unpack what is not there yet.

        Raises
        ------
        BedError
            A tool is missing, a package cannot be had, or the kernel is too old.
        """
        if self.is_there():
            return
        if missing := [tool for tool in _TOOLS if shutil.which(tool) is None]:
            raise BedError(
                f"{missing[0]} is not here; the guest is made of Debian's packages, on Debian or Ubuntu"
            )
        for folder in (self._archives / "partial", self._apt / "lists" / "partial"):
            folder.mkdir(parents=True, exist_ok=True)
        (self._apt / "status").touch()
        kernel = self._kernel_archive(self._sources())
        self._run("apt-get", "install", "--yes", "--no-install-recommends", "--download-only", *PROGRAMS)
        programs = sorted(self._archives.glob("*.deb"))
        for target, archives in ((self.kernel, [kernel]), (self.root, programs)):
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir()
            for archive in archives:
                self._run("dpkg-deb", "-x", str(archive), str(target))
        (self.root / ".complete").write_text("".join(f"{path.name}\n" for path in [kernel, *programs]))

    def has(self, more: Sequence[str]) -> bool:
        """Tell whether `fetch` came to its end, and `fetch_more` for each of these packages."""
        return self.is_there() and set(more) <= set(self._more())

    def fetch_more(self, more: Sequence[str]) -> None:
        """Download what some cases need, and unpack it beside the rest.

        Raises
        ------
        BedError
            A package cannot be had.
        """
        self.fetch()
        if self.has(more):
            return
        self._run("apt-get", "update")
        there = (self.root / ".complete").read_text().split()
        options = ("--yes", "--no-install-recommends", "--download-only")
        wanted = list(dict.fromkeys([*self._more(), *more]))
        self._run("apt-get", "install", *options, *PROGRAMS, *wanted)
        new = [path for path in sorted(self._archives.glob("*.deb")) if path.name not in there]
        for archive in new:
            self._run("dpkg-deb", "-x", str(archive), str(self.root))
        (self.root / ".more").write_text("".join(f"{name}\n" for name in wanted))

    def _more(self) -> list[str]:
        marker = self.root / ".more"
        return marker.read_text().split() if marker.exists() else []

    def _sources(self) -> str:
        """Write the package manager's sources; gives the option with which it takes a new enough kernel."""
        known = suites(self._run("apt-get", "indextargets", "--format", _TARGETS, own_sources=False))
        if not known:
            raise BedError("apt has no sources of Debian's main packages; the guest is made of these")
        self._write_sources(known)
        if (candidate(self._run("apt-cache", "policy", KERNEL)) or (0, 0)) >= LEAST_KERNEL:
            return ""
        site, suite = known[0]
        backports = f"{suite}-backports"
        self._write_sources([*known, (site, backports)])
        version = candidate(self._run("apt-cache", f"--target-release={backports}", "policy", KERNEL))
        if (version or (0, 0)) < LEAST_KERNEL:
            least = ".".join(map(str, LEAST_KERNEL))
            raise BedError(
                f"there is no kernel of {least} or later among the packages; cachestat(2) came with it"
            )
        return f"--target-release={backports}"

    def _write_sources(self, known: Sequence[tuple[str, str]]) -> None:
        options = f"signed-by={_KEYRING} arch=amd64" if _KEYRING.exists() else "arch=amd64"
        lines = (f"deb [{options}] {site} {suite} main\n" for site, suite in known)
        (self._apt / "sources.list").write_text("".join(lines))
        self._run("apt-get", "update")

    def _kernel_archive(self, release: str) -> Path:
        options = [release] if release else []
        name = kernel_of(self._run("apt-cache", *options, "depends", KERNEL))
        if name is None:
            raise BedError(f"the package {KERNEL} names no kernel; see `apt-cache depends {KERNEL}`")
        folder = self._apt / "kernel"
        folder.mkdir(exist_ok=True)
        self._run("apt-get", *options, "download", name, folder=folder)
        return next(folder.glob(f"{name}_*.deb"))

    def _run(self, *words: str, own_sources: bool = True, folder: Path | None = None) -> str:
        options = list(self._options()) if own_sources and words[0].startswith("apt") else []
        command = [words[0], *options, *words[1:]]
        environment = os.environ | {"LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            raise BedError(f"{' '.join(words)}: {last}")
        return done.stdout

    def _options(self) -> Iterator[str]:
        places = {
            "Dir::Etc::sourcelist": self._apt / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::State::lists": self._apt / "lists",
            "Dir::State::status": self._apt / "status",
            "Dir::Cache": self._apt / "cache",
            "Debug::NoLocking": "true",
        }
        if os.geteuid() == 0:  # else it becomes another user, who may not write in the folder
            places["APT::Sandbox::User"] = "root"
        for name, value in places.items():
            yield from ("-o", f"{name}={value}")
