"""Importing is quick: heavy libraries come with what needs them."""

import subprocess
import sys

import pytest

import pagecast

HEAVY = (
    "numpy",
    "pandas",
    "pyarrow",
    "matplotlib",
    "rich",
    "jinja2",
    "simpy",
    "asyncio",
    "scipy",
    "duckdb",
    "distributed",
    "starlette",
    "uvicorn",
)


@pytest.mark.parametrize(
    "code", ["import pagecast", "import pagecast.cli", "import pagecast as pc; pc.load_machine"]
)
def test_no_heavy_library(code):
    code += "; import sys; print([name for name in sys.argv[1:] if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code, *HEAVY], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_everything_in_all_is_there():
    for name in pagecast.__all__:
        assert getattr(pagecast, name) is not None
    assert dir(pagecast) == sorted(pagecast.__all__)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'pagecast' has no attribute 'simulato'"):
        pagecast.simulato  # noqa: B018
