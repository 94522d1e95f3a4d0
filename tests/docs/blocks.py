"""The code blocks of a Markdown page, and how they are run.

What a block is decides its language: `python` is executed (all blocks of a page share their variables),
`pycon` is a doctest, `console` holds commands after "$ " with their output below, and `toml` and `ini` are
saved if their first line is a comment with a file name. Any other block (`sh`, `text`) is only shown.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"(?:# ([\w./-]+\.toml)|; ([\w./-]+\.fio))\n")
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is where its text begins."""

    language: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    """Find the blocks of a page."""
    return [Block(hit[1], hit[2], page.count("\n", 0, hit.start(2)) + 1) for hit in FENCE.finditer(page)]


def run(block: Block, page: Path, variables: dict[str, Any]) -> None:
    """Run a block in the current folder; raises `AssertionError` if it does not do what the page says."""
    where = f"{page.name}:{block.line}"
    match block.language:
        case "python":
            exec(compile("\n" * (block.line - 1) + block.text, page, "exec"), variables)
        case "pycon":
            parser = doctest.DocTestParser()
            test = parser.get_doctest(block.text, variables, where, str(page), block.line - 1)
            runner = doctest.DocTestRunner(optionflags=LOOSELY)
            runner.run(test, clear_globs=False)
            assert runner.failures == 0, f"{where}: see above"
            variables.update(test.globs)
        case "console":
            run_commands(block.text, where)
        case "toml" | "ini":
            if name := FILE_NAME.match(block.text):
                Path(name[1] or name[2]).write_text(block.text)


def run_commands(text: str, where: str) -> None:
    """Run each command and compare its output; `$ echo $?` below a command shows how it ended."""
    folder = Path(sys.executable).parent
    plain = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
    }
    steps = list(commands(text))
    ended = 0
    for position, (command, want) in enumerate(steps):
        answer = subprocess.run(
            ["bash", "-c", f"(exit {ended}); {command}"],
            env=os.environ | plain,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        ended = answer.returncode
        told = steps[position + 1 : position + 2]
        assert ended == 0 or (told and told[0][0] == "echo $?"), (
            f"{where}: `{command}` ended with {ended}:\n{answer.stdout}"
        )
        if want:
            got = answer.stdout.replace("\N{NO-BREAK SPACE}", " ")
            assert doctest.OutputChecker().check_output(want, got, LOOSELY), (
                f"{where}: `{command}` printed\n{answer.stdout}\ninstead of\n{want}"
            )


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Split a console block into commands and their outputs."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command = command[:-1] + more.strip()
        yield command, output
