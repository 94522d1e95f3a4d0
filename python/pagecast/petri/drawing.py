"""Pictures of a net: SVG as CPN Tools draws it, and DOT for Graphviz."""

import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

__all__ = ["MOST_LINES", "dot", "svg", "tokens"]

_MARGIN = 60.0
_LINE = 12.0
"""Height of a line of text."""
_APART = 26.0
"""Distance of the middles of two arcs between the same nodes."""
MOST_LINES = 3
"""Lines of a marking that are drawn."""
_WIDE = 30
"""Characters of a line of an inscription."""
_LONGEST = 60
"""Characters of a line that are drawn."""
_PORTS: Final = {"in": "In", "out": "Out", "in/out": "I/O"}
_STYLE: Final = """\
.node { fill: #fff; stroke: #222; stroke-width: 1.4 }
.tag { fill: #dbe7f5; stroke: #3a6ea5; stroke-width: 0.8 }
.tagtext { font-size: 8px; fill: #1f4468; text-anchor: middle }
.tokens { fill: #1a7f37 }
.count { font-size: 9px; fill: #fff; text-anchor: middle }
.arc { fill: none; stroke: #222; stroke-width: 1 }
.name { text-anchor: middle }
text { font: 10px sans-serif; fill: #222 }
.colset { font-style: italic; fill: #666 }
.inscription { text-anchor: middle; paint-order: stroke; stroke: #fff; stroke-width: 3px; fill: #1f3d7a }
.condition { fill: #8a1c1c }
.title { font: bold 14px sans-serif }"""


Instance = tuple[int, int, list[str], list[str | None]]
"""An instance of a page: number of the page, number of the instance, and the names of its nodes in a run."""


def svg(pages: Sequence[Mapping[str, Any]], instances: Sequence[Instance], marking: Mapping[str, str]) -> str:
    """Draw every instance of every page, one below the other.

    Parameters
    ----------
    pages : sequence of mapping
        As `Net.pages` gives them.
    instances : sequence of Instance
    marking : mapping of str to str
        Marking of each place of a run, in CPN ML.

    Returns
    -------
    str
    """
    drawn, top, width = [], 0.0, 0.0
    several = {number for number, instance, *_ in instances if instance > 1}
    for number, instance, places, transitions in sorted(instances):
        page = pages[number]
        picture = _Page(page, places, transitions, marking)
        left, upper, right, lower = picture.box()
        title = f"{page['name']} {instance}" if number in several else page["name"]
        drawn.append(
            f'<g transform="translate({_n(_MARGIN - left)} {_n(top + 34 - upper)})">'
            f'<text class="title" x="{_n(left)}" y="{_n(upper - 14)}">{escape(title)}</text>'
            f"{''.join(picture.parts)}</g>"
        )
        top += lower - upper + 34 + _MARGIN / 2
        width = max(width, right - left + 2 * _MARGIN)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(top)}" '
        f'viewBox="0 0 {_n(width)} {_n(top)}">\n<style>{_STYLE}</style>\n'
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker>'
        '<marker id="double" viewBox="0 0 14 8" refX="14" refY="4" markerWidth="12" markerHeight="7" '
        'orient="auto"><path d="M0 0L7 4L0 8zM6 0L14 4L6 8z"/></marker>'
        '<marker id="circle" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7">'
        '<circle cx="4" cy="4" r="3.4" fill="#fff" stroke="#222"/></marker></defs>\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{chr(10).join(drawn)}\n</svg>\n'
    )


def dot(pages: Sequence[Mapping[str, Any]], instances: Sequence[Instance], marking: Mapping[str, str]) -> str:
    """Describe every instance of every page for Graphviz, each as a cluster.

    Parameters
    ----------
    pages, instances, marking
        As for `svg`.

    Returns
    -------
    str
    """
    lines = ["digraph net {", "  rankdir=LR; node [fontsize=10]; edge [fontsize=9];"]
    for number, (which, _, places, _) in enumerate(sorted(instances)):
        page = pages[which]
        lines.append(f"  subgraph cluster_{number} {{ label={_quoted(page['name'])};")
        for at, place in enumerate(page["places"]):
            text = marking[places[at]]
            label = "\n".join(filter(None, (place["name"], place["colset"], _short(text))))
            lines.append(f"    p{number}_{at} [shape=ellipse, label={_quoted(label)}];")
        for at, transition in enumerate(page["transitions"]):
            texts = (transition["name"], transition["guard"], transition["delay"])
            border = ", peripheries=2" if transition["page"] else ""
            label = "\n".join(_short(text) for text in texts if text)
            lines.append(f"    t{number}_{at} [shape=box{border}, label={_quoted(label)}];")
        for arc in page["arcs"]:
            ends = (f"p{number}_{arc['place']}", f"t{number}_{arc['transition']}")
            source, target = ends[::-1] if arc["kind"] == "out" else ends
            more = {
                "both": ", dir=both",
                "inhibitor": ", arrowhead=odot",
                "reset": ", arrowhead=normalnormal",
            }
            label = _quoted(_short(arc["inscription"]))
            lines.append(f"    {source} -> {target} [label={label}{more.get(arc['kind'], '')}];")
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


