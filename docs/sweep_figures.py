"""Draws the figures of the guide to sweeps, from the scenario that stands on its page."""

import re
from functools import cache
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure

import pagecast as pc
from pagecast.sweeps import figures
from pagecast.sweeps.table import SweepTable

GUIDE: Final = Path(__file__).parent / "guides" / "sweeps.md"

VARY: Final = {
    "machine.memory.size": "8GB..64GB:log",
    "machine.vm.dirty_bytes": "64MB..4GB:log",
    "machine.disk.ssd.nr_requests": "2..128:log",
}
"""As in the command on the page."""


@cache
def sample() -> SweepTable:
    """Sixty points of the scenario."""
    block = re.search(r"^```toml\n(# backup\.toml\n.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert block, "the page has its scenario"
    scenario = pc.Scenario.from_toml(block[1])
    measures = ["p99(db fsync)", "makespan(backup)"]
    return pc.sweep(scenario, vary=VARY, measure=measures, sample="latin:60").data


def sweep_tornado() -> Figure:
    """Which key moves the p99 of the database most."""
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    figures.tornado(sample(), figure.subplots()).set_title("")
    return figure


def sweep_pareto() -> Figure:
    """Latency of the database against the time of the backup."""
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    figures.pareto(sample(), figure.subplots()).set_title("")
    return figure
