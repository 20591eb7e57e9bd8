"""`redask check`: what is found, the exit code, and files that cannot be read as sources."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from redask.cli import main

FERRY = "The ferry leaves at 9:15 from pier 4."
RIGHT, WRONG = "The ferry leaves at 9:15 [^1].", "The ferry leaves at 10:45 [^1]."


def check(
    folder: Path, answer: str, sources: str | bytes, *more: str, name: str = "sources.txt"
) -> Result:
    (folder / "answer.md").write_text(answer, encoding="utf-8")
    content = sources.encode() if isinstance(sources, str) else sources
    (folder / name).write_bytes(content)
    words = ["check", "--answer", str(folder / "answer.md"), "--sources", str(folder / name)]
    return CliRunner().invoke(main, [*words, *more])


def test_an_answer_that_its_sources_support_ends_with_0(tmp_path: Path) -> None:
    result = check(tmp_path, RIGHT, FERRY)
    assert (result.exit_code, result.output) == (0, "1 claim: 1 supported\n")


def test_a_finding_ends_with_5_and_names_claim_token_and_passage(tmp_path: Path) -> None:
    result = check(tmp_path, f"{WRONG} It is blue.", FERRY)
    assert result.exit_code == 5
    assert "The ferry leaves at 10:45. [^1]" in result.output
    assert "not in the sources: 10:45" in result.output
    assert f"[^1] {FERRY}" in result.output
    assert "uncited: It is blue." in result.output
    assert result.output.splitlines()[-1].startswith("2 claims: ")


def test_json_is_the_result_of_the_python_function(tmp_path: Path) -> None:
    from redask import check as from_python

    result = check(tmp_path, WRONG, FERRY, "--json")
    assert result.exit_code == 5
    assert json.loads(result.output) == from_python(WRONG, [FERRY]).to_dict()


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("sources.json", json.dumps(["x", {"text": FERRY}])),
        ("sources.txt", json.dumps(["x", FERRY], indent=2)),
        ("sources.jsonl", f'"x"\n\n{json.dumps({"payload": {"text": FERRY}})}\n'),
        ("sources", f'{{"text": "x"}}\n{json.dumps({"urn": "u", "text": FERRY})}'),
        ("sources.ndjson", f'"x"\r\n{json.dumps(FERRY)}\r\n'),
    ],
)
def test_sources_are_a_list_or_lines_of_json(tmp_path: Path, name: str, sources: str) -> None:
    result = check(tmp_path, RIGHT.replace("1]", "2]"), sources, name=name)
    assert (result.exit_code, result.output) == (0, "1 claim: 1 supported\n")


@pytest.mark.parametrize("sources", [FERRY, f"[1] {FERRY}", f"{{a}} {FERRY}", f"\ufeff{FERRY}"])
def test_any_other_file_is_one_text(tmp_path: Path, sources: str) -> None:
    assert check(tmp_path, RIGHT, sources).exit_code == 0


def test_either_file_may_be_standard_input_but_not_both(tmp_path: Path) -> None:
    (tmp_path / "sources.txt").write_text(FERRY)
    (tmp_path / "answer.txt").write_text(RIGHT)
    words = ["check", "--answer", "-", "--sources", str(tmp_path / "sources.txt")]
    assert CliRunner().invoke(main, words, input=RIGHT).exit_code == 0
    words = ["check", "--answer", str(tmp_path / "answer.txt"), "--sources", "-"]
    assert CliRunner().invoke(main, words, input=json.dumps([FERRY])).exit_code == 0
    both = CliRunner().invoke(main, ["check", "--answer", "-", "--sources", "-"], input="x")
    assert (both.exit_code, "only one of" in both.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "sources", "said"),
    [
        ("s.json", '["a",\n"b', "s.json, line 2: not JSON: Unterminated string"),
        ("s.json", '{"text": "a"}', "s.json: expected a list of sources"),
        ("s.json", '["a", 1]', "s.json, source 2: it is neither a text nor an object"),
        ("s.json", '["\\ud800"]', "s.json, source 1: it holds half a character"),
        ("s.json", "[" * 200_000, "s.json, line 1: not JSON"),
        ("s.jsonl", '"a"\n\n{"b": 1}', "s.jsonl, line 3: it needs one of `text` and `payload`"),
        ("s.jsonl", '"a"\n"b', "s.jsonl, line 2: not JSON: Unterminated string"),
        ("s.txt", b"\xff", "s.txt is not UTF-8: invalid start byte at byte 0"),
    ],
)
def test_bad_sources_are_told_in_one_line_with_file_and_place(
    tmp_path: Path, name: str, sources: str | bytes, said: str
) -> None:
    result = check(tmp_path, RIGHT, sources, name=name)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert result.stderr.count("\n") == 1


def test_a_file_that_is_not_there_is_told_and_standard_input_has_a_name(tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text(RIGHT)
    words = ["check", "--answer", str(tmp_path / "answer.txt"), "--sources"]
    missing = CliRunner().invoke(main, [*words, str(tmp_path / "nothing")])
    assert (missing.exit_code, "cannot be read: No such file" in missing.stderr) == (2, True)
    broken = CliRunner().invoke(main, [*words, "-"], input='["a')
    assert "standard input, line 1: not JSON" in broken.stderr


def test_what_a_terminal_would_obey_is_escaped(tmp_path: Path) -> None:
    result = check(tmp_path, "The ferry \x1b[2J leaves at 10:45 [^1].", f"{FERRY}\x07")
    assert result.exit_code == 5
    assert "\x1b" not in result.output
    assert "\x07" not in result.output


def test_a_long_claim_is_cut(tmp_path: Path) -> None:
    result = check(tmp_path, f"The ferry {'and the ship ' * 60}leave at 10:45 [^1].", FERRY)
    assert max(map(len, result.output.splitlines())) < 250
