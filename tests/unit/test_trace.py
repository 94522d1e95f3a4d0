"""The trace for Perfetto: what the Trace Event Format asks for, and what the tables have is in it."""

import itertools
import json
import math
import os
import subprocess

import pytest

import pagecast as pc
from pagecast.spans import event_spans
from pagecast.trace import save_trace

NUMBERS = (int, float)

FIELDS = {
    "ph": "phase",
    "name": "name",
    "cat": "category_group_name",
    "pid": "process_id",
    "tid": "thread_id",
    "ts": "timestamp",
    "dur": "duration",
    "s": "scope",
}
"""What Perfetto's schema calls the keys of an event."""

VALUES = {int: "int_value", float: "double_value", str: "string_value"}
"""Its fields for the arguments of an event, by their type."""


@pytest.fixture
def written(throttled, tmp_path):
    """The trace of a throttled writer as it is in the file."""
    save_trace(throttled, tmp_path / "trace.json")

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads((tmp_path / "trace.json").read_text(), parse_constant=refuse)


def check_format(trace):
    """Hold a trace against the Trace Event Format: its JSON object format, and the events that are used."""
    assert isinstance(trace["traceEvents"], list)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    named = {
        (event["pid"], event.get("tid")) for event in trace["traceEvents"] if event["name"] == "thread_name"
    }
    for event in trace["traceEvents"]:
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        match event["ph"]:
            case "M":
                assert event["name"] in ("process_name", "thread_name", "thread_sort_index")
                assert event["args"]
            case "X":
                assert isinstance(event["cat"], str)
                assert (event["pid"], event["tid"]) in named
                assert event["ts"] >= 0
                assert event["dur"] >= 0
            case "C":
                assert event["ts"] >= 0
                assert event["args"]
                assert all(
                    isinstance(value, NUMBERS) and math.isfinite(value) for value in event["args"].values()
                )
            case "i":
                assert event["s"] == "t"
                assert (event["pid"], event["tid"]) in named
                assert event["ts"] >= 0
            case other:
                raise AssertionError(f"nobody writes the phase {other!r}")


def tracks(trace):
    """Give the names of the tracks by their numbers."""
    return {
        event["tid"]: event["args"]["name"]
        for event in trace["traceEvents"]
        if event["name"] == "thread_name"
    }


def slices(trace, category):
    """Give track, begin and end in seconds of the slices of a category."""
    named = tracks(trace)
    return [
        (named[event["tid"]], event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6)
        for event in trace["traceEvents"]
        if event["ph"] == "X" and event["cat"] == category
    ]


def counter(trace, name):
    """Give time and levels of a counter."""
    return [
        (event["ts"] / 1e6, event["args"])
        for event in trace["traceEvents"]
        if event["ph"] == "C" and event["name"] == name
    ]


def test_it_is_in_the_trace_event_format(written, result_of_every_model):
    check_format(written)
    for trace in result_of_every_model:
        check_format(trace)


@pytest.fixture
def result_of_every_model(scenario, tmp_path):
    """The traces of a scenario under other models, which know less."""
    traces = []
    for model in ("wrench", "no-cache", "endless-cache"):
        save_trace(pc.simulate(scenario, model=model), tmp_path / f"{model}.json")
        traces.append(json.loads((tmp_path / f"{model}.json").read_text()))
    return traces


def test_throttling_and_flushers_are_slices(written, throttled):
    """Perfetto showed a write of 20 s and nothing of who held it up, though the tables had it."""
    (spans,) = event_spans(throttled, "throttling", "process", "device").values()
    found = slices(written, "throttled")
    assert {track for track, *_ in found} == {"app: throttled at ssd"}
    assert [span for _, *span in found] == [pytest.approx(span) for span in spans]
    (spans,) = event_spans(throttled, "background", "device").values()
    found = slices(written, "background write-back")
    assert {track for track, *_ in found} == {"flusher of ssd"}
    assert [span for _, *span in found] == [pytest.approx(span) for span in spans]


