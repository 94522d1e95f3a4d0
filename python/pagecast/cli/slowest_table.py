"""The slowest operations, and where the time of each went."""

from rich import box
from rich.table import Table

from pagecast._core import format_bytes
from pagecast.cli.amounts import seconds, shortened
from pagecast.result import Result

__all__ = ["slowest_table"]

_LONGEST_PATH = 40


def slowest_table(result: Result, n: int) -> Table:
    """Make a table of the slowest operations, the slowest first.

    Parameters
    ----------
    result : Result
    n : int
        How many, at most.

    Returns
    -------
    rich.table.Table
    """
    slowest = result.slowest(n)
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"Slowest operations, {result.made_by}",
        title_justify="left",
        title_style="bold",
        pad_edge=False,
    )
    for name in ("process", "operation", "bytes", "at", "took", "parts"):
        table.add_column(name, no_wrap=name != "parts", justify="left" if name in _TEXTS else "right")
    parts = [name for name in result.parts if name.endswith("_s")]
    behind = _behind(result)
    for row in range(len(slowest)):
        path = shortened(slowest["path"][row], _LONGEST_PATH)
        times = sorted(((float(slowest[name][row]), name) for name in parts), reverse=True)
        table.add_row(
            slowest["process"][row],
            f"{slowest['operation'][row]} {path}".rstrip(),
            format_bytes(int(slowest["bytes"][row])),
            seconds(float(slowest["start_s"][row])),
            seconds(float(slowest["duration_s"][row])),
            ", ".join(
                [f"{_words(name)} {seconds(time)}" for time, name in times if time > 0]
                + behind.get((slowest["process"][row], int(slowest["index"][row])), [])
            ),
        )
    return table


def _behind(result: Result) -> dict[tuple[str, int], list[str]]:
    """Name whom each operation waited behind, the longest wait first."""
    waits = result.waits.to_dict()
    named: dict[tuple[str, int], dict[str, float]] = {}
    for process, index, of, path, waited_s in zip(
        *(waits[name] for name in ("process", "index", "behind_process", "behind_path", "waited_s")),
        strict=True,
    ):
        others = named.setdefault((process, index), {})
        who = f"{of}'s {path}" if of else path
        others[who] = others.get(who, 0.0) + waited_s
    return {
        key: [
            f"behind {shortened(who, _LONGEST_PATH)} {seconds(waited_s)}"
            for who, waited_s in sorted(others.items(), key=lambda each: -each[1])[:_MOST_NAMED]
        ]
        for key, others in named.items()
    }


_MOST_NAMED = 3
_TEXTS = ("process", "operation", "parts")


def _words(name: str) -> str:
    return name.removesuffix("_s").replace("_", " ")
