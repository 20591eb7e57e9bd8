"""What `import redask` shows of itself."""

import subprocess
import sys

import redask


def test_dir_lists_every_public_name() -> None:
    """In a process of its own: a name that was used once is there in any case."""
    code = "import redask; print(*dir(redask))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(redask.__all__) <= set(shown.stdout.split())


def test_dir_imports_nothing_heavy() -> None:
    code = "import redask, sys; dir(redask); sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
