"""Python packages that only some commands need."""

from importlib.util import find_spec

from pagecast.errors import MissingPackageError

__all__ = ["require"]


def require(package: str, extra: str, what: str) -> None:
    """Check that a package is installed, before any work is done.

    Parameters
    ----------
    package : str
    extra : str
        The extra of pagecast that installs it.
    what : str
        What needs it.

    Raises
    ------
    MissingPackageError
        It is not installed; the message says how to get it.
    """
    if find_spec(package) is None:
        raise MissingPackageError(f"{what} needs the package {package}; pip install 'pagecast[{extra}]'")
