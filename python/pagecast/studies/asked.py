"""What a study was asked for: names that exist, models once each, and somebody to tell of the progress."""

from collections.abc import Sequence

from pagecast.errors import StudyError
from pagecast.progress import Progress

__all__ = ["check_seeds", "experiments_of", "models_of", "teller"]


def experiments_of(study: str, named: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Choose the experiments of a study.

    Parameters
    ----------
    study : str
    named : sequence of str
        Nothing means all of them.
    known : sequence of str

    Returns
    -------
    tuple of str
        In the order in which the study has them.

    Raises
    ------
    StudyError
        There is no such experiment.
    """
    if unknown := [name for name in named if name not in known]:
        raise StudyError(f"{study} has no experiment {unknown[0]!r}; it has {', '.join(known)}")
    return tuple(name for name in known if name in named or not named)


def models_of(named: Sequence[str], default: tuple[str, ...]) -> tuple[str, ...]:
    """Give the models that were named, each once; the default if there are none."""
    return tuple(dict.fromkeys(named)) or default


def check_seeds(study: str, seeds: int | None) -> None:
    """Refuse several seeds for a study in which nothing is random."""
    if seeds is not None and seeds > 1:
        raise StudyError(f"{study} has nothing that is random; leave --seeds {seeds} out")


def teller(progress: Progress | None) -> Progress:
    """Give somebody to tell of the progress, also where nobody wants to know."""
    return progress or (lambda fraction, what: None)
