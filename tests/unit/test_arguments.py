"""Arguments of wrong types and values get errors of ours, which say what was given and what is wanted."""

import numpy as np
import pytest

import pagecast as pc
from pagecast.errors import ArgumentError, ArgumentTypeError, PagecastError


@pytest.fixture
def scenario():
    return pc.Scenario(pc.load_machine("wrench-cluster"), processes={"app": [pc.compute(1)]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: pc.write("/f", size_bytes=10**400), r"^size_bytes=10+\.\.\.: a size is too large$"),
        (
            lambda _: pc.read("/f", vector=10**400),
            r"^vector=10+\.\.\.: must be a whole number from 1 to 1024$",
        ),
        (
            lambda _: pc.write("/f", size_bytes=1.5),
            r"^size_bytes=1\.5: a size must be a whole number of bytes$",
        ),
        (
            lambda _: pc.compute(10**5000),
            "^duration_s=.a value that cannot be printed.: a time is too large$",
        ),
        (lambda _: pc.wait(""), '^event="" cannot be a name; use letters and digits$'),
        (
            lambda _: pc.read("/f", buffer="\udce9"),
            "^buffer='.udce9': is not UTF-8$",
        ),
        (lambda s: pc.simulate(s, threads=-1), r"^threads=-1 is not from 1 to 2\^32 - 1$"),
        (lambda s: pc.simulate(s, seed=2**64), r"is not from 0 to 2\^64 - 1$"),
        (lambda s: s.with_memory(10**400), r"^size_bytes=10+\.\.\. is not from 1 to 2\^53 - 1$"),
        (lambda s: pc.Scenario(s.machine, processes={"": [pc.compute(1)]}), "^process='' cannot be a name"),
        (lambda s: pc.run(s, dir="a\0b"), "cannot be a path; name a file or directory$"),
    ],
)
def test_values_that_cannot_be(call, message, scenario):
    """10**400 was an OverflowError of the binding, -1 threads as well, and 1.5 bytes were written as 2."""
    with pytest.raises(ValueError, match=message) as caught:
        call(scenario)
    assert isinstance(caught.value, PagecastError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: pc.wait(b"done"), "^event=b'done' is a bytes, not a str$"),
        (lambda _: pc.read(b"/f"), "^path b'/f' is a bytes, not a str or path-like"),
        (lambda _: pc.write("/f", size_bytes=1, append="yes"), "^append='yes' is a str, not True or False$"),
        (lambda _: pc.read("/f", vector=1.0), "^vector=1.0 is a float, not a whole number$"),
        (lambda _: pc.compute("1 s"), "^duration_s='1 s' is a str, not a number of seconds$"),
        (lambda _: pc.open("/f", flags=7), "^7 is no list of strings"),
        (lambda s: s.with_memory(1.5), r"^size_bytes=1\.5 is a float, not a whole number$"),
        (lambda s: pc.simulate(s, threads=True), "^threads=True is a bool, not a whole number$"),
        (lambda s: pc.simulate(s, progress=7), "^progress=7 is a int, not a function, or None$"),
        (lambda s: pc.simulate(s, model=None), "^model=None is a NoneType, not a str$"),
        (lambda s: pc.Scenario(s.machine, processes=[]), "^processes=.. is a list, not a dictionary; write"),
    ],
)
def test_types_that_cannot_be(call, message, scenario):
    with pytest.raises(TypeError, match=message) as caught:
        call(scenario)
    assert isinstance(caught.value, ArgumentTypeError)


def test_a_third_of_a_size_is_rounded():
    """What a float makes of a division is no mistake."""
    assert pc.write("/f", size_bytes=20e9 / 3) == pc.write("/f", size_bytes=6_666_666_667)


def test_numbers_of_numpy_are_numbers(scenario):
    assert pc.simulate(scenario, seed=np.int64(7), threads=np.uint8(1)).seed == 7
    assert scenario.with_memory(np.int64(10**9)).hosts == scenario.hosts


def test_both_are_of_one_family():
    assert issubclass(ArgumentError, PagecastError | ValueError)
    assert issubclass(ArgumentTypeError, PagecastError | TypeError)
