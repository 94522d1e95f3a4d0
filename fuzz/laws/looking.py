"""Holds cases against their laws in a process of its own, which is killed if one exceeds its limits."""

import multiprocessing
import re
import resource
import signal
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any

from fuzz.laws.document import Table
from fuzz.laws.registry import KINDS, draw
from fuzz.laws.shrinking import shrunk
from fuzz.laws.simulating import Case, Simulator

MOST_SECONDS = 20
MOST_BYTES = 2 * 10**9
MOST_IDLE_SECONDS = 300
"""Of real time: nobody waits longer without a word."""


@dataclass(frozen=True)
class Failure:
    """A law that a case breaks."""

    law: str
    what: str


@dataclass
class Outcome:
    """What came of a case: how often each law was checked, and which were broken."""

    case: Case
    checked: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    simulations: int = 0


def look(case: Case, simulator: Simulator, only: str | None = None) -> Outcome:
    """Hold a case against the laws of its kind, or one of them."""
    outcome = Outcome(case)
    for name, law in KINDS[case.kind].laws.items():
        if only in (None, "ends", name):
            outcome.checked[name] += 1
            try:
                outcome.failures += [Failure(name, what) for what in law(case, simulator)]
            except Exception as error:
                outcome.failures.append(Failure("ends", f"{type(error).__name__}: {error}"))
            except BaseException as error:
                if type(error).__name__ != "PanicException":
                    raise
                outcome.failures.append(Failure("ends", f"panic: {error}"))
    outcome.checked["ends"] += simulator.count
    outcome.simulations = simulator.count
    return outcome


def serve(connection: Connection) -> None:
    """Look at what is asked for until nobody asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    while True:
        try:
            case, only, seconds = connection.recv()
        except EOFError:
            return
        simulator = Simulator(seconds, begin=lambda text: connection.send(text))
        connection.send(look(draw(*case) if isinstance(case, tuple) else case, simulator, only))


class Looker:
    """The other end: asks, and begins anew when the process has been killed."""

    def __init__(self) -> None:
        self.process: Any = None

    def look(
        self, case: Case | tuple[int, int], only: str | None = None, seconds: float = MOST_SECONDS
    ) -> Outcome:
        """Look at a case, or at the one of that seed and number."""
        if self.process is None:
            self.connection, theirs = multiprocessing.Pipe()
            self.process = multiprocessing.get_context("spawn").Process(
                target=serve, args=(theirs,), daemon=True
            )
            self.process.start()
            theirs.close()
        doing = ""
        self.connection.send((case, only, seconds))
        try:
            while self.connection.poll(MOST_IDLE_SECONDS):
                answer = self.connection.recv()
                if isinstance(answer, Outcome):
                    return answer
                doing = answer
            why = f"says nothing for {MOST_IDLE_SECONDS} s"
            self.process.kill()
        except (EOFError, ConnectionError):
            why = ""
        self.process.join()
        why = why or killed_by(self.process.exitcode, seconds)
        self.process = None
        case = draw(*case) if isinstance(case, tuple) else case
        return Outcome(
            case, Counter(ends=1), [Failure("ends", f"{why}, under {doing.partition(chr(10))[0]}")]
        )

    def end(self) -> None:
        """Let the process end."""
        if self.process is not None:
            self.connection.close()
            self.process.join()

    def shrink(self, outcome: Outcome, failure: Failure) -> Table:
        """Make the document that breaks a law smaller, for a minute."""
        if not KINDS[outcome.case.kind].is_shrunk:
            return outcome.case.document
        until = time.monotonic() + 60
        # Who does not end in 20 s does not end in 5 s either, and is tried more often.
        seconds = 5 if failure.law == "ends" else MOST_SECONDS

        def is_broken(document: Table) -> bool:
            found = self.look(replace(outcome.case, document=document), failure.law, seconds).failures
            return any(alike(each) == alike(failure) for each in found)

        return shrunk(outcome.case.document, is_broken, lambda: time.monotonic() > until)


def alike(failure: Failure) -> tuple[str, str]:
    """Tell failures apart: by law and first words, without numbers."""
    return failure.law, re.sub(r"[\d.]+", "", " ".join(failure.what.split()[:3]))


def killed_by(exitcode: int, seconds: float) -> str:
    if exitcode == -signal.SIGPROF:
        return f"killed after {seconds:g} s of processor time"
    return f"killed by signal {-exitcode}, perhaps for more than {MOST_BYTES / 1e9:g} GB of memory"
