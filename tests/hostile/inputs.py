"""All hostile inputs, by what they attack."""

import json
from collections.abc import Iterator

from tests.hostile import programs, scenarios
from tests.hostile.endless import ENDLESS
from tests.hostile.mutants import plain, spoiled
from tests.hostile.worker import Input

__all__ = ["KINDS"]

GOOD = plain(scenarios.ONE_HOST).encode()
SMALL = GOOD.replace(b'["kernel", "wrench", "no-cache"]', b'["no-cache"]')
COMMANDS = (("check",), ("simulate", "--model", "kernel"), ("simulate", "--model", "no-cache", "--json"))


def scenario_files() -> Iterator[Input]:
    """Values of scenarios replaced, and the files broken."""
    for at, (name, text) in enumerate(_texts("one host")):
        yield _scenario(name, text, at)
    for at, (name, text) in enumerate(_texts("two hosts")):
        yield _scenario(name, text, at)


def _texts(seed: str) -> Iterator[tuple[str, bytes]]:
    text = scenarios.SEEDS[seed]
    each = 2 if seed == "one host" else 1
    for name, spoilt in spoiled(text, scenarios.VALUES, each=each):
        yield f"{seed}: {name}", spoilt.encode()
    for name, wrong in list(scenarios.lines_wrong(text))[:: 2 if seed == "one host" else 3]:
        yield f"{seed}: {name}", wrong.encode()
    if seed == "one host":
        for name, broken in scenarios.broken(text):
            yield f"{seed}: {name}", broken


def _scenario(name: str, text: bytes, at: int) -> Input:
    command, *more = COMMANDS[at % len(COMMANDS)]
    return Input(name, (command, "x.toml", *more), files={"x.toml": text})


def machine_files() -> Iterator[Input]:
    """Machine files with a wrong value, and broken ones."""
    texts = [
        (name, text.encode()) for name, text in spoiled(scenarios.MACHINE, scenarios.VALUES, each=2, first=5)
    ]
    for name, text in (*texts, *list(scenarios.broken(scenarios.MACHINE))[::2]):
        arguments = ("simulate", "x.toml", "--model", "no-cache", "--machine", "./m.toml")
        yield Input(f"machine: {name}", arguments, files={"x.toml": SMALL, "m.toml": text})


def overrides() -> Iterator[Input]:
    """Values of ``--set``, and of other options."""
    for text in scenarios.OVERRIDES:
        yield Input(f"--set {text[:40]!r}", ("check", "x.toml", "--set", text), files={"x.toml": GOOD})
    for option, values in OPTIONS.items():
        for value in values:
            arguments = ("simulate", "x.toml", option, value)
            yield Input(f"{option} {value[:40]!r}", arguments, files={"x.toml": SMALL})


OPTIONS = {
    "--model": ("", "nobody", "\x1b[31m", "x" * 10_000, "caf\udce9", "kernel "),
    "--seed": ("-1", "1.5", "nan", str(2**64), "9" * 5000, "", "0x10"),
    "--threads": ("0", "-1", "1.5", "9" * 400, "", "many"),
    "--uncertain": ("0", "1", "-1", "1.5", "9" * 400, "", "many"),
    "--residency": ("", "never", "\n"),
    "--machine": ("", "nobody", "./nobody.toml", "/", "/dev/null", "x" * 5000, "/proc/self/mem", "./x.toml"),
}


def calls() -> Iterator[Input]:
    """Arguments of the Python interface."""
    at = 0
    for call in programs.CALLS:
        for name, code in spoiled(call, programs.VALUES, each=1, first=at):
            at += 1
            yield Input(f"{call.split('(')[0]}... {name}", code=programs.PREPARED + code)
    for value in programs.VALUES:
        for call in ALWAYS:
            yield Input(f"{call} of {value[:30]}", code=programs.PREPARED + call.replace("«»", value))


ALWAYS = (
    "done(pc.write('/data/x', size_bytes=«»))",
    "done(pc.compute(«»))",
    "pc.simulate(scenario(), model='no-cache', threads=«»)",
    "scenario().with_memory(«»)",
    "pc.Scenario(MACHINE, processes={'a': «»})",
)
"""Calls for which every value is tried."""


