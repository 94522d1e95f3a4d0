"""What the command lines of the bed have in common: what is asked for, and what a dry run says."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bed import cases
from bed.packages import BedError

__all__ = ["MIB", "add_cases", "add_dry_run", "at_least", "parsed_with_command", "percent", "say_plan"]

MIB: Final = 1 << 20


def at_least(least: int) -> Callable[[str], int]:
    """Give the argparse type of whole numbers that are not too small."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"`{text}`: write a whole number from {least} on")
        return int(text)

    return read


def percent(text: str) -> int:
    """Read whole percent, as an argparse type."""
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"`{text}`: write whole percent, 1 to 100")
    return int(text)


def add_cases(parser: argparse.ArgumentParser, repetitions: int, others: str = "") -> None:
    """Add what a command is asked that records cases; `others` is said of more of them."""
    parser.epilog = (
        f"Cases: {', '.join(cases.CASES)}; none means all. {others}docs/guides/test-bed.md describes them."
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="everything is written here")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="cases to record, or files NAME.pct")
    parser.add_argument("--repetitions", type=at_least(1), default=repetitions, metavar="N")


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Add what every command is asked that changes something."""
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")


def say_plan(command: str, privilege: str, lines: Sequence[str]) -> None:
    """Print what a dry run says."""
    print("\n".join([f"bed {command} would, {privilege}:", *(f"- {line}" for line in lines)]))


def parsed_with_command(
    parser: argparse.ArgumentParser, words: Sequence[str]
) -> tuple[argparse.Namespace, list[str]]:
    """Read a command line that ends in ``-- COMMAND``, which a dry run need not have.

    Raises
    ------
    BedError
        There is no command.
    """
    before = words.index("--") if "--" in words else len(words)
    options, command = parser.parse_intermixed_args(words[:before]), list(words[before + 1 :])
    if not command and not options.dry_run:
        raise BedError(f"write the command to run after --: {parser.prog} DIR -- COMMAND")
    return options, command
