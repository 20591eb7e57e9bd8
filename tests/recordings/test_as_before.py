"""Nothing a user sees has changed since the recordings were made; see record.py."""

import json
from pathlib import Path

import pytest
import surface


@pytest.fixture(scope="module")
def anew(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with every section as it is now."""
    into = tmp_path_factory.mktemp("anew")
    surface.collect(into, tmp_path_factory.mktemp("place"))
    return into


@pytest.mark.parametrize("section", surface.SECTIONS)
def test_everything_is_as_it_was_recorded(anew: Path, section: str) -> None:
    before = (surface.RECORDED / f"{section}.json").read_text(encoding="utf-8")
    now = (anew / f"{section}.json").read_text(encoding="utf-8")
    if now == before:
        return
    was, found = json.loads(before), json.loads(now)
    differing = [key for key in {**was, **found} if was.get(key) != found.get(key)]
    shown = [f"{key}\n  was {was.get(key)!r}\n  now {found.get(key)!r}" for key in differing[:3]]
    pytest.fail(f"{len(differing)} differ, the first of them:\n" + "\n".join(shown), pytrace=False)


def test_what_varies_is_left_out_and_nothing_else() -> None:
    kept = '{"seed": 1763000000000000000, "answer_hash": "' + "a" * 64 + '"}'
    assert surface.normalise(kept) == kept
    row = '{"ts":1763000000000000000,"hash":"' + "b" * 64 + '"}'
    assert surface.normalise(row) == '{"ts":0,"hash":"<hash>"}'
    assert surface.normalise(json.dumps(row)) == json.dumps('{"ts":0,"hash":"<hash>"}')
