"""What is installed from the wheel, in a clean environment, is whole: it runs the demo.

The environment sees the packages that these tests run with, so that nothing is downloaded; redask
itself comes from the wheel.
"""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from waiting import SECONDS

ROOT = Path(__file__).parent.parent
NOT_CODE = (  # files that are no modules and that redask does not run without
    "py.typed",
    "evaluation/sample/company.json",
    "stores/columnar/catalogue/relations.txt",
    "server/grpc/generated/redask.proto",
    "server/http/page/index.html",
    "server/http/page/main.js",
    "server/http/page/style.css",
)


def ran(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a program printed, without our paths and settings."""
    ours = ("PYTHON", "REDASK", "COV", "PYTEST")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [*map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        timeout=5 * SECONDS,
        cwd=cwd,
        env={**env, "REDASK_EMBEDDER_NAME": "none"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    ran(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place)
    [made] = place.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel in it."""
    place = tmp_path_factory.mktemp("clean")
    venv.create(place, symlinks=True)
    python = place / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    ran(*pip, "install", "--no-deps", "--no-index", wheel)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(ran(python, "-c", code).strip())
    # What this names is searched, but what stands in .pth files there is not read: the editable
    # redask of these tests stays unseen.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


def test_the_wheel_holds_every_module_and_what_they_read(wheel: Path) -> None:
    source = ROOT / "src"
    modules = {path.relative_to(source).as_posix() for path in source.rglob("*.py")}
    documents = (source / "redask" / "evaluation" / "sample" / "documents").iterdir()
    needed = {f"redask/{name}" for name in NOT_CODE}
    needed |= {path.relative_to(source).as_posix() for path in documents}
    held = set(zipfile.ZipFile(wheel).namelist())
    assert modules | needed <= held
    assert not [name for name in held if name.startswith(("tests", "benchmarks", "tools"))]


def test_the_demo_runs_from_the_wheel_in_a_clean_environment(clean: Path, tmp_path: Path) -> None:
    code = "import redask; print(redask.__file__)"
    found = Path(ran(clean / "bin" / "python", "-c", code, cwd=tmp_path).strip())
    assert found.is_relative_to(clean)
    said = ran(clean / "bin" / "redask", "--db", tmp_path / "demo", "demo", cwd=tmp_path)
    assert "country: Ethiopia" in said
    assert "[^1]" in said
    assert "all as written" in said
