"""Lets the tests here import `tests.index.memory_store` and `tests.index.texts`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
