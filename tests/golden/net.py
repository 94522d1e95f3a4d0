"""Does a golden timeline of the model `kernel` notice each change of `changes.toml`?

    make net                     all changes
    make net CHANGES="NAME ..."  some of them

Each change replaces a text that stands exactly once among the files of the model, whichever it is in; with
`under`, among those of that folder of the core. That is done in a copy of the crates, which is built; then
the timelines are compared. --write rewrites `fails`.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("changes.toml")
COPY = ROOT / "out" / "net"
CORE = Path("crates/pagecast-core/src")
RULES = "policy/kernel"
TEST = "tests/golden/test_kernel.py"

# Built as quickly as may be: what runs takes no time.
QUICK = {"LTO": "off", "CODEGEN_UNITS": "64", "DEBUG": "0", "INCREMENTAL": "true"}
BUILD = {f"CARGO_PROFILE_RELEASE_{key}": value for key, value in QUICK.items()}
# A timeline takes some milliseconds; a rule that is changed may go round in a circle.
MOST_SECONDS = 20


def main() -> None:
    """Try the changes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="rewrite `fails` in changes.toml")
    parser.add_argument("name", nargs="*", help="the changes to try; by default all")
    arguments = parser.parse_args()
    changes = tomllib.loads(TABLE.read_text())
    if strangers := set(arguments.name) - changes.keys():
        sys.exit(f"{TABLE.name} has no {', '.join(sorted(strangers))}")
    found = {name: place(name, change) for name, change in changes.items()}
    prepare()
    if failing := try_out():
        sys.exit(f"without any change these fail: {' '.join(failing)}")
    unnoticed = []
    for name in arguments.name or changes:
        change = changes[name]
        path = COPY / found[name]
        before = path.read_text()
        path.write_text(before.replace(change["old"], change["new"]))
        failing = try_out()
        path.write_text(before)
        print(
            f"{name} ({found[name].relative_to(CORE)}): {' '.join(failing) or 'NOBODY NOTICES'}", flush=True
        )
        if not failing:
            unnoticed.append(name)
        if arguments.write:
            write(name, failing)
    tried = arguments.name or changes
    files = {found[name] for name in tried}
    print(
        f"{len(tried)} changes in {len(files)} files; {len(unnoticed)} are not noticed {' '.join(unnoticed)}"
    )
    sys.exit(bool(unnoticed))


def place(name: str, change: dict[str, str]) -> Path:
    """Find the file in which a change is made."""
    folder = ROOT / CORE / change.get("under", RULES)
    texts = {path: path.read_text() for path in folder.rglob("*.rs")}
    files = [path for path, text in texts.items() for _ in range(text.count(change["old"]))]
    if len(files) != 1:
        sys.exit(f"{name}: its old text is there {len(files)} times, not once: {change['old']!r}")
    return files[0].relative_to(ROOT)


def prepare() -> None:
    """Copy what is built and what is run. Files that are the same stay: cargo goes by their times."""
    folders = ("crates", "bed/player", "python/pagecast", "tests/golden")
    names = {Path("Cargo.toml"), Path("Cargo.lock")}
    for folder in folders:
        files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
        names |= {path.relative_to(ROOT) for path in files if path.suffix not in (".pyc", ".so")}
    for name in sorted(names):
        before = (ROOT / name).read_bytes()
        copy = COPY / name
        if not copy.exists() or copy.read_bytes() != before:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(before)
    for path in [path for folder in folders for path in (COPY / folder).rglob("*")]:
        if path.is_file() and path.relative_to(COPY) not in names:
            path.unlink()


def try_out() -> list[str]:
    """Build the copy and name the timelines that are not what they were."""
    environment = os.environ | BUILD | {"PYO3_PYTHON": sys.executable}
    command = ["cargo", "build", "--release", "--quiet", "--package", "pagecast-py"]
    built = subprocess.run(command, cwd=COPY, env=environment, capture_output=True, text=True, check=False)
    if built.returncode:
        sys.exit(f"it does not build:\n{built.stderr}")
    shutil.copyfile(COPY / "target/release/lib_core.so", COPY / "python/pagecast/_core.abi3.so")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--quiet", "--tb=no", "-rf", TEST]
    environment = os.environ | {"PYTHONPATH": str(COPY / "python")}
    try:
        run = subprocess.run(
            command,
            cwd=COPY,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return ["(never ends)"]
    if run.returncode > 1:
        return ["(dies)"]
    return re.findall(r"^FAILED .*\[(\w+)\]", run.stdout, re.MULTILINE)


def write(name: str, failing: list[str]) -> None:
    """Write into the table which timelines fail."""
    head, text = re.split(rf"(?m)^(?=\[{re.escape(name)}\]$)", TABLE.read_text())
    line = f'fails = "{" ".join(failing)}"'
    changed = re.sub(r'(?m)^fails = ".*"$', lambda _: line, text, count=1)
    TABLE.write_text(head + changed)


if __name__ == "__main__":
    main()
