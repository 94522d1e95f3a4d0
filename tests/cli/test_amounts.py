"""Times, rates and shares as the terminal shows them."""

import pytest

from pagecast.cli.amounts import between, rate, seconds, seconds_and_more, shares


@pytest.mark.parametrize(
    ("time_s", "text"),
    [
        (0.0, "0 s"),
        (5e-9, "5 ns"),
        (93.129e-6, "93.1 us"),
        (999.6e-6, "1.00 ms"),
        (0.5, "500 ms"),
        (0.9996, "1.00 s"),
        (9.996, "10.0 s"),
        (43.011, "43.0 s"),
        (99.96, "100 s"),
        (310221.4, "310221 s"),
    ],
)
def test_a_time_has_three_digits_or_whole_seconds(time_s, text):
    assert seconds(time_s) == text


@pytest.mark.parametrize(
    ("time_s", "text"),
    [
        (119.0, "119 s"),
        (120.0, "120 s (2.0 min)"),
        (7200.0, "7200 s (2.0 h)"),
        (310221.0, "310221 s (3.6 days)"),
    ],
)
def test_a_long_time_is_said_in_a_larger_unit_too(time_s, text):
    assert seconds_and_more(time_s) == text


@pytest.mark.parametrize(
    ("bytes_per_s", "text"),
    [
        (467.84e6, "468 MB/s"),
        (4.996e9, "5 GB/s"),
        (999.7e6, "1 GB/s"),
        (12.345, "12.3 B/s"),
        (0.5, "0.5 B/s"),
    ],
)
def test_a_rate_has_three_digits(bytes_per_s, text):
    assert rate(bytes_per_s) == text


def test_two_amounts_have_a_common_unit_once():
    assert between("1.00 s", "12.0 s") == "1.00 to 12.0 s"
    assert between("500 ms", "12.0 s") == "500 ms to 12.0 s"
    assert between("12.0 s", "12.0 s") == ""


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"cpu_copy": 2.0}, ["cpu copy 100 %"]),
        ({"throttled": 97.0, "cpu_copy": 3.0}, ["throttled 97 %", "cpu copy 3 %"]),
        ({"a": 1.0, "b": 1.0, "c": 1.0}, ["c 34 %", "b 33 %", "a 33 %"]),
        ({"throttled": 999.0, "network": 1.0}, ["throttled >99 %"]),
        ({"a": 97.0, "b": 0.9, "c": 0.9, "d": 0.9, "e": 0.3}, ["a 97 %"]),
        ({"a": 999.7, "b": 0.1, "c": 0.1, "d": 0.1}, ["a >99 %"]),
        ({"a": 60.9, "b": 38.9, "c": 0.2}, ["a 61 %", "b 39 %"]),
    ],
)
def test_shares_add_up_with_what_is_below_a_percent_and_is_not_named(parts, said):
    assert shares(parts) == said
