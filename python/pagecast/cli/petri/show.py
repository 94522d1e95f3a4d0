"""``pagecast petri show``: the pages of a net with their inscriptions."""

from pathlib import Path

import click

from pagecast.cli.petri import common

__all__ = ["command"]


@click.command("show")
@common.net
@common.values
def command(net: Path, values: tuple[str, ...]) -> None:
    """Show the pages of NET.cpn: places, transitions, and arcs with their inscriptions.

    \b
    Examples:
      pagecast petri show net.cpn
    """
    of = common.loaded(net, values)
    for page in of.pages():
        click.echo(f"page {page['name']}" + ("" if page["prime"] else " (stands for a transition)"))
        for place in page["places"]:
            more = [
                place["initial"] and f"initially {place['initial']}",
                place["port"] and f"port {place['port']}",
            ]
            more.append(place["fusion"] and f"fusion set {place['fusion']}")
            click.echo(_line("place", place["name"], f": {place['colset']}", more))
        for number, transition in enumerate(page["transitions"]):
            names = ("guard", "delay", "priority", "code")
            more = [transition[name] and f"{name} {transition[name]}" for name in names]
            more.append(transition["page"] and f"stands for page {transition['page']}")
            click.echo(_line("transition", transition["name"], "", more))
            for arc in page["arcs"]:
                if arc["transition"] == number:
                    sign = {"in": "<-", "out": "->", "both": "<->", "inhibitor": "o-", "reset": "<<-"}
                    place = page["places"][arc["place"]]["name"]
                    text = " ".join(arc["inscription"].split())
                    click.echo(f"    {sign[arc['kind']]} {place}: {text}")


def _line(kind: str, name: str, rest: str, more: list[str | None]) -> str:
    details = "; ".join(" ".join(text.split()) for text in more if text)
    return f"  {kind} {name}{rest}" + (f" ({details})" if details else "")
