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
    was, found = _lines(before), _lines(now)
    differing = [key for key in {**was, **found} if was.get(key) != found.get(key)]
    shown = [_difference(key, was.get(key, ""), found.get(key, "")) for key in differing[:5]]
    told = f"{len(differing)} recorded things differ (if none, their order does):\n"
    pytest.fail(told + "\n".join(shown), pytrace=False)


def _lines(text: str) -> dict[str, str]:
    """What was recorded, by its key, as it stands in the file."""
    read = json.JSONDecoder().raw_decode
    return {read(line)[0]: line.removesuffix(",") for line in text.strip("\n").split("\n")[1:-1]}


def _difference(key: str, was: str, now: str) -> str:
    """The first place where two lines differ, with a little around it."""
    pairs = enumerate(zip(was, now, strict=False))
    start = max(0, next((at for at, (a, b) in pairs if a != b), min(len(was), len(now))) - 80)
    return f"{key}\n  was …{was[start : start + 300]}…\n  now …{now[start : start + 300]}…"


def test_what_varies_is_left_out_and_nothing_else() -> None:
    kept = '{"seed": 1763000000000000000, "answer_hash": "' + "a" * 64 + '"}'
    assert surface.normalise(kept) == kept
    row = '{"ts":1763000000000000000,"hash":"' + "b" * 64 + '"}'
    assert surface.normalise(row) == '{"ts":0,"hash":"<hash>"}'
    assert surface.normalise(json.dumps(row)) == json.dumps('{"ts":0,"hash":"<hash>"}')
