"""The benchmark without a disk: what is planned, what a number is called, flame graphs."""

import math
import os
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from pagecast.benchmark import ACCESSES, MODES, Benchmark, Cell, Copy, Measurement, Plan, Repetition
from pagecast.benchmark.drawing import draw
from pagecast.benchmark.export import document, save
from pagecast.benchmark.fio import _place, _rate
from pagecast.benchmark.profile import draw_flames, fold
from pagecast.benchmark.result import device_rates
from pagecast.errors import ProbeError

MIB = 1 << 20


def repetition(**given: object) -> Repetition:
    usual = dict.fromkeys(Repetition.__dataclass_fields__, 0)
    whole = {"bytes": 100 * MIB, "duration_s": 1.0, "is_whole": True, "durable_s": None, "is_prepared": True}
    return Repetition(**(usual | whole | given))  # type: ignore[arg-type]


def measurement(mode: str = "buffered", access: str = "read-warm", **given: object) -> Measurement:
    repetitions = given.pop("repetitions", [repetition()])
    cell = Cell("file", mode, access, 65536, 1)
    usual = {"copy_bytes_per_s": 1000.0 * MIB}
    return Measurement(cell, repetitions, **(usual | given))  # type: ignore[arg-type]


class TestPlan:
    def test_every_combination_is_a_cell(self) -> None:
        plan = Plan(calls=[4096, 8192], threads=[1, 2])
        cells = list(plan.cells())
        assert len(cells) == len({*cells}) == 2 * 2 * len(MODES) * len(ACCESSES)
        assert {cell.target for cell in cells} == {"file"}
        assert len(list(Plan(threads=[1], calls=[4096], device="/dev/x").cells())) == 16

    def test_threads_are_one_and_all_processors(self) -> None:
        assert {*Plan().threads} == {1, len(os.sched_getaffinity(0))}

    def test_bytes_are_told_before(self) -> None:
        plan = Plan(calls=[4096], threads=[3], size_bytes=MIB, repetitions=2)
        each = MIB // 3 // 4096 * 4096 * 3
        assert plan.written_bytes() == 2 * 4 * each, "two accesses that write, in two modes"
        assert plan.read_bytes() == 2 * 4 * each
        only_reads = Plan(calls=[4096], threads=[1], size_bytes=MIB, repetitions=1, accesses=["read-warm"])
        assert only_reads.written_bytes() == MIB, "the files are made"

    def test_memory_is_needed_for_what_is_cached(self) -> None:
        assert Plan(accesses=["overwrite"]).needed()["is_cached"]
        assert not Plan(accesses=["write-new", "read-cold"]).needed()["is_cached"]

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"calls": [1000]}, "a call of 1000 bytes is no multiple of 4096 up to 16777216 (16 MiB)"),
            ({"calls": [32 << 20]}, "no multiple of 4096 up to"),
            ({"calls": [4096.0]}, "calls: 4096.0 is no whole number"),
            ({"threads": [0]}, "must be greater than 0"),
            ({"limit_s": math.nan}, "must be greater than 0"),
            ({"modes": ["mapped"]}, "there is no mode 'mapped'; there are buffered, direct"),
            ({"accesses": ["read"]}, "there is no access 'read'"),
            (
                {"settings": {"vm.dirty_ration": 1}},
                "no setting that can be changed here; did you mean vm.dirty_ratio?",
            ),
            ({"settings": {"kernel.panic": 1}}, "there are vm.dirty_background_bytes,"),
            ({"settings": {"vm.dirty_ratio": -1}}, "is no whole number from 0"),
        ],
    )
    def test_what_is_not_possible(self, given: dict[str, object], says: str) -> None:
        with pytest.raises(ValueError, match=re.escape(says)):
            Plan(**given)  # type: ignore[arg-type]


class TestMeasurement:
    def test_the_rate_is_the_median_and_the_spread_beside_it(self) -> None:
        one = measurement(repetitions=[repetition(duration_s=time) for time in (1.0, 2.0, 0.5)])
        assert one.bytes_per_s == 100 * MIB
        assert one.spread == pytest.approx(1.5)

    @pytest.mark.parametrize(
        ("device_bytes", "served_by", "efficiency"),
        [(0, "memory", 0.1), (49 * MIB, "memory", 0.1), (50 * MIB, "device", None), (None, None, None)],
    )
    def test_who_served_most_is_its_label(
        self, device_bytes: int | None, served_by: str | None, efficiency: float | None
    ) -> None:
        one = measurement(repetitions=[repetition(device_bytes=device_bytes)])
        assert (one.served_by, one.efficiency) == (served_by, efficiency)

    def test_what_is_faster_than_the_device_is_marked(self) -> None:
        assert measurement(device_bytes_per_s=99.0 * MIB).is_above_device is True
        assert measurement(device_bytes_per_s=101.0 * MIB).is_above_device is False
        assert measurement().is_above_device is None
        assert measurement("direct", device_bytes_per_s=99.0 * MIB).is_above_device is False

    def test_the_device_is_as_fast_as_its_fastest_direct_cell(self) -> None:
        slow, fast = repetition(duration_s=4.0), repetition(duration_s=2.0)
        cells = [
            measurement("direct", "read-cold", repetitions=[slow]),
            measurement("direct", "read-warm", repetitions=[fast]),
            measurement("buffered", "read-warm"),
            measurement("direct", "write-new", repetitions=[slow]),
        ]
        assert device_rates(cells) == {"file": {"read": 50.0 * MIB, "write": 25.0 * MIB}}

    def test_a_write_is_durable_later(self) -> None:
        one = measurement("buffered", "write-new", repetitions=[repetition(durable_s=4.0)])
        assert one.durable_bytes_per_s == 25 * MIB
        assert measurement().durable_bytes_per_s is None


