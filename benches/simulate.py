"""How long the simulate call takes, and how much memory: ours, SimGrid's and the oracle's, in one run.

    python benches/simulate.py [--repeat 20] [--only TEXT] [--out out/bench]

The time is the one inside the simulate call (`result.wall_s`) of a release build, with operations and
timeline recorded. Reading the scenario and starting Python are not in it. Each case has a process of its own,
and so its own memory: the highest resident size in the first call, less the resident size before it.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path

from workload import FILE_MB, scenario, striped, writer

HERE = Path(__file__).parent
GROWTH_APPS = (32, 320, 3_200, 32_000, 100_000)
GROWTH_CALLS = {32_000: 5, 100_000: 3}
"""A call takes 8 s and 25 s there."""
STRIPED_MIB = {8: 512, 64: 64, 256: 16, 1_000: 16}
"""Bytes that each of so many clients of striped servers writes, where the time of a message is compared."""
SERVERS = 64
MESSAGES = 4
"""Those of a payload: the request of a write, the bytes, and an answer to each."""


@dataclass(frozen=True)
class Case:
    """One row: what runs it, on how much, and what it may take.

    That is a model of ours, `simgrid`, `oracle`, `WRENCH 2.1`, or `simgrid+MODEL`: SimGrid with our page
    caches, and `simgrid+plain` the same program without. `hosts+MODEL` is `simgrid+MODEL` on as many hosts as
    there are applications, one call with and one without page caches in turn.
    """

    name: str
    engine: str
    apps: int
    chunk_mb: int = FILE_MB
    limit_s: float | None = None
    limit_mb: float | None = None
    repeat: int | None = None
    spread_s: float = 60.0
    write: str | None = None
    servers: int | None = None
    size_mib: int = 1024
    strip_kib: int = 1024
    is_alike: bool = False
    file_gib: int | None = None
    file_gb: float = FILE_MB / 1000
    compute_s: float = 4.4
    aimed_ratio: float | None = None


@dataclass
class Outcome:
    """What one case gave; `skipped` says why it gave nothing, `plain_s` are the calls without page caches."""

    case: Case
    wall_s: list[float] = field(default_factory=list)
    plain_s: list[float] = field(default_factory=list)
    peak_mb: float | None = None
    makespan_s: float | None = None
    skipped: str | None = None

    @property
    def median_s(self) -> float:
        return statistics.median(self.wall_s)

    @property
    def verdict(self) -> str:
        """Say whether the limits hold; empty where there are none."""
        limits = [(self.case.limit_s, self.median_s), (self.case.limit_mb, self.peak_mb)]
        set_limits = [(limit, value) for limit, value in limits if limit is not None and value is not None]
        if not set_limits:
            return ""
        return "holds" if all(value <= limit for limit, value in set_limits) else "FAILS"


CASES = [
    Case("the program starts and shows its help", "--help", 1, limit_s=0.3),
    Case("a Python that imports the package and ends", "import", 1, limit_s=0.15),
    Case("32 applications, 100 MB chunks", "wrench", 32, 100, limit_s=0.005),
    Case("32 applications, 1 MB chunks", "wrench", 32, 1, limit_s=0.5, limit_mb=50),
    Case("one 3 GB application, 1 MB chunks", "wrench", 1, 1),
    Case("32 applications", "kernel", 32, limit_s=0.02),
    Case("one writer of 1 TB, 1 MiB calls", "kernel", 1, limit_s=1.5, limit_mb=50, write="in order"),
    Case("a pattern of 262,144 random writes of 4 KiB", "kernel", 1, limit_s=3, limit_mb=200, write="random"),
    *(
        Case(
            f"messages: {clients:,} clients of 64 striped servers, {size} MiB each, strips of 64 KiB",
            "kernel",
            clients,
            servers=SERVERS,
            size_mib=size,
            strip_kib=64,
            repeat=3,
        )
        for clients, size in STRIPED_MIB.items()
    ),
    *(
        Case(
            f"{clients:,} clients of 64 striped servers, {size} MiB each",
            engine,
            clients,
            servers=SERVERS,
            size_mib=size,
            repeat=3,
        )
        for clients, size in STRIPED_MIB.items()
        for engine in ("kernel", "no-cache", "simgrid")
    ),
    Case("8 clients of 64 striped servers, 1 GiB each, 1 MiB calls", "kernel", 8, servers=64),
    Case("100 clients of 64 striped servers, 1 GiB each, 1 MiB calls", "kernel", 100, servers=64, repeat=3),
    Case(
        "1,000 clients of 64 striped servers, 1 GiB each, 1 MiB calls",
        "kernel",
        1_000,
        limit_s=60,
        limit_mb=4_000,
        repeat=1,
        servers=64,
    ),
    Case("a million chunks in order", "cawl", 10**6, limit_s=1),
    Case("a million chunks of a file of 1 GiB in no order", "cawl", 10**6, limit_s=1, file_gib=1),
    Case("a million chunks of a file of 100 GiB in no order", "cawl", 10**6, limit_s=1, file_gib=100),
    Case("10,000 hosts of 32 applications", "kernel", 320_000, limit_s=120, limit_mb=4_000, repeat=1),
    Case(
        "10,000 hosts of 32 applications, all alike",
        "kernel",
        320_000,
        limit_mb=4_000,
        repeat=1,
        is_alike=True,
    ),
    *(
        Case(
            f"growth: {apps:,} applications, 100 MB chunks",
            "wrench",
            apps,
            100,
            repeat=GROWTH_CALLS.get(apps),
        )
        for apps in GROWTH_APPS
    ),
    Case("1,024 applications, whole files", "no-cache", 1024),
    Case("1,024 applications, whole files", "simgrid", 1024),
    Case("1,024 applications, 100 MB operations", "no-cache", 1024, 100),
    Case("1,024 applications, 100 MB operations", "simgrid", 1024, 100),
    Case("1,024 applications, whole files, together", "no-cache", 1024, spread_s=0),
    Case("1,024 applications, whole files, together", "simgrid", 1024, spread_s=0),
    Case("1,024 applications, 100 MB operations, together", "no-cache", 1024, 100, spread_s=0),
    Case("1,024 applications, 100 MB operations, together", "simgrid", 1024, 100, spread_s=0),
    Case("32 applications, together", "kernel", 32, spread_s=0),
    Case("32 applications, together", "simgrid+kernel", 32, limit_s=0.05, spread_s=0),
    Case("32 applications, together, in SimGrid", "simgrid+wrench", 32, spread_s=0),
    Case("32 applications, together, in SimGrid", "simgrid+no-cache", 32, spread_s=0),
    Case("32 applications, together, in SimGrid", "simgrid+plain", 32, spread_s=0),
    Case("10 hosts of 100 operations", "hosts+no-cache", 10),
    Case("10 hosts of 100 operations", "hosts+kernel", 10, aimed_ratio=5),
    Case("1,000 hosts of 100 operations", "hosts+no-cache", 1_000, repeat=5),
    Case("1,000 hosts of 100 operations", "hosts+kernel", 1_000, repeat=5, aimed_ratio=5),
    Case("32 applications, 100 MB chunks, together", "wrench", 32, 100, spread_s=0),
    Case("32 applications, 100 MB chunks, together", "oracle", 32, 100, repeat=3, spread_s=0),
    Case("32 applications, 100 MB chunks, together", "WRENCH 2.1", 32, 100, spread_s=0),
    Case("Exp 1 with 75 GB", "simgrid+wrench", 1, 100, spread_s=0, file_gb=75, compute_s=110),
    Case("Exp 1 with 75 GB", "WRENCH 2.1", 1, 100, spread_s=0, file_gb=75, compute_s=110),
]


def run_ours(case: Case, repeat: int) -> Outcome:
    """Simulate in this process; `wrench` splits operations itself, the rivals are given split ones."""
    import pagecast

    split = case.chunk_mb if case.engine == "no-cache" else FILE_MB
    if case.write:
        text = writer(at_random=case.write == "random")
    elif case.servers is not None:
        text = striped(case.apps, case.servers, size_mib=case.size_mib, strip_kib=case.strip_kib)
    else:
        text = scenario(case.apps, chunk_mb=split, spread_s=case.spread_s, alike=case.is_alike)
    chunk = [f'model.wrench.chunk="{case.chunk_mb} MB"'] if case.engine == "wrench" else []
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        loaded = pagecast.Scenario.load(file.name, set=chunk)
    outcome = Outcome(case)
    before = memory_mb("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    for _ in range(repeat):
        result = pagecast.simulate(loaded, model=case.engine, seed=0)
        if outcome.peak_mb is None:
            outcome.peak_mb = memory_mb("VmHWM") - before
        outcome.wall_s.append(result.wall_s)
    outcome.makespan_s = max(result.operations["end_s"])
    return outcome


def memory_mb(name: str) -> float:
    """Read a line of /proc/self/status, in MB."""
    match = re.search(rf"^{name}:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert match, "the kernel tells a process its memory"
    return int(match[1]) * 1024 / 1e6


def run_simgrid(case: Case, repeat: int) -> Outcome:
    """Run the C++ driver once per repetition: SimGrid simulates once per process."""
    program = Path("out/bench") / ("simgrid_peer" if case.servers is None else "simgrid_striped")
    source = HERE / "simgrid_peer" / ("peer.cpp" if case.servers is None else "striped.cpp")
    reason = build_simgrid(program, source)
    if reason:
        return Outcome(case, skipped=reason)
    outcome = Outcome(case)
    for seed in range(repeat):
        command = [str(program), *map(str, arguments_of(case, seed))]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        row = json.loads(answer.stdout)
        outcome.wall_s.append(row["wall_s"])
        outcome.makespan_s = row["makespan_s"]
    return outcome


def arguments_of(case: Case, seed: int) -> list[object]:
    """Give what SimGrid's driver of a case is asked for."""
    if case.servers is None:
        started = ["--spread-s", case.spread_s, "--seed", seed]
        return ["--apps", case.apps, *started, "--chunk-mb", case.chunk_mb]
    size = ["--size-mib", case.size_mib, "--strip-kib", case.strip_kib]
    return ["--clients", case.apps, "--servers", case.servers, *size]


