"""Bad input gets one clear message with the place and the remedy, a documented exit code, and no output."""

from pathlib import Path

import pytest

from pagecast.exit_codes import ExitCode

MACHINE = """\
[machine]
cores = 4
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
"""
FILE = '[[file]]\npath = "/data/in"\nsize = "2 GB"\n'


def process(do: str, name: str = "app", more: str = "") -> str:
    """Write a process."""
    return f'[[process]]\nname = "{name}"\n{more}do = [ {do} ]\n'


NOT_UNDERSTOOD = {
    "unknown key": MACHINE.replace("size", "sise", 1) + process('{ compute = "1 s" }'),
    "unknown operation": MACHINE + process('{ reed = "/data/in" }'),
    "missing unit": MACHINE.replace('"10 GB"', '"10"') + process('{ compute = "1 s" }'),
    "bare number": MACHINE.replace('"10 GB"', "10") + process('{ compute = "1 s" }'),
    "flag that is not known": MACHINE + FILE + process('{ open = "/data/in", flags = ["O_DIRCT"] }'),
    "negative size": MACHINE + FILE.replace("2 GB", "-2 GB") + process('{ read = "/data/in" }'),
    "NaN size": MACHINE + FILE.replace('"2 GB"', "nan") + process('{ read = "/data/in" }'),
    "NaN in a string": MACHINE + FILE.replace("2 GB", "nan GB") + process('{ read = "/data/in" }'),
    "zero bandwidth": MACHINE.replace("500 MB/s", "0 MB/s") + process('{ compute = "1 s" }'),
    "two processes with one name": MACHINE + process('{ compute = "1 s" }') + process('{ sleep = "1 s" }'),
    "path without a mount": MACHINE + process('{ read = "/home/in" }'),
    "unknown model": 'models = ["wrensh"]\n' + MACHINE + process('{ compute = "1 s" }'),
    "unknown option of a model": '[model.wrench]\nchink = "1 MB"\n'
    + MACHINE
    + process('{ compute = "1 s" }'),
    "unknown machine": '[machine]\nfrom = "wrench-custer"\n' + process('{ compute = "1 s" }'),
    "file larger than the disk": MACHINE + FILE.replace("2 GB", "200 GB") + process('{ read = "/data/in" }'),
    "file that nobody makes": MACHINE + process('{ read = "/data/in" }'),
    "event that nobody signals": MACHINE + process('{ wait = "dawn" }'),
    "process without operations": MACHINE + process(""),
    "copies without a count": MACHINE + process('{ write = "/data/out{n}", size = "1 GB" }'),
    "not TOML": MACHINE + "[[process]\n",
    "empty": "",
}

CANNOT_GO_ON = {
    "read beyond the end": MACHINE + FILE + process('{ read = "/data/in", size = "3 GB" }'),
    "O_DIRECT with bytes that are no blocks": MACHINE
    + FILE
    + process('{ open = "/data/in", flags = ["O_DIRECT"] },\n{ read = "/data/in", size = "1 kB" }'),
    "no such file": MACHINE + FILE + process('{ unlink = "/data/in" }, { read = "/data/in" }'),
    "cycle of waits": MACHINE
    + process('{ wait = "b done" }, { signal = "a done" }', name="a")
    + process('{ wait = "a done" }, { signal = "b done" }', name="b"),
    "write fills the disk": MACHINE + process('{ write = "/data/out", size = "200 GB" }'),
    "too much anonymous memory": MACHINE + process('{ alloc = "6 GB" }, { alloc = "6 GB" }'),
    "too large a fresh buffer": MACHINE
    + FILE.replace("2 GB", "20 GB")
    + process('{ read = "/data/in", buffer = "fresh" }'),
}


@pytest.mark.parametrize("case", NOT_UNDERSTOOD)
def test_a_scenario_that_cannot_be_understood(case, pagecast, matches):
    (pagecast.folder / "bad.toml").write_text(NOT_UNDERSTOOD[case])
    outcome = pagecast("simulate", "bad.toml", "--out", "results")
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stdout == ""
    assert pagecast.left_behind() == ["bad.toml", "scenario.toml"]
    matches(outcome)


@pytest.mark.parametrize("case", CANNOT_GO_ON)
def test_a_workload_that_cannot_go_on(case, pagecast, matches):
    (pagecast.folder / "bad.toml").write_text(CANNOT_GO_ON[case])
    outcome = pagecast("simulate", "bad.toml", "--model", "wrench", "--out", "results")
    assert outcome.code == ExitCode.SIMULATION_FAILED
    assert outcome.stdout == ""
    assert pagecast.left_behind() == ["bad.toml", "scenario.toml"]
    matches(outcome)


