"""``pagecast petri``: run and check coloured Petri nets."""

import click

from pagecast.cli import options

__all__ = ["command"]

COMMANDS = ("run", "check", "show", "step", "space", "convert")
"""In the order of the help; each is a module below with a click command `command`."""


@click.group(
    "petri",
    cls=options.lazy_group("pagecast.cli.petri", COMMANDS),
    short_help="Run and check coloured Petri nets of CPN Tools.",
)
def command() -> None:
    """Run and check timed coloured Petri nets, in the files of CPN Tools (.cpn).

    The nets ext3-read, ext3-write, pvfs-read and pvfs-write come with pagecast, and are found by name.

    \b
    Examples:
      pagecast petri check net.cpn                    are all inscriptions understood?
      pagecast petri run net.cpn --set size=64        occurrences, and the marking at the end
      pagecast petri run net.cpn --html run.html      the same as a page that a browser plays
      pagecast petri step net.cpn                     choose what occurs next
      pagecast petri space net.cpn                    bounds, dead markings and live transitions
      pagecast petri convert net.cpn net.svg          a picture of its pages
    """
