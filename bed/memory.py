"""``python -m bed memory``: run a command with less memory around, on whatever disk it uses.

The standard suite is scaled to the memory there is: with 2 GiB left it writes a tenth of what it would with
20 GiB, and every page that it fills has been touched before. Why root: what is held is kept from being killed
and from being given back to the host of a virtual machine.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from bed.asking import add_dry_run, at_least, parsed_with_command, say_plan
from bed.ending import run_to_the_end
from bed.holding import LEAST_LEFT_MIB, held_bytes, hold_all_but
from bed.packages import BedError
from bed.undoing import undoing

__all__ = ["act"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bed memory",
        usage="%(prog)s [options] DIR -- COMMAND",
        description="Run a command with less memory around. Needs root; undoes all changes.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="what must be undone is noted here")
    parser.add_argument(
        "--leave", type=at_least(LEAST_LEFT_MIB), default=2048, metavar="MIB",
        help="hold memory until this much is available (default 2048)",
    )  # fmt: skip
    add_dry_run(parser)
    return parser


def act(words: Sequence[str]) -> int:
    """Do what the command line says; gives the exit code."""
    options, command = parsed_with_command(_parser(), words)
    folder: Path = options.folder.resolve()
    if options.dry_run:
        held = f"hold anonymous memory until {options.leave} MiB are available"
        say_plan("memory", "as root", [held, "run the command, and give it back"])
        return 0
    if os.geteuid() != 0:
        raise BedError("memory needs root: whoever holds it must stay what it is. The guest needs none")
    held_bytes(Path("/proc/meminfo").read_text(), options.leave)
    with undoing(folder) as undo:
        hold_all_but(options.leave, undo)
        return run_to_the_end(command, os.environ)
