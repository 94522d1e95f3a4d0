"""The command line of the bed: what it says it would do, and what it refuses."""

import pytest

from bed.__main__ import main


def said(capsys, *words):
    code = main(words)
    return code, "".join(capsys.readouterr())


def test_a_dry_run_says_everything_and_writes_nothing(tmp_path, capsys):
    folder = tmp_path / "bed"
    code, text = said(capsys, "guest", "--dry-run", str(folder), "a_seqwrite", "--cgroup", "512")
    assert code == 0
    for part in (
        "180 MB",
        "qemu-system-x86",
        "cargo",
        "512 MiB of it for the case",
        "a_seqwrite",
        "recordings",
    ):
        assert part in text
    code, text = said(capsys, "guest", "--dry-run", str(folder), "cp", "--disk", "null", "--rate", "50")
    assert code == 0
    for part in ("240 MB", "strace", "mbps=50", "completion_nsec=100000", "3072 MiB", "for cp:"):
        assert part in text
    code, text = said(
        capsys, "disk", str(folder), "--dry-run", "--leave", "2048", "--queue", "32", "--", "true"
    )
    assert code == 0
    for part in ("zram", "32 requests", "100 MiB/s", "until 2048 MiB are available", "noise", "undo"):
        assert part in text
    code, text = said(capsys, "memory", str(folder), "--dry-run", "--leave", "1024", "--", "true")
    assert code == 0
    assert "until 1024 MiB are available" in text
    code, text = said(capsys, "host", str(folder), "--dry-run", "--leave", "2048", "a_seqwrite")
    assert code == 0
    for part in (
        "cargo",
        "trace",
        "zram",
        "200 MiB/s",
        "until 2048 MiB",
        "play a_seqwrite, 3 times",
        "recordings",
    ):
        assert part in text
    assert "noise" not in text
    assert "settled" in text
    code, text = said(capsys, "advice", str(folder), "--dry-run")
    assert code == 0
    for part in ("290 MB", "user-mode-linux", "cargo", "51 commands for bed/advice/disk.toml", "advice.csv"):
        assert part in text
    assert "settled" not in said(capsys, "host", str(folder), "--dry-run", "a_seqwrite")[1]
    assert not folder.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gest"], "there is no command gest; there are guest, host, advice, judge, disk, memory"),
        (["guest", "DIR", "a_seq"], "there is no case a_seq; did you mean a_seqwrite?"),
        (["guest", "DIR", "no.pct"], "no.pct: cannot be read"),
        (["guest", "DIR", "no.fio", "--disk", "null"], "no.fio: cannot be read"),
        (
            ["guest", "DIR", "ab", "--disk", "null"],
            "there is no case ab on null_blk; there are m_memory, m_disk",
        ),
        (["guest", "DIR", "--disk", "null", "--memory", "1024"], "use --memory 2816 or more"),
        (["guest", "DIR", "--cgroup", "2048"], "--cgroup 2048 is not less than the guest's memory"),
        (["guest", "DIR", "--dirty-ratio", "10"], "--dirty-background-ratio must be less"),
        (["disk", "DIR"], "write the command to run after --: python -m bed disk DIR -- COMMAND"),
        (["memory", "DIR"], "write the command to run after --: python -m bed memory DIR -- COMMAND"),
        (["host", "DIR", "a_seq"], "there is no case a_seq; did you mean a_seqwrite?"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    code, text = said(capsys, *words)
    assert code == 1
    assert text.startswith("bed: ")
    assert message in text
    assert text.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["guest", "DIR", "--memory", "2GiB"], "`2GiB`: write a whole number from 768 on"),
        (["host", "DIR", "--repetitions", "0"], "`0`: write a whole number from 1 on"),
        (["host", "DIR", "--leave", "10"], "--leave: `10`: write a whole number from 512 on"),
        (["disk", "DIR", "--write", "0", "--", "true"], "--write: `0`: write a whole number from 1 on"),
        (
            ["disk", "DIR", "--leave", "2GiB", "--", "true"],
            "--leave: `2GiB`: write a whole number from 512 on",
        ),
        (["guest", "DIR", "--dirty-ratio", "0"], "`0`: write whole percent, 1 to 100"),
        (["guest", "DIR", "--disk", "ssd"], "invalid choice: 'ssd'"),
        (["guest"], "required: DIR"),
    ],
)
def test_a_wrong_word_is_named(capsys, words, message):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_without_words_it_says_what_there_is(capsys):
    code, text = said(capsys)
    assert code == 0
    assert "python -m bed guest DIR" in text
