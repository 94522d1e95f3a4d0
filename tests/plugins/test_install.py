"""What `make install` leaves is enough to build and run a program with."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    prefix = tmp_path_factory.mktemp("prefix")
    environment = {**os.environ, "PREFIX": str(prefix), "PROFILE": "dev"}
    subprocess.run(["bash", str(ROOT / "plugins" / "install.sh")], check=True, env=environment)
    return prefix


def run(source: Path, package: str, compiler: list[str], prefix: Path, folder: Path, *arguments: str) -> str:
    """Compile a program by what pkg-config says and run it, in a folder of its own."""
    environment = {
        **os.environ,
        "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"),
        "LD_LIBRARY_PATH": str(prefix / "lib"),
    }

    def call(*command: str) -> str:
        return subprocess.run(
            command, check=True, capture_output=True, text=True, env=environment, cwd=folder
        ).stdout

    flags = call("pkg-config", "--cflags", "--libs", package).split()
    call(*compiler, str(source), *flags, "-lm", "-o", "program")
    return call("./program", *arguments)


def test_a_program_in_c_finds_the_library(prefix: Path, tmp_path: Path) -> None:
    source = ROOT / "crates" / "pagecast-capi" / "c" / "writer.c"
    printed = run(source, "pagecast", ["cc", "-std=c11"], prefix, tmp_path)
    assert [line.split(":")[0] for line in printed.splitlines()] == ["kernel", "wrench", "no-cache"]


def test_a_simgrid_program_finds_the_plugin(prefix: Path, tmp_path: Path) -> None:
    if not (prefix / "lib" / "libpagecast-simgrid.so").exists():
        pytest.skip("SimGrid is not installed")
    source = ROOT / "plugins" / "simgrid" / "examples" / "exp2.cpp"
    printed = run(source, "pagecast-simgrid", ["c++", "-std=c++17"], prefix, tmp_path, "1", "kernel")
    assert len(printed.splitlines()) == 6


@pytest.mark.parametrize(("name", "platform"), [("cached", None), ("site", "site.xml")])
def test_a_program_of_the_guide_prints_what_the_guide_says(
    prefix: Path, tmp_path: Path, name: str, platform: str | None
) -> None:
    if not (prefix / "lib" / "libpagecast-simgrid.so").exists():
        pytest.skip("SimGrid is not installed")
    guide = (ROOT / "docs" / "guides" / "from-simgrid-and-wrench.md").read_text()
    before, after = guide.split(f"```cpp\n// {name}.cpp")
    program, printed = after.split("```")[0], after.split("```text\n")[1].split("```")[0]
    source = tmp_path / f"{name}.cpp"
    source.write_text("//" + program)
    arguments = []
    if platform:
        (tmp_path / platform).write_text(before.split("```xml\n")[-1].split("```")[0])
        arguments = [platform]
    compiler = ["c++", "-std=c++17", "-pedantic-errors"]
    assert run(source, "pagecast-simgrid", compiler, prefix, tmp_path, *arguments) == printed


def test_without_a_place_it_says_what_is_missing() -> None:
    answer = subprocess.run(["make", "install"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert answer.returncode == 2
    assert "make install PREFIX=/usr/local" in answer.stderr
