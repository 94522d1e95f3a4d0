"""Build the plug-in against libpagecast as cargo has built it, for tests and benches."""

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def build(folder: Path, profile: str) -> str | None:
    """Configure and compile.

    Parameters
    ----------
    folder : Path
        Where the programs go.
    profile : str
        "debug" or "release": of libpagecast.

    Returns
    -------
    str or None
        Why it cannot be built, or nothing.

    Raises
    ------
    subprocess.CalledProcessError
        It does not compile.
    """
    for program in ("c++", "cargo", "cmake", "pkg-config"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    found = subprocess.run(["pkg-config", "--atleast-version=3.32", "simgrid"], check=False)
    if found.returncode != 0:
        return "SimGrid 3.32 or later is not installed; on Debian: apt-get install libsimgrid-dev"
    cargo = ["cargo", "build", "--quiet", "--package", "pagecast-capi"]
    subprocess.run([*cargo, *(["--release"] if profile == "release" else [])], check=True, cwd=ROOT)
    library = f"-DPAGECAST_BUILD={ROOT / 'target' / profile}"
    for command in (
        ["cmake", "-S", str(HERE), "-B", str(folder), library],
        ["cmake", "--build", str(folder), "--parallel", "2"],
    ):
        subprocess.run(command, check=True, capture_output=True, text=True)
    return None
