"""A case as scripts for the reader of the core: what the client does, cut where the server does something.

Steps are those of `pagecast.studies.live_kernel`, and ``sh``, which ran a command at that moment. Of those
that act on the server three are forecast: dropping its caches, `sync`, and changing one byte. Files are
closed there, so each part is a process of its own that begins when the one before has ended.
"""

import re
from dataclasses import dataclass
from typing import Final

from pagecast.studies.live_kernel.case import Case, Step
from pagecast.studies.live_kernel.program import WHOLE_CASE, Program, UnsupportedError, lines_of

__all__ = ["Part", "parts"]

_CHANGE: Final = re.compile(r"of=\S*?SRV/(\S+) bs=1 count=1 conv=notrunc")


@dataclass(frozen=True, slots=True)
class Part:
    """What one host does before the other goes on: a program of the client, or operations of the server."""

    name: str
    program: Program | None
    operations: str = ""


def parts(case: Case, export: str) -> list[Part]:
    """Cut a case into its parts.

    Raises
    ------
    UnsupportedError
        A command cannot be forecast, or a file is open while the server does something.
    """
    found: list[Part] = []
    phase = None if any(step.command == "mark" for step in case.steps) else WHOLE_CASE
    steps: list[Step] = []
    for step in case.steps:
        if step.command != "sh":
            steps.append(step)
        elif (operations := _of_server(step, export)) is not None:
            phase = _add_client(found, steps, phase)
            found.append(Part(f"server{len(found)}", None, operations))
    _add_client(found, steps, phase)
    return found


def _add_client(found: list[Part], steps: list[Step], phase: str | None) -> str | None:
    """Add what the client has done up to here; gives the phase it ends in."""
    # Looks at the cache take milliseconds, and are left out.
    lines = [line for line in lines_of(steps, phase) if line.look is None]
    is_open: set[int] = set()
    for step in steps:
        if step.command in ("open", "close"):
            (is_open.add if step.command == "open" else is_open.discard)(step.arguments["handle"])
    if is_open:
        raise UnsupportedError(f"line {steps[-1].line}: a file is open while the server does something")
    if lines:
        found.append(Part(f"client{len(found)}", Program.of(lines)))
    marks = [step.arguments["label"] for step in steps if step.command == "mark"]
    steps.clear()
    return marks[-1] if marks else phase


def _of_server(step: Step, export: str) -> str | None:
    """Give the operations of the server; None if the command only looks."""
    command = step.arguments["command"]
    if command.startswith("srv stat"):
        return None
    if command.startswith("srv drop"):
        return "{ drop_caches = true }"
    if command.startswith("srv sync"):
        return "{ sync = true }"
    if (found := _CHANGE.search(command)) is not None:
        return f'{{ write = "{export}/{found[1]}", offset = "0 B", size = "1 B" }}'
    raise UnsupportedError(f"line {step.line}: `sh {command}` is no command that can be forecast")
