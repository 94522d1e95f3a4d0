"""What `make install` leaves is enough to build and run a program with."""

import os
import re
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


def exported(library: Path) -> set[str]:
    if shutil.which("nm") is None:
        pytest.skip("nm is not installed")
    command = ["nm", "--dynamic", "--defined-only", "--demangle", str(library)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split(" ", 2)[2] for line in printed.splitlines()}


def test_the_library_exports_the_functions_of_its_header_alone(prefix: Path) -> None:
    header = (prefix / "include" / "pagecast.h").read_text()
    functions = set(
        re.findall(r"\b(pagecast_\w+)\((?!\))", re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL))
    )
    assert "pagecast_create" in functions
    assert exported(prefix / "lib" / "libpagecast.so") == functions


def test_the_plugin_exports_its_interface_alone(prefix: Path) -> None:
    # It exported all its classes, and parts of the standard library that another plug-in could be bound to.
    library = prefix / "lib" / "libpagecast-simgrid.so"
    if not library.exists():
        pytest.skip("SimGrid is not installed")
    names = exported(library)
    assert {"pagecast::init()", "pagecast::PageCache::here()"} <= names
    public = r"((typeinfo( name)?|vtable) for )?pagecast::(init\(|(PageCache|Operation|Error)\b)"
    # A variable of an inline function of SimGrid, which it shares with its plug-ins.
    shared = r"(guard variable for )?simgrid::kernel::timer::kernel_timers\(\)::value"
    assert [name for name in names if not re.match(f"({public}|{shared})", name)] == []


PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(tiny LANGUAGES C CXX)
find_package(pagecast 0.1 REQUIRED)
add_executable(writer {root}/crates/pagecast-capi/c/writer.c)
target_link_libraries(writer PRIVATE pagecast::pagecast m)
find_package(pagecast-simgrid 0.1 {needed})
if(pagecast-simgrid_FOUND)
  add_executable(exp2 {root}/plugins/simgrid/examples/exp2.cpp)
  target_link_libraries(exp2 PRIVATE pagecast::simgrid)
endif()
find_package(pagecast 9.9 QUIET)
if(pagecast_FOUND)
  message(FATAL_ERROR "another version was asked for")
endif()
"""


def test_a_project_of_cmake_finds_both(prefix: Path, tmp_path: Path) -> None:
    # Without packages, each project wrote down where the library and its header are.
    if shutil.which("cmake") is None:
        pytest.skip("CMake is not installed")
    has_plugin = (prefix / "lib" / "libpagecast-simgrid.so").exists()
    project = PROJECT.format(root=ROOT, needed="REQUIRED" if has_plugin else "QUIET")
    (tmp_path / "CMakeLists.txt").write_text(project)
    for command in (
        ["cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
        ["cmake", "--build", "build"],
    ):
        answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert answer.returncode == 0, answer.stdout + answer.stderr
    printed = subprocess.run(
        ["build/writer"], check=True, capture_output=True, text=True, cwd=tmp_path
    ).stdout
    assert printed.startswith("kernel: ")
    if has_plugin:
        command = ["build/exp2", "1", "kernel"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout
        assert len(printed.splitlines()) == 6


def test_without_a_place_it_says_what_is_missing() -> None:
    answer = subprocess.run(["make", "install"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert answer.returncode == 2
    assert "make install PREFIX=/usr/local" in answer.stderr