def build_simgrid(program: Path, source: Path = HERE / "simgrid_peer" / "peer.cpp") -> str | None:
    """Compile a driver if it is not there; say why it cannot be."""
    if shutil.which("g++") is None:
        return "no C++ compiler (g++)"
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "simgrid"], capture_output=True, text=True, check=False
    )
    if flags.returncode != 0:
        return "SimGrid is not installed; see benches/README.md"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        command = ["g++", "-std=c++17", "-O2", "-o", str(program), str(source), *flags.stdout.split()]
        subprocess.run(command, check=True)
    return None


def build_plugin() -> tuple[Path, str | None]:
    """Build the plug-in's examples; give their folder, and why they cannot be built if they cannot."""
    sys.path.insert(0, str(HERE.parent / "plugins" / "simgrid"))
    from building import build

    folder = Path("out/bench/simgrid").resolve()
    return folder, build(folder, "release")


def run_plugin(case: Case, repeat: int) -> Outcome:
    """Run the plug-in's example of Exp 2 once per repetition."""
    folder, reason = build_plugin()
    if reason:
        return Outcome(case, skipped=reason)
    outcome = Outcome(case)
    for _ in range(repeat):
        model = case.engine.removeprefix("simgrid+")
        took_s, outcome.makespan_s = timed(folder / "exp2", case.apps, model, case.file_gb, case.compute_s)
        outcome.wall_s.append(took_s)
    return outcome


