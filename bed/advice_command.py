"""``python -m bed advice``: whether the guest's kernel accepts the commands that ``pagecast advise`` prints.

Each command of each knob of two scenarios, bed/advice/disk.toml and nfs.toml, is run in the guest by a shell,
which then looks what is set. Only names are replaced: of the disk, of the server. What has no program in the
guest is what that program does: exportfs writes a line of the server's export table, for the guest's client;
mount.nfs4 adds addresses to the options. For systemctl the command without systemd is run. Left out: knobs
without a command (memory, strips, flags of programs).
"""

import argparse
import csv
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from bed import guest_command
from bed.asking import add_dry_run, say_plan
from bed.guest import NullDisk, Settings
from bed.nfs import Nfs
from bed.packages import NFS, RECORDED, BedError
from pagecast.advice.finding import find_hosts, find_knobs
from pagecast.advice.knob import DISK
from pagecast.api import Scenario

__all__ = ["Answer", "Command", "act", "answers_of", "commands_of", "script_of", "table"]

SCENARIOS: Final = Path(__file__).parent / "advice"
SCRIPT: Final = Path(__file__).parent / "guest" / "accepted.sh"
ANSWERS: Final = "accepted.csv"
MORE: Final = (*RECORDED, *NFS)

GUESTS: Final = {
    "disk": Settings(
        disk="null",
        null=NullDisk(size=256),
        scheduler="mq-deadline",
        repetitions=1,
        modules=("bfq", "kyber_iosched"),
    ),
    "nfs": Settings(nfs=Nfs("dax"), repetitions=1),
}
"""The guest of each scenario."""

_CHANNEL: Final = "/proc/net/rpc/nfsd.export/channel"
_EXPORT: Final = (
    rf"printf 'bed /z 2147483647 %d 65534 65534 0\\n' $((0x2000 | 0x400 | 0x20 | 0x10)) > {_CHANNEL}"
)
_IN_CLIENT: Final = "nsenter --net=/run/netns/cl -- sh -c"
_ADDRESSES: Final = "addr=10.0.0.1,clientaddr=10.0.0.2"
_STAND_INS: Final = (
    (rf"\b{DISK}\b", "nullb0"),
    (r"\bserver:/z", "10.0.0.1:/"),
    (r"^(.*) nfs4 -o (.*)$", rf"{_IN_CLIENT} '\1 nfs4 -o {_ADDRESSES},\2'"),
    (r"^exportfs -o rw,async '\*:/z'$", _EXPORT),
)
"""Patterns in commands, and what is run in the guest instead; guest/nfs.sh explains addresses and flags."""

_LOOKS: Final = (
    (r"sysctl (\S+)=(\S+)", r"sysctl -n \1", r"\2"),
    (r'echo "?(?:.* )?(\S+?)"? > (\S+)', r"cat \2", r"\1"),
    (r".*mount .*-o \S*?([^\s,]+) (?:\S+ )?(/\w+)'?", r"grep ' \2 ' /proc/mounts", r"\1"),
    (r"ionice -c 3 (.*)", r"ionice \1", "idle"),
    (r"ionice -c 2 -n (\d) (.*)", r"ionice \2", r"prio \1"),
    (rf"printf .*{_CHANNEL}", "cat /proc/net/rpc/nfsd.export/content", "async"),
)
"""Patterns of commands, the command that shows what is set, and the word that it then has."""