class _Page:
    """A page as parts of a picture; y grows downwards there, and upwards in CPN Tools."""

    def __init__(
        self,
        page: Mapping[str, Any],
        places: Sequence[str],
        transitions: Sequence[str | None],
        marking: Mapping[str, str],
    ) -> None:
        self.page = page
        self.parts: list[str] = []
        self._points: list[tuple[float, float]] = (
            [(0.0, 0.0)] if not (page["places"] or page["transitions"]) else []
        )
        pairs: dict[tuple[int, int], int] = {}
        for arc in page["arcs"]:
            pair = (arc["place"], arc["transition"])
            pairs[pair] = pairs.get(pair, 0) + 1
        seen: dict[tuple[int, int], int] = {}
        for arc in page["arcs"]:
            pair = (arc["place"], arc["transition"])
            number = seen[pair] = seen.get(pair, 0) + 1
            self._arc(arc, _APART * (number - (pairs[pair] + 1) / 2))
        for transition, name in zip(page["transitions"], transitions, strict=True):
            self._transition(transition, name or "")
        for place, name in zip(page["places"], places, strict=True):
            self._place(place, name, marking[name])

    def box(self) -> tuple[float, float, float, float]:
        xs, ys = zip(*self._points, strict=True)
        return min(xs), min(ys), max(xs), max(ys)

    def _reach(self, node: Mapping[str, Any], more: float = 30.0) -> tuple[float, float, float, float]:
        x, y = node["x"], -node["y"]
        half = (max(node["width"], 10.0) / 2, max(node["height"], 10.0) / 2)
        self._points += [(x - half[0] - more, y - half[1] - more), (x + half[0] + more, y + half[1] + more)]
        return x, y, *half

    def _text(self, x: float, y: float, text: str, kind: str = "") -> None:
        lines = [_short(line) for line in text.splitlines() if line.strip()]
        for number, line in enumerate(lines):
            at = y + _LINE * number
            self._points += [(x - 3.0 * len(line), at), (x + 6.0 * len(line), at + _LINE)]
            self.parts.append(f'<text class="{kind}" x="{_n(x)}" y="{_n(at)}">{escape(line)}</text>')

    def _tag(self, x: float, y: float, text: str) -> None:
        width = max(18.0, 5.0 * len(text) + 6.0)
        self.parts.append(
            f'<rect class="tag" x="{_n(x - width / 2)}" y="{_n(y - 6)}" width="{_n(width)}" height="12"/>'
            f'<text class="tagtext" x="{_n(x)}" y="{_n(y + 3)}">{escape(text)}</text>'
        )

    def _place(self, place: Mapping[str, Any], name: str, marking: str) -> None:
        x, y, rx, ry = self._reach(place)
        self.parts.append(f'<ellipse class="node" cx="{_n(x)}" cy="{_n(y)}" rx="{_n(rx)}" ry="{_n(ry)}"/>')
        self._name(x, y, 2 * rx, place["name"])
        self._text(x + rx * 0.75, y + ry + 8, place["colset"], "colset")
        if place["port"]:
            self._tag(x - rx * 0.8, y + ry, _PORTS[place["port"]])
        elif place["fusion"]:
            self._tag(x - rx * 0.8, y + ry, place["fusion"])
        at = f'data-place="{escape(name)}" data-x="{_n(x + rx)}" data-y="{_n(y - ry * 0.55)}"'
        self.parts.append(f"<g {at}>")
        if marking and marking != "empty":
            self.parts.append(f'<circle class="tokens" cx="{_n(x + rx)}" cy="{_n(y - ry * 0.55)}" r="7"/>')
            count = tokens(marking)
            self.parts.append(
                f'<text class="count" x="{_n(x + rx)}" y="{_n(y - ry * 0.55 + 3)}">{count}</text>'
            )
            self._text(x + rx + 10, y - ry * 0.55 - 4, "\n".join(marking.split("++")[:MOST_LINES]))
        self.parts.append("</g>")

    def _transition(self, transition: Mapping[str, Any], name: str) -> None:
        x, y, rx, ry = self._reach(transition)
        for inset in (0.0, 3.0) if transition["page"] else (0.0,):
            self.parts.append(
                f'<rect class="node" data-transition="{escape(name)}" x="{_n(x - rx + inset)}" '
                f'y="{_n(y - ry + inset)}" width="{_n(2 * (rx - inset))}" height="{_n(2 * (ry - inset))}"/>'
            )
        self._name(x, y, 2 * rx, transition["name"])
        if transition["page"]:
            self._tag(x, y + ry, transition["page"])
        self._text(x - rx, y - ry - 6, transition["guard"], "condition")
        self._text(x + rx + 4, y - ry - 4, transition["delay"], "condition")
        self._text(x + rx + 4, y + ry + 8, transition["priority"], "condition")
        self._text(x - rx, y + ry + 14 + 8 * bool(transition["page"]), transition["code"])

    def _name(self, x: float, y: float, width: float, name: str) -> None:
        lines = _wrapped(name, max(6, int(width / 5.6)), r"[\s_]+")
        for number, line in enumerate(lines):
            at = y + 3.5 + _LINE * (number - (len(lines) - 1) / 2)
            self.parts.append(f'<text class="name" x="{_n(x)}" y="{_n(at)}">{escape(line)}</text>')

    def _arc(self, arc: Mapping[str, Any], aside: float) -> None:
        """Draw an arc; one of several between the same nodes goes aside by so much."""
        place, transition = self.page["places"][arc["place"]], self.page["transitions"][arc["transition"]]
        bends = [(x, -y) for x, y in arc["bends"]]
        ends = ((transition["x"], -transition["y"]), (place["x"], -place["y"]))
        if not bends and aside:
            (x1, y1), (x2, y2) = ends
            far = math.hypot(x2 - x1, y2 - y1) or 1.0
            bends = [((x1 + x2) / 2 + (y2 - y1) / far * aside, (y1 + y2) / 2 - (x2 - x1) / far * aside)]
        way = [ends[0], *bends, ends[1]]
        way[0] = _on_box(transition, way[1])
        way[-1] = _on_ellipse(place, way[-2])
        if arc["kind"] != "out":
            way.reverse()
        heads = {
            "both": 'marker-start="url(#arrow)" marker-end="url(#arrow)"',
            "inhibitor": 'marker-end="url(#circle)"',
            "reset": 'marker-end="url(#double)"',
        }.get(arc["kind"], 'marker-end="url(#arrow)"')
        points = " ".join(f"{_n(x)},{_n(y)}" for x, y in way)
        self.parts.append(f'<polyline class="arc" points="{points}" {heads}/>')
        self._points += way
        middle = len(way) // 2
        (x1, y1), (x2, y2) = (way[middle],) * 2 if len(way) % 2 else way[middle - 1 : middle + 1]
        at = ((x1 + x2) / 2, (y1 + y2) / 2 - 3)
        if arc["label"]:
            at = (arc["label"][0], -arc["label"][1])
        if arc["kind"] not in ("inhibitor", "reset"):
            lines = _wrapped(" ".join(arc["inscription"].split()), _WIDE)
            # Beside a bend to the left or right: two arcs up and down have their inscriptions on both sides.
            x, y = (at[0] - (transition["x"] + place["x"]) / 2, at[1] + (transition["y"] + place["y"]) / 2)
            if abs(x) > max(abs(y), 4.0):
                at = (at[0] + math.copysign(3.0 * max(map(len, lines)) + 3.0, x), at[1])
            self._text(at[0], at[1] - _LINE / 2 * (len(lines) - 1), "\n".join(lines), "inscription")


