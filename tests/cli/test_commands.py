"""What each command prints when all is well."""

import json
import re

import pytest

from pagecast import MODELS, Result, list_machines
from pagecast.cli import COMMANDS
from pagecast.exit_codes import ExitCode

APPLICATIONS = """\
[machine]
from = "wrench-cluster-published"
[[file]]
path = "/data/app{n}/in"
size = "3 GB"
count = 30
[[process]]
name = "app{n}"
count = 30
do = [ { read = "/data/app{n}/in" }, { write = "/data/app{n}/out", size = "3 GB" } ]
"""

LOOP = """\
[machine]
from = "wrench-cluster-published"
[[file]]
path = "/data/in{n}"
size = "100 MB"
count = 30
[[process]]
name = "app"
do = [
  { repeat = 30, as = "k", do = [
    { read = "/data/in{k}" },
    { compute = "1 s" },
    { write = "/data/out", size = "100 MB", append = true },
  ] },
  { read = "/data/out" },
]
"""


INSTANT = """\
[machine]
from = "wrench-cluster-published"
[[process]]
name = "app"
do = [
  { write = "/data/out", size = "1 GB" },
  { fsync = "/data/out" },
  { fsync = "/data/out" },
  { signal = "dawn" },
  { wait = "dawn" },
  { alloc = "1 GB" }, { free = "all" },
]
[[process]]
name = "sleeper"
do = [ { sleep = "10 ms" } ]
"""


HOST = """
cores = 4
memory = { size = "10 GB", read = "10 GB/s", write = "10 GB/s" }
disk.ssd = { size = "1 TB", read = "100 MB/s", write = "100 MB/s" }
mount."/data".disk = "ssd"
"""

WRITER = """
[[process]]
name = "app"
do = [ { write = "/data/out", size = "3 GB" }, { sleep = "10 s" } ]
"""

THROTTLED = f"[machine]{HOST}{WRITER}"

TWO_WRITERS = f"""[machine]{HOST}
[[process]]
name = "first"
do = [ {{ write = "/data/a", size = "3 GB" }} ]
[[process]]
name = "second"
do = [ {{ sleep = "2 s" }}, {{ write = "/data/b", size = "2 GB" }} ]
"""

MANY_WRITERS = f"""[machine]{HOST}
[[process]]
name = "w{{n}}"
count = 5
do = [ {{ write = "/data/{{n}}", size = "1 GB" }} ]
[[process]]
name = "idle"
do = [ {{ sleep = "1 s" }} ]
"""

SHORT_OF_MEMORY = f"""[machine]{HOST}
[machine.cgroup.batch]
memory.limit_in_bytes = "500 MB"
[[process]]
name = "app"
cgroup = "batch"
do = [ {{ write = "/data/a", size = "3 GB" }} ]
"""

REFAULTS = f"""[machine]{HOST}
[[file]]
path = "/data/in"
size = "15 GB"
[[process]]
name = "app"
do = [ {{ read = "/data/in" }}, {{ read = "/data/in" }} ]
"""

TWO_HOSTS = f"[host.idle]{HOST}[host.busy]{HOST}{WRITER}host = 'busy'\n"


def test_version(pagecast, matches):
    matches(pagecast("--version"))


def test_help(pagecast, matches):
    matches(pagecast("--help"))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of(command, pagecast):
    outcome = pagecast(command, "--help")
    assert outcome.code == ExitCode.OK
    assert outcome.stdout.startswith(f"Usage: pagecast {command}")


def test_simulate_side_by_side(pagecast, matches):
    matches(pagecast("simulate", "scenario.toml"))


def test_simulate_one_model(pagecast, matches):
    matches(pagecast("simulate", "scenario.toml", "--model", "wrench"))


def test_simulate_says_when_writers_are_throttled(pagecast, matches):
    (pagecast.folder / "throttled.toml").write_text(THROTTLED)
    matches(pagecast("simulate", "throttled.toml", "--model", "kernel", "--model", "wrench"))


def test_simulate_says_on_which_host_writers_are_throttled(pagecast):
    (pagecast.folder / "throttled.toml").write_text(TWO_HOSTS)
    stdout = pagecast("simulate", "throttled.toml", "--model", "kernel").stdout
    said = [line.split(":")[0] for line in stdout.splitlines() if " throttled from " in line]
    assert said == ["kernel, busy"]


