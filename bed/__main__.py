"""A device one can trust: a guest in virtual time, and a disk in memory, to record cases on.

    python -m bed guest DIR [CASE ...]     record cases in a guest whose clock counts instructions; no root
    python -m bed host DIR [CASE ...]      record cases on this kernel, on a disk in memory; needs root
    python -m bed advice DIR               give the guest's kernel each command that advice can print; no root
    python -m bed judge REPORT             end with 1 if a forecast in a report of these is too far off
    python -m bed disk DIR -- COMMAND      run COMMAND on a disk in memory of this machine; needs root
    python -m bed memory DIR -- COMMAND    run COMMAND with less memory around; needs root

docs/guides/test-bed.md says what these are good for. Each command has --help; all but judge have --dry-run,
and write only into DIR.
"""

import sys
from collections.abc import Sequence

from bed import advice_command, disk, guest_command, host, judge, memory
from bed.packages import BedError

__all__ = ["main"]

COMMANDS = {
    "guest": guest_command.act,
    "host": host.act,
    "advice": advice_command.act,
    "judge": judge.act,
    "disk": disk.act,
    "memory": memory.act,
}


def main(words: Sequence[str]) -> int:
    """Do what the command line says; gives the exit code."""
    name, *rest = words or ["--help"]
    if name in ("-h", "--help"):
        print(__doc__)
        return 0
    try:
        if name not in COMMANDS:
            raise BedError(f"there is no command {name}; there are {', '.join(COMMANDS)}")
        return COMMANDS[name](rest)
    except BedError as error:
        print(f"bed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
