"""Messages of `run`, `validate` and `bench` on the machine, before and after they measure."""

from collections.abc import Mapping
from typing import Any

import click

from pagecast.cache.proactive import proactive_reclaim
from pagecast.pressure import MUCH_WAITING

__all__ = ["cautions", "tell_busy"]


def cautions(place: Mapping[str, Any]) -> list[str]:
    """Give a sentence for each thing to know before a run; `place` is what `Plan.check` gave."""
    lines = []
    if place["caution"]:
        lines.append(f"{place['file_system']} {place['caution']}.")
    if others := proactive_reclaim():
        lines.append(f"{others}.")
    return lines


def tell_busy(share: float) -> None:
    """Say that something waited for a processor, if it did so for much of the time."""
    if share > MUCH_WAITING:
        click.echo(
            f"For {100 * share:.0f} % of the time something waited for a processor: "
            "with less beside it, this machine is faster.",
            err=True,
        )
