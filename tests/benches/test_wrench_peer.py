"""The rows of WRENCH say why they are absent."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from simulate import build_wrench  # noqa: E402


def test_without_a_folder_the_rows_say_how_to_get_them(tmp_path: Path) -> None:
    assert build_wrench(tmp_path / "peer", "") == "no WRENCH=FOLDER is given; see benches/README.md"


def test_a_folder_without_wrench_is_named(tmp_path: Path) -> None:
    reason = build_wrench(tmp_path / "peer", str(tmp_path))
    assert reason is not None
    assert str(tmp_path / "lib" / "libwrench.a") in reason