def test_simulate_says_who_is_throttled(pagecast):
    (pagecast.folder / "two.toml").write_text(TWO_WRITERS)
    lines = pagecast("simulate", "two.toml", "--model", "kernel").stdout.splitlines()
    told = [line for line in lines if line.startswith("kernel:") and " throttled from " in line]
    assert [line.split(" throttled from")[0] for line in told] == ["kernel: first", "kernel: second"]
    assert sum(line.startswith("kernel: background write-back to ssd from") for line in lines) == 1


def test_simulate_says_that_many_are_throttled_alike(pagecast):
    (pagecast.folder / "many.toml").write_text(MANY_WRITERS)
    stdout = pagecast("simulate", "many.toml", "--model", "kernel").stdout
    assert stdout.count(" throttled from ") == 1
    assert "kernel: w1, w2, w3 and 2 more throttled from" in stdout


def test_simulate_says_who_waited_for_clean_pages(pagecast):
    (pagecast.folder / "short.toml").write_text(SHORT_OF_MEMORY)
    stdout = pagecast("simulate", "short.toml", "--model", "kernel").stdout
    assert re.search(
        r"^kernel: direct reclaim from .* ms: app waited .* s for clean pages$", stdout, re.MULTILINE
    )


def test_simulate_says_that_what_was_evicted_is_read_again(pagecast):
    (pagecast.folder / "refaults.toml").write_text(REFAULTS)
    stdout = pagecast("simulate", "refaults.toml", "--model", "kernel").stdout
    assert re.search(
        r"^kernel: refaults from .* s to .* s; \d+ % of the time: most of ", stdout, re.MULTILINE
    )


def test_simulate_says_that_events_were_left_out_of_the_throttled_time(pagecast, monkeypatch):
    (pagecast.folder / "throttled.toml").write_text(THROTTLED)
    monkeypatch.setattr(Result, "events_left_out", 3)
    stdout = pagecast("simulate", "throttled.toml", "--model", "kernel").stdout
    assert re.search(r" throttled from .*; at least \d+ % of the time$", stdout, re.MULTILINE)


def test_simulate_says_nothing_of_throttling_where_there_is_none(pagecast):
    assert "throttled from" not in pagecast("simulate", "scenario.toml", "--model", "kernel").stdout


COPY = f"""[machine]{HOST}
[[file]]
path = "/data/in"
size = "2 GB"
[[process]]
name = "cp"
do = [ {{ copy = "/data/in", to = "/data/out", by = "read_write" }} ]
"""


def test_what_is_copied_is_read_and_written(pagecast):
    """After a copy of 200 GB the totals said "bytes read 0 B" and "bytes written 0 B"."""
    (pagecast.folder / "copy.toml").write_text(COPY)
    stdout = pagecast("simulate", "copy.toml", "--model", "kernel").stdout
    for total in ("bytes read", "bytes written"):
        assert re.search(rf"^ {total} +2 GB$", stdout, re.MULTILINE)


def test_a_row_of_operations_is_one_line_of_80_columns(pagecast, monkeypatch):
    """At 80 columns a row took up to four lines, with parts below 1 % and paths below their operations."""
    monkeypatch.setenv("COLUMNS", "80")
    (pagecast.folder / "many.toml").write_text(MANY_PARTS)
    stdout = pagecast("simulate", "many.toml", "--model", "kernel", "--model", "wrench").stdout
    tables = stdout.partition("Totals")[0].split("Forecast by ")[1:]
    assert len(tables) == 2
    for table in tables:
        rows = [line for line in table.splitlines()[4:] if line.strip()]
        assert [row.split()[1] for row in rows] == ["read", "write", "fsync", "read"]
        assert all(len(row) <= 80 and row.startswith(" application") for row in rows)
        assert "<1 %" not in table


MANY_PARTS = f"""[machine]{HOST}
[[file]]
path = "/data/a/path/that/is/long/enough/to/be/shortened/in"
size = "4 GB"
[[process]]
name = "application"
do = [ {{ read = "/data/a/path/that/is/long/enough/to/be/shortened/in", call = "1 MiB" }},
       {{ write = "/data/a/path/that/is/long/enough/to/be/shortened/out", size = "9 GB", call = "1 MiB" }},
       {{ fsync = "/data/a/path/that/is/long/enough/to/be/shortened/out" }},
       {{ read = "/data/a/path/that/is/long/enough/to/be/shortened/in", call = "4 KiB" }} ]
"""


