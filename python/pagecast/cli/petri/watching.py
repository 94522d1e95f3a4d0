"""Reads ``--monitor`` of `pagecast petri run`."""

import re

import click

from pagecast.arguments import shown
from pagecast.petri import Net
from pagecast.petri.build import MONITOR_KINDS

__all__ = ["watch"]

_OF_PLACES = ("marking size", "list length", "empty", "not empty")
_OF_TRANSITIONS = ("count", "enabled")


def watch(net: Net, text: str) -> None:
    """Add a monitor to a net.

    Parameters
    ----------
    net : Net
    text : str
        ``KIND: NODE``, and behind it functions in CPN ML, each after a semicolon.
    """
    head, *functions = re.split(r";\s*(?=fun\s)", text)
    kind, sign, node = (part.strip() for part in head.partition(":"))
    if not sign or kind not in MONITOR_KINDS:
        raise click.BadParameter(
            f"`{shown(text)}` is no KIND:NODE; kinds are {', '.join(MONITOR_KINDS)}", param_hint="--monitor"
        )
    of = "place" if kind in _OF_PLACES else "transition" if kind in _OF_TRANSITIONS else None
    named: dict[str, str] = {}
    for function in functions:
        found = re.match(r"fun\s+(pred|obs|init|stop)\b", function)
        if found is None:
            raise click.BadParameter(
                f"`{shown(function)}` is none of fun pred, obs, init and stop", param_hint="--monitor"
            )
        named[found[1]] = function.strip().rstrip(";")
    net.monitor(f"{kind} of {node}", kind, net.node(node, of), **named)
