"""How many occurrences per second a net has, beside SNAKES, cpnpy and simpn in the same run.

    python benches/petri.py [--peers PYTHON] [--seconds 2] [--out out/bench]

The net has ten tokens, numbers that grow: one transition takes a number and gives the next one, which is
ready a unit of time later. Each tool has it in its own form; SNAKES has no time. `--peers` is the interpreter
of an environment with the packages `snakes`, `cpnpy` and `simpn`; without it only ours is timed. The tools
take turns, and of each its fastest turn counts: other work on the machine only makes a turn longer.

Then the shipped nets run, each in processes of its own: occurrences per second, seconds of `Net.run`, and the
most memory that the process has had.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOKENS = 10
TURNS = 3
SHIPPED = (
    ("ext3-read", "file_pages", 131_072),
    ("ext3-read", "file_pages", 262_144),
    ("ext3-write", "file_pages", 131_072),
    ("pvfs-read", "file_bytes", 16_777_216),
    ("pvfs-write", "file_bytes", 16_777_216),
)
"""Shipped nets, with the size of their file: pages of 4 KiB, or bytes."""


def ours(steps: int) -> Callable[[], int]:
    """Give a run of the net in pagecast."""
    from pagecast import petri

    net = petri.Net("numbers")
    net.declare("colset INT = int timed;", "var n : INT;")
    place = net.place("Numbers", "INT", "++".join(f"1`{n}" for n in range(TOKENS)))
    step = net.transition("Step", delay="@+1")
    net.arc(place, step, "n")
    net.arc(step, place, "n + 1")
    net.check()
    return lambda: net.run(steps=steps).steps


def snakes(steps: int) -> Callable[[], int]:
    """Give a run of the net in SNAKES."""
    from snakes.nets import Expression, PetriNet, Place, Transition, Variable

    net = PetriNet("numbers")
    net.add_place(Place("numbers", list(range(TOKENS))))
    net.add_transition(Transition("step"))
    net.add_input("numbers", "step", Variable("n"))
    net.add_output("numbers", "step", Expression("n + 1"))
    step = net.transition("step")

    def run() -> int:
        for _ in range(steps):
            step.fire(step.modes()[0])
        return steps

    return run


def cpnpy(steps: int) -> Callable[[], int]:
    """Give a run of the net in cpnpy."""
    from cpnpy.cpn.colorsets import ColorSetParser
    from cpnpy.cpn.cpn_imp import CPN, Arc, EvaluationContext, Marking, Place, Transition

    colset = ColorSetParser().parse_definitions("colset INT = int timed;")["INT"]
    place, step = Place("numbers", colset), Transition("step", variables=["n"], transition_delay=1)
    net = CPN()
    net.add_place(place)
    net.add_transition(step)
    net.add_arc(Arc(place, step, "n"))
    net.add_arc(Arc(step, place, "n + 1"))
    marking, context = Marking(), EvaluationContext()
    marking.set_tokens("numbers", list(range(TOKENS)))

    def run() -> int:
        done = 0
        while done < steps:
            if net.is_enabled(step, marking, context):
                net.fire_transition(step, marking, context)
                done += 1
            else:
                net.advance_global_clock(marking)
        return done

    return run


def simpn(steps: int) -> Callable[[], int]:
    """Give a run of the net in simpn."""
    from simpn.simulator import SimProblem, SimToken

    problem = SimProblem()
    place = problem.add_var("numbers")
    for n in range(TOKENS):
        place.put(n)
    problem.add_event([place], [place], lambda n: [SimToken(n + 1, delay=1)], name="step")

    def run() -> int:
        for _ in range(steps):
            problem.fire(problem.bindings()[0])
        return steps

    return run


TOOLS = {"pagecast": ours, "SNAKES": snakes, "cpnpy": cpnpy, "simpn": simpn}


def rate(name: str, seconds: float) -> float:
    """Give occurrences per second, of a run that takes about so long."""
    steps = 1000
    while True:
        run = TOOLS[name](steps)
        begun = time.perf_counter()
        done = run()
        took = time.perf_counter() - begun
        if took >= seconds / 2:
            return done / took
        steps = int(steps * min(100.0, max(2.0, seconds / max(took, 1e-6))))


def shipped(name: str, value: str, size: int) -> dict[str, object]:
    """Run a shipped net for a file of some size; the process shall do nothing else."""
    from pagecast import petri
    from pagecast.petri.nets import path_of

    net = petri.load(path_of(name)).with_values(**{value: size})
    net.check()
    begun = time.perf_counter()
    steps = net.run().steps
    seconds = time.perf_counter() - begun
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return {"net": name, value: size, "occurrences": steps, "seconds": seconds, "peak_mb": peak_mb}


def _shipped(number: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(in_process("--shipped", str(number)).stdout)
    return found


def in_process(*arguments: str, python: Path = Path(sys.executable)) -> subprocess.CompletedProcess[str]:
    """Run this program in a process of its own."""
    return subprocess.run([python, __file__, *arguments], capture_output=True, text=True, check=False)


def main() -> None:
    """Time all tools."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, metavar="PYTHON", help="the interpreter that has the peers")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each tool")
    parser.add_argument("--out", type=Path, help="folder for petri.json")
    parser.add_argument("--one", choices=TOOLS, help=argparse.SUPPRESS)
    parser.add_argument("--shipped", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.shipped is not None:
        print(json.dumps(shipped(*SHIPPED[options.shipped])))
        return
    if options.one:
        print(rate(options.one, options.seconds))
        return
    found: dict[str, float] = {}
    for name in list(TOOLS if options.peers else ["pagecast"]) * TURNS:
        python = Path(sys.executable) if name == "pagecast" else options.peers
        done = in_process("--one", name, "--seconds", str(options.seconds), python=python)
        if done.returncode:
            print(f"{name} cannot be timed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        else:
            found[name] = max(float(done.stdout.split()[-1]), found.get(name, 0.0))
    for name, each in found.items():
        print(f"{name:10} {each:12,.0f} occurrences/s, {found['pagecast'] / each:8,.1f} times as long")
    turns = [[_shipped(number) for number in range(len(SHIPPED))] for _ in range(TURNS)]
    nets = [min(each, key=lambda turn: turn["seconds"]) for each in zip(*turns, strict=True)]
    for (name, value, size), each in zip(SHIPPED, nets, strict=True):
        print(
            f"{name:10} {each['occurrences'] / each['seconds']:12,.0f} occurrences/s, {value}={size}: "
            f"{each['occurrences']:,} in {each['seconds']:.2f} s, {each['peak_mb']:.0f} MB of memory"
        )
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "petri.json").write_text(
            json.dumps({"numbers": found, "shipped": nets}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