def test_50_megabytes(pagecast, matches):
    (pagecast.folder / "bad.toml").write_bytes(b"# 50 MB of comment\n" + b"#" * 50_000_000)
    outcome = pagecast("simulate", "bad.toml")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_text_that_is_not_utf_8(pagecast, matches):
    (pagecast.folder / "bad.toml").write_bytes(b'[[process]]\nname = "caf\xe9"\n')
    outcome = pagecast("check", "bad.toml")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_file_name_that_is_not_utf_8(pagecast, matches):
    outcome = pagecast("simulate", "caf\udce9.toml")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "caf\\xe9.toml" in outcome.stderr
    outcome.command = "pagecast simulate caf<0xe9>.toml"
    matches(outcome)


def test_origin_that_is_not_utf_8_can_be_simulated(pagecast):
    (pagecast.folder / "scenario.toml").rename(pagecast.folder / "caf\udce9.toml")
    outcome = pagecast("check", "caf\udce9.toml")
    assert (outcome.code, outcome.stderr) == (ExitCode.OK, "")
    assert outcome.stdout.startswith("caf\\xe9.toml: fine.")


def test_no_such_scenario(pagecast, matches):
    outcome = pagecast("simulate", "nowhere.toml")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_directory_as_scenario(pagecast, matches):
    (pagecast.folder / "folder").mkdir()
    outcome = pagecast("simulate", "folder")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


@pytest.mark.parametrize(
    "override", ["machine.vm.dirty_ration=10", "machine.vm", 'machine.memory.size="-1 GB"']
)
def test_wrong_override(override, pagecast, matches):
    outcome = pagecast("check", "scenario.toml", "--set", override)
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_unknown_model_on_the_command_line(pagecast, matches):
    outcome = pagecast("simulate", "scenario.toml", "--model", "wrensh")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_unknown_command(pagecast, matches):
    outcome = pagecast("simulato", "scenario.toml")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_unknown_option(pagecast, matches):
    outcome = pagecast("simulate", "scenario.toml", "--modle", "wrench")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


@pytest.mark.parametrize("command", [("simulate", "scenario.toml"), ("reproduce", "wrench-cache")])
def test_empty_name_of_the_output(command, pagecast, matches):
    outcome = pagecast(*command, "--out", "")
    assert outcome.code == ExitCode.BAD_INPUT
    assert pagecast.left_behind() == ["scenario.toml"]
    matches(outcome)


@pytest.mark.parametrize("arguments", [("check", ""), ("init", "")])
def test_empty_name_of_a_file(arguments, pagecast):
    outcome = pagecast(*arguments)
    assert (outcome.code, outcome.stdout) == (ExitCode.BAD_INPUT, "")
    assert "the name is empty" in outcome.stderr


@pytest.mark.parametrize("option", ["--set", "--model"])
def test_option_that_is_not_utf_8(option, pagecast):
    outcome = pagecast("check", "scenario.toml", option, "caf\udce9")
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stderr == (
        f"pagecast: error: invalid value for '{option}': `caf\\xe9` is not UTF-8; try pagecast check --help\n"
    )


def test_machine_in_a_directory_that_is_not_utf_8(pagecast, monkeypatch):
    (pagecast.folder / "caf\udce9").mkdir()
    monkeypatch.chdir(pagecast.folder / "caf\udce9")
    Path("mine.toml").write_text(pagecast("machine", "show", "wrench-cluster-published").stdout)
    outcome = pagecast("reproduce", "wrench-cache", "--exp", "4", "--json", "--machine", "./mine.toml")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "mine.toml: a scenario can only name what is UTF-8; move the machine file" in outcome.stderr


def test_unknown_command_of_a_group(pagecast):
    outcome = pagecast("machine", "shwo")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "there is no command `shwo`; did you mean `show`? Try pagecast machine --help" in outcome.stderr


def test_missing_argument(pagecast, matches):
    outcome = pagecast("simulate")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_unknown_study(pagecast, matches):
    outcome = pagecast("reproduce", "wrench")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_unknown_experiment(pagecast, matches):
    outcome = pagecast("reproduce", "wrench-cache", "--exp", "9", "--json")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_a_seed_that_does_not_fit(pagecast):
    outcome = pagecast("simulate", "scenario.toml", "--seed", str(2**64))
    assert outcome.code == ExitCode.BAD_INPUT
    assert "invalid value for '--seed': 18446744073709551616 is not from 0 to 2^64 - 1; try" in outcome.stderr


def test_several_options_that_were_meant_perhaps(pagecast):
    outcome = pagecast("simulate", "scenario.toml", "--sed", "1")
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stderr == (
        "pagecast: error: no such option '--sed'; did you mean one of '--record', '--seed', '--set'? "
        "Try pagecast simulate --help\n"
    )