def _on_box(node: Mapping[str, Any], towards: tuple[float, float]) -> tuple[float, float]:
    x, y = node["x"], -node["y"]
    dx, dy = towards[0] - x, towards[1] - y
    scale = max(abs(dx) / max(node["width"] / 2, 1e-9), abs(dy) / max(node["height"] / 2, 1e-9), 1e-9)
    return (x + dx / scale, y + dy / scale) if scale > 1 else (x, y)


def _on_ellipse(node: Mapping[str, Any], towards: tuple[float, float]) -> tuple[float, float]:
    x, y = node["x"], -node["y"]
    dx, dy = towards[0] - x, towards[1] - y
    scale = math.hypot(dx / max(node["width"] / 2, 1e-9), dy / max(node["height"] / 2, 1e-9))
    return (x + dx / scale, y + dy / scale) if scale > 1 else (x, y)


def tokens(marking: str) -> str:
    """Count the tokens of a marking in CPN ML, for a picture.

    Parameters
    ----------
    marking : str

    Returns
    -------
    str
        The sum of the coefficients; "…" where it cannot be told.
    """
    try:
        return str(sum(int(part.split("`", 1)[0]) for part in marking.split("++")))
    except ValueError:  # `++` within a string, or a marking that was cut
        return "…"


def _wrapped(text: str, width: int, ends: str = r"\s+") -> list[str]:
    """Break a text into lines behind what `ends` a part."""
    lines = [""]
    for part in re.findall(rf".+?(?:{ends}|$)", text.strip()):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.strip() for line in lines]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