def timed(program: Path, *arguments: object) -> tuple[float, float]:
    """Run a program that writes the time of its simulation call and the simulated end to stderr."""
    command = [str(program), *map(str, arguments)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    row = json.loads(answer.stderr)
    return row["wall_s"], row["makespan_s"]


def run_hosts(case: Case, repeat: int) -> Outcome:
    """Run the plug-in's example of many hosts without and with page caches, in turn."""
    folder, reason = build_plugin()
    if reason:
        return Outcome(case, skipped=reason)
    outcome = Outcome(case)
    for _ in range(repeat):
        outcome.plain_s.append(timed(folder / "many-hosts", case.apps, "plain")[0])
        model = case.engine.removeprefix("hosts+")
        took_s, outcome.makespan_s = timed(folder / "many-hosts", case.apps, model)
        outcome.wall_s.append(took_s)
    return outcome


def run_wrench(case: Case, repeat: int) -> Outcome:
    """Run the driver for WRENCH once per repetition: it simulates once per process."""
    program = Path("out/bench/wrench_peer")
    reason = build_wrench(program, os.environ.get("WRENCH", ""))
    if reason:
        return Outcome(case, skipped=reason)
    outcome = Outcome(case)
    for _ in range(repeat):
        took_s, outcome.makespan_s = timed(program, case.apps, case.file_gb, case.compute_s)
        outcome.wall_s.append(took_s)
    return outcome


def build_wrench(program: Path, wrench: str) -> str | None:
    """Compile the peer against the WRENCH that is installed in a folder; say why it cannot be."""
    if not wrench:
        return "no WRENCH=FOLDER is given; see benches/README.md"
    library = Path(wrench) / "lib" / "libwrench.a"
    if not library.exists():
        return f"WRENCH is not installed in {wrench}: there is no {library}"
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "simgrid"], capture_output=True, text=True, check=False
    )
    if flags.returncode != 0:
        return "SimGrid is not installed; see benches/README.md"
    source = HERE / "wrench_peer" / "peer.cpp"
    if not program.exists() or program.stat().st_mtime < max(
        each.stat().st_mtime for each in (source, library)
    ):
        program.parent.mkdir(parents=True, exist_ok=True)
        include = f"-I{Path(wrench) / 'include'}"
        command = ["g++", "-std=c++17", "-O2", include, "-o", str(program), str(source), str(library)]
        subprocess.run([*command, *flags.stdout.split()], check=True)
    return None


