"""The language of cases: every command, sizes, and errors that name the line."""

import pytest

from pagecast.errors import StudyError
from pagecast.studies.live_kernel.case import COMMANDS, parse, read_case

EVERY_COMMAND = """\
# a comment
open 0 MNT/a wct     # another
write 0 -1 10m 1m
write 0 4k 8K 4096
read 0 0 1g 64k
fwrite 0 10m 100 4096
fread 0 10m 100 4096

fsync 0
fdatasync 0
dontneed 0
close 0
mkdir MNT/d
rename MNT/a MNT/b
snap before
owrite 0 1m 4k 64k 500
unlink MNT/a
sync
drop
sleep 1500
spin 0.5
stat after MNT/a
sh cat /proc/meminfo > /dev/null
mark phase
proc child
    sync
endproc
wait
"""


def steps(text):
    return parse(text, name="case", origin="case.pct").steps


def test_every_command_is_understood():
    found = steps(EVERY_COMMAND)
    named = {step.command for step in found} | {step.command for each in found for step in each.steps}
    assert named | {"endproc"} == {*COMMANDS}


def test_sizes_take_binary_units():
    write = steps("write 0 4k 8K 4096")[0].arguments
    assert (write["offset"], write["size"], write["call"]) == (4096, 8192, 4096)
    assert steps("read 0 0 1g 64m")[0].arguments["size"] == 2**30


def test_offset_minus_one_is_the_current_position():
    assert steps("write 3 -1 1m 1m")[0].arguments["offset"] == -1


def test_comments_and_empty_lines_are_skipped_but_counted():
    assert [step.line for step in steps("# one\n\nsync # three\n")] == [3]


def test_a_process_holds_its_steps():
    (process,) = steps("proc child\nsync\nsleep 1\nendproc")
    assert process.arguments == {"label": "child"}
    assert [step.command for step in process.steps] == ["sync", "sleep"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sync\nfrob 1", r"case.pct:2: there is no command `frob`; "),
        ("fsnyc 0", r"case.pct:1: there is no command `fsnyc`; did you mean `fsync`\?"),
        ("write 0 0 1m", r"case.pct:1: `write` has 3 arguments; write `write HANDLE OFFSET SIZE CALL`"),
        ("sync now", r"case.pct:1: `sync` has 1 arguments; write `sync`"),
        ("write 0 -2 1m 1m", r"case.pct:1: `-2` is no size"),
        ("write 0 0 1x 1m", r"case.pct:1: `1x` is no size"),
        ("write 0 0 m 1m", r"case.pct:1: `m` is no size"),
        ("sleep soon", r"case.pct:1: `soon` is no time"),
        ("sleep -1", r"case.pct:1: `-1` is no time"),
        ("open 0 MNT/a wx", r"case.pct:1: there is no flag `x`; flags are r, w, c"),
        ("sync\nproc a\nsync", r"case.pct:2: `proc` without an `endproc` below it"),
        ("proc a\nproc b\nendproc", r"case.pct:2: `proc` inside the `proc` of line 1"),
        ("endproc", r"case.pct:1: `endproc` without a `proc` above it"),
    ],
)
def test_what_cannot_be_understood_is_an_error_with_its_line(text, message):
    with pytest.raises(StudyError, match=message):
        steps(text)


def test_a_case_is_named_after_its_file(tmp_path):
    path = tmp_path / "a_case.pct"
    path.write_text("sync\n")
    assert read_case(path).name == "a_case"


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "a.pct"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(StudyError, match=r"a\.pct: cannot be read"):
        read_case(path)
