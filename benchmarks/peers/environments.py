"""A virtual environment for each contestant: `ready(home, name)` → its Python.

Made once, from `requirements-NAME.txt` (exact versions, by name only); made again when that file
changes. redask and raw run where this runs. What cannot be installed is `Uninstallable`, with the
last line that pip printed.
"""

import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
SECONDS = 900
MOST_GB = 3.0


class Uninstallable(Exception):
    """A contestant's packages are not to be had."""


def requirements(name: str) -> Path:
    """The file that names a contestant's packages; redask and raw have none."""
    return HERE / f"requirements-{name}.txt"


def ready(home: Path, name: str) -> Path:
    """The Python of a contestant's environment, made if need be."""
    wanted = requirements(name)
    if not wanted.is_file():
        return Path(sys.executable)
    place = home / "venvs" / name
    python, stamp = place / "bin" / "python", place / "installed.txt"
    text = wanted.read_text(encoding="utf-8")
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == text:
        return python
    venv.create(place, with_pip=True, clear=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        done = subprocess.run(
            [*command, "-r", str(wanted)],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Uninstallable(f"pip took more than {SECONDS} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise Uninstallable(lines[-1] if lines else f"pip ended with {done.returncode}")
    size = sum(file.lstat().st_size for file in place.rglob("*") if file.is_file()) / 1e9
    if size > MOST_GB:
        raise Uninstallable(f"its packages take {size:.1f} GB, more than {MOST_GB:.0f}")
    stamp.write_text(text, encoding="utf-8")
    return python
