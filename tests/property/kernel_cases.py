"""What is carried out by `kernel` and by the oracle, and is compared: `agreement` says how."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hypothesis import strategies as st

import oracle
from oracle.kernel.settings import MIB
from oracle.machine import Device, Host
from oracle.scenario import Result as OracleResult
from oracle.scenario import Scenario
from oracle.to_toml import to_toml
from pagecast.result import Result
from tests.property.kernel_strategies import CLASSES, RETURNS, WRITING, barely_fitting, rereads, scenarios
from tests.property.running import simulate_text

HOST = "machine"
HZ = 1000
ORACLE_HZ = 4000
UNIT_BYTES = 256 * 1024
LIMITS_IN_BYTES = ("dirty_bytes", "dirty_background_bytes")
A_LITTLE_LATER_S = 0.02

LRUS = {"two-list": "6.15", "mglru before 6.14": "6.12", "mglru since 6.14": "6.15"}
"""How pages are chosen for eviction, and a version of Linux that does so.

None of them checks writers once for each large folio, which the oracle does not know: its writers are checked
before each unit.
"""


@dataclass(frozen=True)
class Before:
    """What was at time 0, in the words of the oracle's options."""

    dirty_limit_bytes: int | None = None
    backed_bytes: int = 0
    free_blocks: tuple[int, ...] = ()

    def to_toml(self) -> str:
        lines = [f'[model.kernel]\nbacked = "{self.backed_bytes} B"\n']
        if self.dirty_limit_bytes:
            lines.append(f'dirty_limit = "{self.dirty_limit_bytes} B"\n')
        if self.free_blocks:
            lines.append(f'free_blocks = "{" ".join(map(str, self.free_blocks))}"\n')
        return "".join(lines)


@dataclass(frozen=True)
class Case:
    """What both of them carry out."""

    scenario: Scenario
    lru: str = "two-list"
    before: Before = Before()
    may_come_later: bool = False  # dirty bytes, by what the disk takes for those that one dirtied more

    def run_oracle(self) -> OracleResult:
        rules = {"lru": self.lru.split()[0], "lru_is_reworked": "since" in self.lru}
        clocks = {"hz": ORACLE_HZ, "has_timer_wheel": False, "flusher_hz": HZ}
        return oracle.run(
            self.scenario, "kernel", unit_bytes=UNIT_BYTES, **clocks, **rules, **vars(self.before)
        )

    def run_ours(self) -> Result:
        return simulate_text(self.to_toml(), "kernel")

    def to_toml(self) -> str:
        """Give the scenario file, for `pagecast simulate`."""
        kernel = f'hz = {HZ}\nlru = "{self.lru.split()[0]}"\nversion = "{LRUS[self.lru]}"'
        return f"{to_toml(self.scenario)}[machine.kernel]\n{kernel}\n{self.before.to_toml()}"

    def nearby(self) -> Iterator["Case"]:
        """Cases that are nearly the same: sizes or rates a hundredth less or more, a process begins later."""
        host = self.scenario.hosts[HOST]
        for part in (0.99, 1.01):
            limits = {name: int(part * getattr(host.vm, name)) for name in LIMITS_IN_BYTES}
            sized = replace(host, memory_bytes=int(part * host.memory_bytes), vm=replace(host.vm, **limits))
            yield self.on(sized)
            yield self.on(
                replace(host, disks={name: scaled(disk, part) for name, disk in host.disks.items()})
            )
        for number, process in enumerate(self.scenario.processes):
            processes = list(self.scenario.processes)
            processes[number] = replace(process, start_s=process.start_s + A_LITTLE_LATER_S)
            yield replace(self, scenario=replace(self.scenario, processes=tuple(processes)))

    def on(self, host: Host) -> "Case":
        return replace(self, scenario=replace(self.scenario, hosts={HOST: host}))


def scaled(disk: Device, part: float) -> Device:
    return replace(
        disk,
        read_bytes_per_s=part * disk.read_bytes_per_s,
        write_bytes_per_s=part * disk.write_bytes_per_s,
    )


GENERATIONS = [lru for lru in LRUS if lru != "two-list"]

DRAWN: dict[str, st.SearchStrategy[Case]] = {
    "any": st.builds(Case, st.sampled_from(sorted(CLASSES)).flatmap(scenarios)),
    "hard limit of before": st.builds(
        Case,
        st.sampled_from(["writes", "cuts", "crowds"]).flatmap(scenarios),
        before=st.sampled_from([10, 42, 100, 1000]).map(lambda limit: Before(dirty_limit_bytes=limit * MIB)),
    ),
    "reported": st.builds(
        Case,
        scenarios("reported"),
        before=st.builds(
            Before,
            backed_bytes=st.sampled_from([0, 100, 1000]).map(lambda size: size * MIB),
            free_blocks=st.sampled_from(
                [(), (50_000,), (1000, 1000, 0, 0, 500), (0, 0, 0, 0, 0, 0, 0, 0, 0, 100)]
            ),
        ),
    ),
    "generations": st.builds(
        Case,
        st.sampled_from(sorted(set(CLASSES) - set(WRITING))).flatmap(scenarios),
        lru=st.sampled_from(GENERATIONS),
    ),
    "generations read again": st.builds(Case, rereads(), lru=st.sampled_from(GENERATIONS)),
    "comes back": st.builds(
        Case, st.sampled_from(sorted(RETURNS)).flatmap(scenarios), may_come_later=st.just(True)
    ),
    "barely fits": st.builds(Case, barely_fitting()),
}
"""Cases of each kind that are compared."""
