"""Collects what keeps the nets from playing a scenario, and says all of it at once."""

from pagecast.errors import ScenarioError

__all__ = ["Refusal"]


class Refusal:
    """The reasons, each with what would be right."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._reasons: dict[str, None] = {}

    def __bool__(self) -> bool:
        """Tell whether there is a reason."""
        return bool(self._reasons)

    def add(self, reason: str) -> None:
        """Add a reason; the same one counts once."""
        self._reasons[reason] = None

    def check(self) -> None:
        """Raise a `ScenarioError` with all reasons, if there is one."""
        if self._reasons:
            reasons = "; ".join(self._reasons)
            raise ScenarioError(
                f"{self._origin}: the model petri cannot play this: {reasons}. "
                "docs/concepts/petri-model.md lists what it plays"
            )