@pytest.fixture
def small() -> Benchmark:
    cells = [measurement(mode, access) for mode in MODES for access in ACCESSES]
    copies = [Copy(direction, 65536, 1, [1e9]) for direction in ("read", "write")]
    place = {
        "directory": "d",
        "file_system": "ext4 at /",
        "caution": None,
        "device": "vda",
        "block_device": None,
    }
    return Benchmark(cells, copies, {"vm.dirty_ratio": 20}, {}, place, {"kernel": "Linux"}, [])


def test_it_is_saved_all_or_nothing(small: Benchmark, tmp_path) -> None:  # type: ignore[no-untyped-def]
    save(small, tmp_path / "out", flame_graph="<svg/>")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"results.json", "provenance.json", "rates.svg", "rates.png", "flame-graph.svg"}
    assert len(document(small)["cells"]) == 8


def test_the_figure_has_a_row_for_each_direction(small: Benchmark) -> None:
    figure = draw(small)
    assert [ax.get_title() for ax in figure.axes] == ["read, 1 thread", "write, 1 thread"]
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert {*labels} == {
        *("copying memory", "buffered read cold", "buffered read warm"),
        *("direct read cold", "direct read warm"),
    }
    numbers = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert numbers, "rates are compared by their numbers"
    assert not any("10^" in number for number in numbers), "written out, not as powers"


def test_fio_goes_where_the_core_does() -> None:
    class Core:
        path = "/there"

    cell = Cell("device", "direct", "overwrite", 4096, 2)
    by_id = Path("/dev/disk/by-id/usb-disk-0:0")
    assert _place(Core(), cell, by_id, 8192) == {
        "filename": r"/dev/disk/by-id/usb-disk-0\:0",
        "offset_increment": 8192,
        "allow_file_create": 0,
    }
    assert _place(Core(), cell._replace(target="file"), by_id, 8192)["directory"] == "/there"


def test_the_rate_of_fio_is_found_behind_warnings() -> None:
    text = 'fio: note\n{"jobs": [{"read": {"bw_bytes": 5000000}, "write": {"bw_bytes": 0}}]}'
    assert _rate(text, "read") == 5e6
    with pytest.raises(ProbeError, match="the output of fio cannot be understood"):
        _rate("nothing", "read")


SCRIPT = """\
read-warm
\tffffffff81 copy_to_iter
\tffffffff82 filemap_read
\t    7f0000 [unknown]

prepare
\tffffffff81 copy_to_iter

read-warm
\tffffffff83 folio_mark_accessed
\tffffffff82 filemap_read
\t    7f0000 [unknown]

"""


def test_samples_of_measuring_threads_are_counted_by_access() -> None:
    assert fold(SCRIPT.splitlines()) == {
        ("read-warm", "?", "filemap_read", "copy_to_iter"): 1,
        ("read-warm", "?", "filemap_read", "folio_mark_accessed"): 1,
    }


def test_a_flame_is_as_wide_as_its_samples() -> None:
    stacks = Counter({("read-warm", "a<b", "c"): 3, ("read-warm", "d"): 1})
    root = ET.fromstring(draw_flames(stacks))
    name = "{http://www.w3.org/2000/svg}"
    frames = {
        group.findtext(f"{name}title"): group.find(f"{name}rect").attrib  # type: ignore[union-attr]
        for group in root.findall(f"{name}g")
    }
    assert set(frames) == {
        "read-warm: 100.0 % (4 samples)",
        "a<b: 75.0 % (3 samples)",
        "c: 75.0 % (3 samples)",
        "d: 25.0 % (1 samples)",
    }
    assert frames["d: 25.0 % (1 samples)"]["x"] == "900.0"
    assert float(frames["c: 75.0 % (3 samples)"]["y"]) < float(frames["a<b: 75.0 % (3 samples)"]["y"])
