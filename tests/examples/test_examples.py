"""Each example prints what stands in the text file beside it; `make golden` rewrites those files.

The example of advice is the scenario of its guide, which README asks about.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_output_is_as_expected(example: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(example)]
    output = subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True).stdout
    expected = example.with_suffix(".txt")
    if os.environ.get("UPDATE_GOLDEN"):
        expected.write_text(output)
    assert output == expected.read_text()


def test_the_example_of_advice_is_that_of_its_guide() -> None:
    guide = (EXAMPLES.parent / "docs/guides/advice.md").read_text()
    scenario = guide.split("# backup.toml\n")[1].split("```")[0]
    example = (EXAMPLES / "backup.toml").read_text()
    assert example.endswith(scenario)
    (command,) = re.findall(r"`(pagecast advise [^`]*)`", (EXAMPLES.parent / "README.md").read_text())
    done = subprocess.run(
        [Path(sys.executable).parent / "pagecast", *shlex.split(command)[1:], "--budget", "60"],
        cwd=EXAMPLES.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    assert "O_DIRECT for writes of backup" in done.stdout
