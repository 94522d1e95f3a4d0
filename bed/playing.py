"""The cases that are asked for, and the program that plays them, on the guest and on the host."""

import difflib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from bed import machine
from bed.packages import BedError

__all__ = ["build_player", "say_how_to_judge", "say_recorded", "texts_of"]

ROOT: Final = Path(__file__).parents[1]
TARGET: Final = "x86_64-unknown-linux-gnu"

_Scale = TypeVar("_Scale")


def texts_of(
    names: Sequence[str], known: Mapping[str, Callable[[_Scale], Iterable[str]]], scale: _Scale
) -> dict[str, str]:
    """Give the steps of cases by name, and of files of the user's own; no name is all cases.

    Raises
    ------
    BedError
        There is no such case, or a file cannot be read.
    """
    found = {}
    for name in names or known:
        if name.endswith(".pct"):
            try:
                found[Path(name).stem] = Path(name).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise BedError(f"{name}: cannot be read ({error})") from error
        elif name in known:
            found[name] = "".join(f"{line}\n" for line in known[name](scale))
        else:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise BedError(f"there is no case {name}; {hint} A file of your own ends in .pct")
    return found


def build_player(folder: Path, player: Path) -> None:
    """Build the program that plays cases, without anything that it would need in the guest.

    No link-time optimisation: it would take minutes, and calls are what is timed.
    """
    if shutil.which("cargo") is None:
        raise BedError(
            "cargo is not here; the program that plays cases is built with it (see CONTRIBUTING.md)"
        )
    words = [
        "cargo", "build", "--quiet", "--locked", "--release", "--package", "pagecast-player",
        "--target", TARGET, "--target-dir", str(folder / "target"),
    ]  # fmt: skip
    environment = os.environ | {
        "RUSTFLAGS": "-C target-feature=+crt-static",
        "CARGO_PROFILE_RELEASE_LTO": "off",
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
        "CARGO_PROFILE_RELEASE_DEBUG": "0",
    }
    done = subprocess.run(words, cwd=ROOT, env=environment, check=False)
    if done.returncode:
        raise BedError("bed/player cannot be built; what cargo says is above")
    shutil.copy(folder / "target" / TARGET / "release" / "pagecast-player", player)


def say_recorded(recorded: Path, case: str, took_s: float) -> None:
    """Print that a case is in the folder of a recording."""
    print(f"bed: {recorded.name}, {case}: recorded in {took_s:.0f} s", flush=True)


def say_how_to_judge(recorded: Path, study: str = "live-kernel") -> None:
    """Print the command that holds forecasts against a recording."""
    file = recorded / machine.FILE
    option = f" --machine {file}" if file.exists() else ""
    print(f"bed: judge it with `pagecast reproduce {study} --data {recorded}{option}`")