def data_files() -> Iterator[Input]:
    """Recordings of studies, and outputs that are compared."""
    columns = b"process,host,index,operation,path,offset_bytes,bytes,start_s,end_s,duration_s\n"
    operations = columns + b"p,h,0,read,/f,0,1,0,1,1\n"
    results = json.dumps(RESULTS).encode()
    junk = {
        "empty": b"",
        "no UTF-8": b"\xff\xfe\x00",
        "nulls": b"\0" * 1000,
        "only a head": operations.splitlines(keepends=True)[0],
        "a short row": operations + b"p,h\n",
        "a long row": operations + b"p" + b",1" * 100_000 + b"\n",
        "words for numbers": operations.replace(b",1\n", b",one\n"),
        "nan": operations.replace(b",1\n", b",nan\n"),
        "a huge number": operations.replace(b",1\n", b",1e999\n"),
        "an open quote": operations + b'"p,h,0',
        "a long cell": operations + b"x" * 1_000_000,
        "JSON for CSV": results,
        "a list": b"[]",
        "deep JSON": b"[" * 200_000,
        "half of it": results[:100],
        "a number": b"1",
        "rows that are none": b'{"rows": 1}',
        "rows of rows": b'{"rows": [[1]]}',
        "no experiment": b'{"rows": [{}]}',
        "a huge whole number": b'{"rows": ' + b"9" * 5000 + b"}",
        "texts for times": results.replace(b"1.5", b'"long"'),
        "infinite times": results.replace(b"1.5", b"Infinity"),
    }
    for name, content in junk.items():
        good = {"a/provenance.json": b"{}", "a/kernel/operations.csv": operations}
        for place in ("b/kernel/operations.csv", "b/results.json", "b/provenance.json"):
            files = {
                **good,
                "b/provenance.json": b"{}",
                "b/kernel/operations.csv": operations,
                place: content,
            }
            yield Input(f"compare: {name} in {place}", ("compare", "a", "b", "--json"), files=files)
    for study, places in RECORDINGS.items():
        for name in ("empty", "no UTF-8", "nulls", "deep JSON", "a short row", "JSON for CSV"):
            files = {f"data/{place}": junk[name] for place in places}
            yield Input(f"{study}: {name}", ("reproduce", study, "--data", "data", "--json"), files=files)


RESULTS = {
    "rows": [
        {
            "experiment": "e",
            "case": "c",
            "process": "p",
            "operation": "read 1",
            "model": "kernel",
            "measured_s": 1.5,
            "forecast_s": 1.5,
        }
    ]
}

RECORDINGS = {
    "live-kernel": (
        "live/c_read/1/summary.json",
        "live/c_read/1/marks.csv",
        "c_read/1/samples.csv",
        "machine.toml",
    ),
    "kernel-law": ("events.csv", "bdi_dirty_ratelimit.csv", "throughput.csv"),
}


def outputs() -> Iterator[Input]:
    """Places for output that cannot be, or where there is something else."""
    there: dict[str, bytes | str | None] = {
        "x.toml": SMALL,
        "file": b"precious",
        "full/precious": b"precious",
        "loop": "loop",
        "nowhere": "not/there",
        "ours/provenance.json": b"{}",
    }
    for out in PLACES:
        for command in (("simulate", "x.toml"), ("compare", "full", "ours")):
            arguments = (*command, "--out", out, "--force")
            yield Input(f"{command[0]} --out {out[:40]!r}", arguments, files=there)
        yield Input(f"init {out[:40]!r}", ("init", out), files=there)
        yield Input(f"init --force {out[:40]!r}", ("init", out, "--force"), files=there)
        yield Input(f"check {out[:40]!r}", ("check", out), files=there)


PLACES = (
    "",
    "/",
    ".",
    "..",
    "file",
    "file/below",
    "full",
    "loop",
    "nowhere",
    "/dev/null",
    "/dev/full",
    "/dev/null/below",
    "/proc/results",
    "/proc/self/fd/1",
    "x" * 256,
    "x/" * 3000,
    "two\nlines",
    "caf\udce9/below",
    "\x1b[31m",
    "-",
)


def endless_scenarios() -> Iterator[Input]:
    """Scenarios that never ended, under each model that has a word in it."""
    for name, text in ENDLESS.items():
        for model in ("cawl",) if "cawl" in text else ("kernel", "wrench"):
            arguments = ("simulate", "x.toml", "--model", model, "--json")
            yield Input(f"{name} under {model}", arguments, files={"x.toml": text.encode()})


KINDS = {
    "scenario files": scenario_files,
    "machine files": machine_files,
    "options": overrides,
    "python": calls,
    "data files": data_files,
    "outputs": outputs,
    "endless scenarios": endless_scenarios,
}
"""By kind: a function that gives the inputs."""