_NEEDS: Final = (
    (r"/sys/fs/cgroup/([^/\s]+)/", "make_cgroup"),
    (r"pidof (\S+)\)", "start_program"),
    (r"umount (/m) ", "make_mount"),
)
"""Patterns of names in commands, and the function of guest/accepted.sh that makes what has the name."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a knob: as it is printed, as the guest runs it, and how to see what it has set."""

    knob: str
    printed: str
    run: str
    look: str
    expected: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a command in the guest."""

    command: Command
    code: int
    message: str
    seen: str

    @property
    def is_accepted(self) -> bool:
        """Whether it ended well and is seen."""
        words = re.split(r"[\s,()\[\]]+", self.seen)
        return self.code == 0 and all(word in words for word in self.command.expected.split())


def commands_of(scenario: Path, *, has_disk: bool = True) -> list[Command]:
    """Give the commands of all settings that advice knows for a scenario, each once.

    Parameters
    ----------
    scenario : Path
        Its file.
    has_disk : bool
        Whether the guest has the disk of the scenario; if not, commands that name it are left out.

    Returns
    -------
    list of Command
    """
    text = scenario.read_bytes()
    names = [process["name"] for process in tomllib.loads(text.decode())["process"]]
    found: dict[str, Command] = {}
    for knob in find_knobs(find_hosts(Scenario.load(scenario), None), text, (), names):
        for line in (line for setting in knob.settings for line in setting.lines):
            printed = line.cgroup or line.now
            if printed and (has_disk or DISK not in printed):
                found.setdefault(printed, _command(knob.name, printed))
    return [*found.values()]


def _command(knob: str, printed: str) -> Command:
    run = printed
    for pattern, other in _STAND_INS:
        run = re.sub(pattern, other, run)
    for pattern, look, expected in _LOOKS:
        if (match := re.fullmatch(pattern, run)) is not None:
            return Command(knob, printed, run, match.expand(look), match.expand(expected))
    raise BedError(f"there is no way to see what `{run}` has set; add one to bed/advice_command.py")


def script_of(commands: Sequence[Command]) -> str:
    """Write the script that the guest runs."""
    lines = [SCRIPT.read_text()]
    told = "\n".join(command.run for command in commands)
    for pattern, function in _NEEDS:
        lines += [f"{function} {name}\n" for name in dict.fromkeys(re.findall(pattern, told))]
    lines += [
        f"try {number} {shlex.quote(command.run)} {shlex.quote(command.look)}\n"
        for number, command in enumerate(commands)
    ]
    return "".join(lines)


def answers_of(commands: Sequence[Command], text: str) -> list[Answer]:
    """Read what the guest wrote.

    Raises
    ------
    BedError
        Something is missing.
    """
    rows = list(csv.DictReader(text.splitlines()))
    if [row["number"] for row in rows] != [str(number) for number in range(len(commands))]:
        raise BedError(f"the guest answered {len(rows)} of {len(commands)} commands")
    return [
        Answer(command, int(row["code"]), row["message"], row["seen"])
        for command, row in zip(commands, rows, strict=True)
    ]


def table(answers: Sequence[Answer]) -> str:
    """Write a table of knobs in Markdown, with what was refused below it."""
    lines = ["| knob | first command | commands | accepted |", "|---|---|--:|--:|"]
    for knob, group in groupby(answers, key=lambda answer: answer.command.knob):
        own = list(group)
        accepted = sum(answer.is_accepted for answer in own)
        lines.append(f"| {knob} | `{own[0].command.printed}` | {len(own)} | {accepted} |")
    lines += [
        f"- `{answer.command.printed}`: exit code {answer.code}, {answer.message or 'no message'}; "
        f"then `{answer.command.look}` says: {answer.seen}"
        for answer in answers
        if not answer.is_accepted
    ]
    return "\n".join(lines)


def plan(folder: Path, asked: Mapping[str, Sequence[Command]]) -> list[str]:
    """Say in lines what will be done."""
    size_mb = guest_command.DOWNLOAD_MB + guest_command.PROGRAMS_MB + guest_command.NFS_MB
    return [
        guest_command.downloads(folder, size_mb, MORE),
        f"build bed/player with cargo, static, into {folder}/player, unless it is there",
        *(
            f"start the guest, and run in it {len(commands)} commands for bed/advice/{name}.toml"
            for name, commands in asked.items()
        ),
        f"print a table, and write each command and what came of it into {folder}/advice.csv",
    ]


def act(words: Sequence[str]) -> int:
    """Do what the command line says; gives the exit code: 1 if a command was refused."""
    parser = argparse.ArgumentParser(
        prog="python -m bed advice",
        description="Give the guest's kernel each command that `pagecast advise` can print. Needs no root.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="everything is written here")
    add_dry_run(parser)
    options = parser.parse_args(words)
    folder: Path = options.folder.resolve()
    asked = {
        name: commands_of(SCENARIOS / f"{name}.toml", has_disk=settings.nfs is None)
        for name, settings in GUESTS.items()
    }
    lines = plan(folder, asked)
    if options.dry_run:
        say_plan("advice", "without root", lines)
        return 0
    guest = guest_command.prepared(folder, lines[0], MORE)
    answers: list[Answer] = []
    for name, commands in asked.items():
        out = folder / "out" / f"advice-{name}"
        files = {SCRIPT.name: script_of(commands)}
        guest.play("advice", f"exec sh /cases/{SCRIPT.name}\n", GUESTS[name], out, files=files)
        answers += answers_of(commands, (out / "1" / ANSWERS).read_text())
    _write(folder / "advice.csv", answers)
    print(table(answers))
    return int(not all(answer.is_accepted for answer in answers))


def _write(path: Path, answers: Sequence[Answer]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("knob", "command", "run", "code", "message", "look", "seen", "is_accepted"))
        for answer in answers:
            command = answer.command
            told = (command.knob, command.printed, command.run)
            rows.writerow((*told, answer.code, answer.message, command.look, answer.seen, answer.is_accepted))
