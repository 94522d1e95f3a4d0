"""The entry of explanations: an operation by its name, or an instant."""

from typing import TYPE_CHECKING

from pagecast.arguments import check_name, check_whole
from pagecast.errors import ArgumentError
from pagecast.explanation.instant import InstantExplained, explain_instant
from pagecast.explanation.operation import OperationExplained, explain_row, find_row, find_slowest

if TYPE_CHECKING:
    from pagecast.explanation.levels import Tables

__all__ = ["explain"]


def explain(
    result: "Tables",
    *,
    process: str | None = None,
    operation: str | None = None,
    number: int | None = None,
    at_s: float | None = None,
) -> OperationExplained | InstantExplained:
    """Explain an operation, by default the slowest one, or an instant.

    Parameters
    ----------
    result : Result or SavedResult
        Of a simulation, of a real run, or read again by `pagecast.explanation.saved.read_saved`.
    process, operation : str, optional
        Whose, and of which kind; ``*`` in a process stands for anything.
    number : int, optional
        Which of these, from 1; the slowest one if not given.
    at_s : float, optional
        The instant, instead of an operation.

    Returns
    -------
    OperationExplained or InstantExplained
        Fields, and `text` with all of it in sentences.

    Raises
    ------
    ArgumentError
        There is no such operation or instant.
    """
    if at_s is not None:
        if process is not None or operation is not None or number is not None:
            raise ArgumentError("at_s asks for an instant; leave process, operation and number out")
        return explain_instant(result, float(at_s))
    whose = None if process is None else check_name("process", process)
    kind = None if operation is None else check_name("operation", operation)
    if number is None:
        return explain_row(result, find_slowest(result, whose, kind))
    return explain_row(
        result, find_row(result, whose, kind, check_whole("number", number, least=1, most=2**62))
    )
