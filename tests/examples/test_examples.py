"""Each example prints what stands in the text file beside it; `make golden` rewrites those files."""

import os
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