def run_oracle(case: Case, repeat: int) -> Outcome:
    """Run the plain-Python oracle on the same workload."""
    sys.path.insert(0, str(HERE.parent))
    from oracle import experiments, scenario

    outcome = Outcome(case)
    for _ in range(repeat):
        exp2 = experiments.exp2(case.apps)
        begun = time.perf_counter()
        result = scenario.run(exp2, "wrench")
        outcome.wall_s.append(time.perf_counter() - begun)
        outcome.makespan_s = result.end_ns / 1e9
    return outcome


def run_program(case: Case, repeat: int) -> Outcome:
    """Start the program, or only import the package, as often."""
    program = Path(sys.executable).with_name("pagecast")
    commands = {"--help": [str(program), "--help"], "import": [sys.executable, "-c", "import pagecast"]}
    outcome = Outcome(case)
    for _ in range(repeat):
        begun = time.perf_counter()
        subprocess.run(commands[case.engine], check=True, capture_output=True)
        outcome.wall_s.append(time.perf_counter() - begun)
    return outcome


def run_chunks(case: Case, repeat: int) -> Outcome:
    """Feed chunks to Algorithm 1 of CAWL: of 4 KiB in order, or of 4 KiB to 1 MiB anywhere in a file."""
    import numpy as np

    from pagecast.cawl import SyscallCost

    page, random = 4096, np.random.default_rng(0)
    pages, first = np.ones(case.apps), np.arange(case.apps)
    if case.file_gib:
        pages = random.integers(1, 257, case.apps)
        first = random.integers(0, case.file_gib * 2**18 - 256, case.apps)
    outcome = Outcome(case)
    before = memory_mb("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    for _ in range(repeat):
        cost = SyscallCost(
            bw_ramdisk=2e9, bw_reduced=1e9, bw_dev=500e6, limit_bg=4e9, limit_hard=8e9, sc_w=1e-6
        )
        begun = time.perf_counter()
        cost.write_all(first * page, pages * page)
        outcome.wall_s.append(time.perf_counter() - begun)
        if outcome.peak_mb is None:
            outcome.peak_mb = memory_mb("VmHWM") - before
    return outcome


RUNNERS: dict[str, Callable[[Case, int], Outcome]] = {
    "simgrid": run_simgrid,
    **{f"simgrid+{model}": run_plugin for model in ("kernel", "wrench", "no-cache", "plain")},
    **{f"hosts+{model}": run_hosts for model in ("kernel", "no-cache")},
    "WRENCH 2.1": run_wrench,
    "oracle": run_oracle,
    "cawl": run_chunks,
    "--help": run_program,
    "import": run_program,
}


def in_own_process(index: int, repeat: int) -> Outcome:
    """Run one case in a process of its own."""
    command = [sys.executable, __file__, "--repeat", str(repeat), "--case", str(index)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    fields = json.loads(answer.stdout)
    return Outcome(**{**fields, "case": CASES[index]})


def table(outcomes: list[Outcome]) -> str:
    """Write the outcomes as a Markdown table."""
    titles = ["case", "program", "median", "per application", "peak memory", "calls", "limit", "verdict"]
    rows = [titles, ["---"] * 2 + ["--:"] * 4 + ["---"] * 2]
    for outcome in outcomes:
        case = outcome.case
        row = [case.name, case.engine]
        if outcome.skipped:
            row += [f"skipped: {outcome.skipped}", "", "", "", "", ""]
        else:
            limits = [f"{case.limit_s * 1e3:g} ms"] if case.limit_s else []
            limits += [f"{case.limit_mb:g} MB"] if case.limit_mb else []
            row += [f"{three(outcome.median_s * 1e3)} ms", f"{three(outcome.median_s / case.apps * 1e6)} us"]
            row += ["" if outcome.peak_mb is None else f"{outcome.peak_mb:.1f} MB", str(len(outcome.wall_s))]
            row += [", ".join(limits), outcome.verdict]
        rows.append(row)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def three(number: float) -> str:
    """Write a number with three significant digits."""
    return f"{float(f'{number:.3g}'):,g}"


def ratios(outcomes: list[Outcome]) -> list[str]:
    """Compare each peer with our row of the same name, and the growth rows with each other."""
    done = [outcome for outcome in outcomes if not outcome.skipped]
    ours = [outcome for outcome in done if outcome.case.engine not in RUNNERS]
    lines = []
    for peer, mine in product(done, ours):
        name = peer.case.name
        if peer.case.engine not in RUNNERS or name != mine.case.name:
            continue
        ratio = peer.median_s / mine.median_s
        lines.append(f"{name}: {peer.case.engine} takes {ratio:.3g} times as long as {mine.case.engine}")
        with_cache = peer.case.engine.startswith("simgrid+")
        if peer.case.spread_s == 0 and not with_cache and peer.makespan_s and mine.makespan_s:
            apart = abs(peer.makespan_s / mine.makespan_s - 1)
            lines.append(f"{name}: the simulated ends of the two differ by {apart:.1e} of the time")
    lines += [hosts_line(each) for each in done if each.plain_s]
    lines += message_times([each for each in done if each.case.name.startswith("messages")])
    growth = [each.median_s / each.case.apps for each in done if each.case.name.startswith("growth")]
    if len(growth) == len(GROWTH_APPS):
        factor = max(growth) / growth[0]
        least, most, verdict = GROWTH_APPS[0], GROWTH_APPS[-1], "holds" if factor <= 1.5 else "FAILS"
        lines.append(f"time per application, {least} to {most:,}: factor {factor:.2f} (limit 1.5) {verdict}")
    return lines


def message_times(outcomes: list[Outcome]) -> list[str]:
    """Give the time of a message to or from a striped server, by the number of clients."""
    if not outcomes:
        return []
    times = []
    for each in outcomes:
        payloads = each.case.apps * each.case.size_mib * 1024 // each.case.strip_kib
        times.append(each.median_s / (MESSAGES * payloads))
    told = ", ".join(
        f"{1e6 * time:.2f} us of {each.case.apps:,}" for time, each in zip(times, outcomes, strict=True)
    )
    return [f"time of a message of striped clients: {told}; factor {max(times) / min(times):.2f}"]


def hosts_line(outcome: Outcome) -> str:
    """Compare calls with page caches with the calls before them, which had none."""
    pairs = sorted(ours / plain for ours, plain in zip(outcome.wall_s, outcome.plain_s, strict=True))
    ratio, aim = statistics.median(pairs), outcome.case.aimed_ratio
    verdict = "" if aim is None else f" (aim {aim:g}: {'reached' if ratio <= aim else 'not reached'})"
    name, model = outcome.case.name, outcome.case.engine.removeprefix("hosts+")
    spread = f"{ratio:.2f} times, of {len(pairs)} pairs {pairs[0]:.2f} to {pairs[-1]:.2f}"
    return f"{name}: page caches of {model} take plain SimGrid's time {spread}{verdict}"


def main() -> int:
    """Run the cases and print the table; 1 if a limit does not hold."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--repeat", type=int, default=20, help="calls per case (default 20)")
    parser.add_argument("--only", default="", help="only cases whose name or program contains this text")
    parser.add_argument("--out", type=Path, help="write simulate.md and simulate.json here, too")
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        case = CASES[options.case]
        outcome = RUNNERS.get(case.engine, run_ours)(case, case.repeat or options.repeat)
        json.dump(asdict(outcome), sys.stdout)
        return 0
    outcomes = []
    for index, case in enumerate(CASES):
        if options.only in case.name or options.only in case.engine:
            print(f"{case.name} ({case.engine})", file=sys.stderr)
            outcomes.append(in_own_process(index, options.repeat))
    text = "\n\n".join([table(outcomes), "\n".join(ratios(outcomes))])
    print(text)
    if options.out:
        write(options.out, text, outcomes)
    return int("FAILS" in text)


def write(folder: Path, text: str, outcomes: list[Outcome]) -> None:
    """Keep the table and the raw times."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "simulate.md").write_text(text + "\n")
    about = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    rows = [asdict(each) | {"median_s": each.median_s if each.wall_s else None} for each in outcomes]
    (folder / "simulate.json").write_text(json.dumps({"machine": about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