def test_simulate_on_a_narrow_terminal(pagecast, matches, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    matches(pagecast("simulate", "scenario.toml"))


def test_simulate_many_applications(pagecast, matches):
    (pagecast.folder / "many.toml").write_text(APPLICATIONS)
    matches(pagecast("simulate", "many.toml", "--model", "wrench"))


def test_simulate_many_applications_on_a_narrow_terminal(pagecast, matches, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    (pagecast.folder / "many.toml").write_text(APPLICATIONS)
    outcome = pagecast("simulate", "many.toml", "--model", "wrench", "--model", "no-cache")
    assert all(len(line) <= 60 for line in outcome.stdout.splitlines())
    matches(outcome)


def test_simulate_puts_the_rounds_of_a_long_loop_together(pagecast):
    (pagecast.folder / "loop.toml").write_text(LOOP)
    stdout = pagecast("simulate", "loop.toml", "--model", "no-cache").stdout
    operations = stdout.partition("Repeated operations")[0]
    assert [line.split()[:4] for line in operations.splitlines() if line.startswith(" app ")] == [
        ["app", "30", "read", "/data/in{n}"],
        ["app", "30", "compute", "1.00"],
        ["app", "30", "write", "/data/out"],
        ["app", "1", "read", "/data/out"],
    ]
    assert len(re.findall(r"^ app +30 ", stdout, re.MULTILINE)) == 3
    repeated = stdout.partition("Repeated operations")[2].partition("Totals")[0]
    assert [line.split()[:4] for line in repeated.splitlines() if line.startswith(" app ")] == [
        ["app", "read", "/data/in{n}", "30"],
        ["app", "compute", "30", "1.00"],
        ["app", "write", "/data/out", "30"],
    ]
    assert "more rows" not in stdout


def test_simulate_shows_operations_that_take_no_time(pagecast, matches):
    (pagecast.folder / "instant.toml").write_text(INSTANT)
    matches(pagecast("simulate", "instant.toml", "--model", "wrench"))


def test_simulate_shows_bookkeeping_on_demand(pagecast):
    (pagecast.folder / "instant.toml").write_text(INSTANT)
    stdout = pagecast("simulate", "instant.toml", "--model", "wrench", "--all").stdout
    rows = [line.split()[1] for line in stdout.splitlines() if line.startswith(" app ")]
    assert rows == ["write", "fsync", "fsync", "signal", "wait", "alloc", "free"]
    assert "not shown" not in stdout


def test_one_operation_that_is_not_shown_is_counted_too(pagecast):
    (pagecast.folder / "instant.toml").write_text(
        INSTANT.replace('{ alloc = "1 GB" }, { free = "all" },', "")
    )
    stdout = pagecast("simulate", "instant.toml", "--model", "wrench").stdout
    assert "1 operation that took no time is not shown; --all shows it." in stdout


def test_simulate_says_a_long_end_in_days(pagecast):
    (pagecast.folder / "long.toml").write_text(INSTANT.replace("10 ms", "310220 s"))
    assert "310220 s (3.6 days)" in pagecast("simulate", "long.toml", "--model", "wrench").stdout


def test_simulate_all_of_many_applications(pagecast):
    (pagecast.folder / "many.toml").write_text(APPLICATIONS)
    lines = pagecast("simulate", "many.toml", "--model", "no-cache", "--all").stdout.splitlines()
    assert [line.split()[:3] for line in lines if "app30 " in line] == [
        ["app30", "read", "/data/app30/in"],
        ["app30", "write", "/data/app30/out"],
    ]


def test_simulate_names_the_disks_that_make_seeds_differ(pagecast):
    outcome = pagecast(
        *("simulate", "scenario.toml", "--model", "wrench", "--seed", "7"),
        *("--set", "machine.disk.ssd.unevenness=0.025"),
    )
    assert outcome.stdout.endswith("\nSeed 7; disk ssd is uneven (2.5 %): other seeds differ.\n")


def test_simulate_names_the_disks_that_draw_times(pagecast):
    outcome = pagecast("simulate", "scenario.toml", "--set", 'machine.disk.ssd.service_read.p50="80 us"')
    assert outcome.stdout.endswith(
        "\nSeed 0; disk ssd draws the times of its requests: other seeds differ.\n"
    )


def test_simulate_from_stdin(pagecast):
    text = (pagecast.folder / "scenario.toml").read_bytes()
    outcome = pagecast("simulate", "-", "--json", stdin=text)
    assert json.loads(outcome.stdout)["provenance"]["scenario"] == "<stdin>"


def test_simulate_json(pagecast, matches):
    outcome = pagecast("simulate", "scenario.toml", "--json", "--model", "no-cache", "--seed", "3")
    assert outcome.stderr == ""
    document = json.loads(outcome.stdout)
    for columns in (run["rates"] for run in document["runs"]):
        columns.update({name: column[:2] for name, column in columns.items()})  # of hundreds of windows
    outcome.stdout = json.dumps(document, indent=1) + "\n"
    matches(outcome)


def test_set_changes_the_forecast(pagecast):
    outcome = pagecast(
        "simulate",
        "scenario.toml",
        "--json",
        "--model",
        "no-cache",
        "--set",
        'machine.disk.ssd.read="250 MB/s"',
    )
    operations = json.loads(outcome.stdout)["runs"][0]["operations"]
    assert operations["duration_s"][0] == 8.0


def test_models_of_the_scenario_are_asked(pagecast):
    runs = json.loads(pagecast("simulate", "scenario.toml", "--json").stdout)["runs"]
    assert [run["model"] for run in runs] == ["wrench", "no-cache"]


def test_options_of_a_model_are_told(pagecast):
    outcome = pagecast(
        "simulate", "scenario.toml", "--json", "--model", "wrench", "--set", 'model.wrench.chunk="10 MB"'
    )
    assert json.loads(outcome.stdout)["runs"][0]["options"] == {"chunk": "10 MB"}


def test_residency_after_each_operation(pagecast):
    outcome = pagecast("simulate", "scenario.toml", "--json", "--model", "wrench", "--residency", "operation")
    files = json.loads(outcome.stdout)["runs"][0]["files"]
    assert {*files["process"]} == {"app", ""}


def test_check(pagecast, matches):
    matches(pagecast("check", "scenario.toml"))


KINDS = """\
[machine]
cores = 4
memory = { size = "4 GB", read = "8 GB/s", write = "5 GB/s", cost.page_reported = "1 us" }
disk.ssd = { size = "1 TB", read = "500 MB/s", write = "450 MB/s", kind = "nvme", latency = "80 us" }
mount."/data" = { disk = "ssd" }
[[process]]
name = "app"
do = [ { write = "/data/out", size = "100 MB" } ]
"""


def test_check_and_show_tell_what_the_kind_of_a_disk_gave(pagecast):
    (pagecast.folder / "kinds.toml").write_text(KINDS)
    (pagecast.folder / "machine.toml").write_text(KINDS.partition("[[process]]")[0])
    requests = "disk ssd: nr_requests = 1023 by its kind (drivers/nvme/host/pci.c"
    assert f"\n{requests}" in pagecast("check", "kinds.toml").stdout
    shown = pagecast("machine", "show", "./machine.toml").stdout
    assert f"\n# {requests}" in shown
    assert "# disk ssd: latency" not in shown, "that was said"


def test_what_a_forecast_takes_for_granted_is_told_beside_it(pagecast):
    (pagecast.folder / "kinds.toml").write_text(KINDS)
    note = "Note: At time 0 the host of machine has taken all its free memory back"
    assert note in pagecast("simulate", "kinds.toml", "--model", "kernel").stdout
    outcome = pagecast("simulate", "kinds.toml", "--model", "kernel", "--json")
    assert outcome.stderr.startswith(note)
    assert json.loads(outcome.stdout)["runs"]


def test_a_run_says_that_it_does_not_change_the_machine(pagecast):
    (pagecast.folder / "kinds.toml").write_text(KINDS)
    outcome = pagecast(
        "run", "kinds.toml", "--dir", ".", "--dry-run", "--set", "machine.vm.dirty_writeback_centisecs=777"
    )
    assert (
        "Note: --set machine.vm.dirty_writeback_centisecs is of the machine that is forecast"
        in outcome.stderr
    )


def test_check_json(pagecast):
    found = json.loads(pagecast("check", "scenario.toml", "--json").stdout)
    assert (found["schema_version"], found["processes"], found["files"]) == (1, ["app"], ["/data/in"])


def test_init_writes_a_scenario_that_can_be_simulated(pagecast):
    assert pagecast("init", "mine.toml").code == ExitCode.OK
    outcome = pagecast("simulate", "mine.toml")
    assert (outcome.code, outcome.stderr) == (ExitCode.OK, "")
    assert {model for model in MODELS if model not in outcome.stdout} == {"cawl"}, "the starter reads"


def test_init_keeps_what_is_there(pagecast, matches):
    before = (pagecast.folder / "scenario.toml").read_text()
    outcome = pagecast("init")
    assert outcome.code == ExitCode.BAD_INPUT
    assert (pagecast.folder / "scenario.toml").read_text() == before
    matches(outcome)


def test_init_force_replaces(pagecast):
    assert pagecast("init", "--force").code == ExitCode.OK
    assert (pagecast.folder / "scenario.toml").read_text().startswith("# A scenario for pagecast")


def test_init_to_stdout(pagecast):
    outcome = pagecast("init", "-")
    assert outcome.stdout.startswith("# A scenario for pagecast")
    assert pagecast.left_behind() == ["scenario.toml"]


def test_machine_list(pagecast):
    outcome = pagecast("machine", "list")
    assert [line.split()[0] for line in outcome.stdout.splitlines()] == list_machines()


def test_machine_list_json(pagecast):
    machines = json.loads(pagecast("machine", "list", "--json").stdout)["machines"]
    assert [machine["name"] for machine in machines] == list_machines()
    assert len({machine["machine_hash"] for machine in machines}) == len(machines)


@pytest.mark.parametrize("name", list_machines())
def test_machine_show_prints_a_machine_that_a_scenario_can_use(name, pagecast):
    (pagecast.folder / "mine.toml").write_text(pagecast("machine", "show", name).stdout)
    (pagecast.folder / "use.toml").write_text(
        '[machine]\nfrom = "./mine.toml"\n[[process]]\nname = "app"\ndo = [ { compute = "1 s" } ]\n'
    )
    assert pagecast("check", "use.toml").code == ExitCode.OK


def test_machine_show_unknown(pagecast, matches):
    outcome = pagecast("machine", "show", "wrench-clutser")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_schema_accepts_what_init_writes(pagecast):
    import tomllib

    schema = json.loads(pagecast("schema").stdout)
    starter = tomllib.loads(pagecast("init", "-").stdout)
    assert {*starter} <= {*schema["properties"]}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell, pagecast):
    outcome = pagecast("completion", shell)
    assert outcome.code == ExitCode.OK
    assert "_PAGECAST_COMPLETE" in outcome.stdout


def test_reproduce_json_has_the_shape_of_the_design(pagecast):
    outcome = pagecast("reproduce", "wrench-cache", "--exp", "4", "--model", "no-cache", "--json")
    document = json.loads(outcome.stdout)
    assert {"schema_version", "provenance", "rows", "summary"} <= {*document}
    assert len(document["rows"]) == 8
    assert {*document["producing"][0]["rows"][0]} == {*document["rows"][0]}
    assert pagecast.left_behind() == ["scenario.toml"]


def test_reproduce_writes_a_report_and_replaces_it(pagecast):
    for _ in range(2):
        outcome = pagecast("reproduce", "wrench-cache", "--exp", "4", "--model", "no-cache")
        assert outcome.code == ExitCode.OK
    folder = pagecast.folder / "wrench-cache"
    assert sorted(path.name for path in folder.iterdir()) == [
        "provenance.json",
        "report.html",
        "results.json",
    ]
    assert pagecast.left_behind() == ["scenario.toml", "wrench-cache"]


def test_simulate_what_takes_no_time(pagecast):
    text = (pagecast.folder / "scenario.toml").read_text()
    text = text[: text.index("[[file]]")] + '[[process]]\nname = "app"\ndo = [ { exit = true } ]\n'
    (pagecast.folder / "scenario.toml").write_text(text)
    outcome = pagecast("simulate", "scenario.toml")
    assert (outcome.code, outcome.stderr) == (ExitCode.OK, "")
    assert [line.split() for line in outcome.stdout.splitlines() if "last process" in line] == [
        ["last", "process", "ends", "after", "0", "s", "0", "s"]
    ]
