"""Draws the figure of the guide to ranges, from the scenario that stands on its page."""

import re
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure

import pagecast as pc

GUIDE: Final = Path(__file__).parent / "guides" / "ranges.md"


def ranges_timeline() -> Figure:
    """Dirty and cached memory with their bands."""
    block = re.search(r"^```toml\n(# backup\.toml\n.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert block, "the page has its scenario"
    result = pc.simulate(pc.Scenario.from_toml(block[1]), uncertain=200)
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    pc.plot.timeline(result, figure.subplots()).set_title("")
    return figure
