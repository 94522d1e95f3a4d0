"""Which parts of a file are cached, as a bar of characters."""

import sys

__all__ = ["LEGEND_STEPS", "bar", "legend"]

LEGEND_STEPS = ("nothing", "some", "half", "most", "all")
_BLOCKS = "·░▒▓█"
_PLAIN = ".-=%#"


def bar(cells: list[float]) -> str:
    """Give a character for each cell: nothing and all are exact, between them are three steps."""
    steps = _characters()
    return "".join(steps[_step(cell)] for cell in cells)


def legend() -> str:
    """Explain the characters."""
    return ", ".join(f"{sign} {word}" for sign, word in zip(_characters(), LEGEND_STEPS, strict=True))


def _step(cell: float) -> int:
    if cell <= 0:
        return 0
    return 4 if cell >= 1 else 1 + min(int(cell * 3), 2)


def _characters() -> str:
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    return _BLOCKS if encoding.replace("-", "").startswith("utf") else _PLAIN
