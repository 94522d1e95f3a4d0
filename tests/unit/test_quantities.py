"""Quantities with units, as a scenario has them."""

import pytest

from pagecast.quantities import Quantity, parse_quantity, shown_quantity


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("64MB", 64_000_000, "bytes"),
        ("1.5 GiB", 1_610_612_736, "bytes"),
        ("400 MB/s", 400_000_000, "bytes_per_s"),
        ("20 ms", 0.02, "s"),
        ("2 min", 120.0, "s"),
        ("15 %", 0.15, "share"),
        ("12", 12, ""),
        ("-1.5e3", -1500.0, ""),
        ("1_000", 1000, ""),
    ],
)
def test_it_is_in_base_units(text, value, unit):
    assert parse_quantity(text) == Quantity(value, unit)


@pytest.mark.parametrize("text", ["", "ssd", "4 parsecs", "5 KB", "12..", "1e999", "true", "-3 GB", "5.10.1"])
def test_it_is_none(text):
    assert parse_quantity(text) is None


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0612, "s", "61.2 ms"),
        (64_000_000, "bytes", "64 MB"),
        (4.6789e8, "bytes_per_s", "468 MB/s"),
        (0.156, "share", "15.6 %"),
        (12345, "", "12,345"),
        (0.5, "", "0.5"),
        (None, "s", ""),
    ],
)
def test_it_is_shown_short(value, unit, text):
    assert shown_quantity(value, unit) == text