def test_rates_and_limits_are_counters(written, throttled):
    rates = counter(written, "ssd rates (bytes/s)")
    table = throttled.bdi.to_dict()
    assert [time_s for time_s, _ in rates] == pytest.approx(table["time_s"])
    assert [levels["a writer may"] for _, levels in rates] == [
        rate or 0 for rate in table["task_ratelimit_bytes_per_s"]
    ]
    assert any(rate is None for rate in table["task_ratelimit_bytes_per_s"])
    limits = counter(written, "write-back (bytes)")
    assert max(levels["dirty limit"] for _, levels in limits) == max(throttled.timeline["dirty_limit_bytes"])
    assert max(levels["dirty"] for _, levels in limits) == max(throttled.timeline["dirty_bytes"])
    assert len(counter(written, "memory (bytes)")) == len(throttled.timeline)


def test_programs_come_before_what_holds_them_up(written):
    assert list(tracks(written).values()) == ["app", "app: throttled at ssd", "flusher of ssd"]


def test_slices_of_a_track_do_not_overlap(written):
    found = {}
    for event in written["traceEvents"]:
        if event["ph"] == "X":
            found.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"]))
    for of_track in found.values():
        of_track.sort()
        for (begin, lasts), (next_begin, _) in itertools.pairwise(of_track):
            assert begin + lasts <= next_begin + 1e-3


@pytest.fixture
def commits(tmp_path):
    """The trace of a database and a backup on a disk with a queue and a journal, and the result."""
    result = pc.simulate(pc.Scenario.from_toml(COMMITS), model="kernel")
    save_trace(result, tmp_path / "trace.json")
    return result, tmp_path / "trace.json"


COMMITS = """
[machine]
cores = 4
memory = { size = "4 GB", read = "8 GB/s", write = "4 GB/s" }
disk.ssd = { kind = "sata-ssd", size = "1 TB", read = "530 MB/s", write = "450 MB/s", service = "60 us" }
mount."/data" = { disk = "ssd", journal = {} }

[[process]]
name = "db"
do = [ { repeat = 5, do = [
  { write = "/data/log", size = "8 KiB", append = true },
  { fsync = "/data/log" },
] } ]

[[process]]
name = "backup"
do = [ { write = "/data/copy", size = "200 MB", call = "1 MiB" }, { fsync = "/data/copy" } ]
"""


def test_commits_and_queues_have_tracks(commits):
    result, path = commits
    trace = json.loads(path.read_text())
    check_format(trace)
    found = [event for event in trace["traceEvents"] if event["ph"] == "i"]
    assert {tracks(trace)[event["tid"]] for event in found} == {"journal on ssd"}
    assert len(found) == list(result.events["event"]).count("journal_commit") > 0
    depths = counter(trace, "ssd queue (requests)")
    assert max(levels["at most"] for _, levels in depths) == max(result.devices["max_depth"]) > 1
    assert all(0 <= levels["busy"] <= 1 for _, levels in counter(trace, "ssd busy (share of the time)"))


def test_events_are_those_of_perfettos_schema(written, commits):
    """The schema has the events of the JSON format as messages, with whole numbers of microseconds."""
    schema = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    for trace in (written, json.loads(commits[1].read_text())):
        bundle = schema.ChromeEventBundle()
        for event in trace["traceEvents"]:
            fields = {FIELDS[key]: value for key, value in event.items() if key != "args"}
            fields["phase"] = ord(fields["phase"])
            for of_time in ("timestamp", "duration"):
                fields[of_time] = round(fields.get(of_time, 0))
            message = bundle.trace_events.add(**fields)
            for name, value in event.get("args", {}).items():
                message.args.add(name=name, **{VALUES[type(value)]: value})
        again = schema.ChromeEventBundle.FromString(bundle.SerializeToString())
        assert [event.name for event in again.trace_events] == [e["name"] for e in trace["traceEvents"]]


def test_perfetto_itself_reads_it(commits):
    """Its trace processor is a download: it is asked where PAGECAST_TRACE_PROCESSOR says where it is."""
    program = os.environ.get("PAGECAST_TRACE_PROCESSOR")
    if program is None:
        pytest.skip("PAGECAST_TRACE_PROCESSOR names no trace processor of Perfetto")
    result, path = commits
    query = (
        "select count(*) as slices from slice; select count(*) as tracks from thread where name is not null;"
    )
    asked = subprocess.run(
        [program, "-Q", query, path], capture_output=True, text=True, check=True, timeout=60
    )
    slices_and_instants = len(result.operations) + list(result.events["event"]).count("journal_commit")
    assert str(slices_and_instants) in asked.stdout.split()
