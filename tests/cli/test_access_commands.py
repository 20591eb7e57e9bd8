"""Users, tokens and policies on the command line, and every command as whoever signs in."""

import ast
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import redask
from redask import cli
from redask.cli import main
from redask.core.access.credentials import REFUSED
from redask.evaluation import sample

RULE = {"roles": ["support"], "rows": "country = :user.country", "hide": ["certificate"]}
POLICY = {"read": [RULE]}
ASKED = "Which certificate has Yirga Union?"


@pytest.fixture
def company(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "REDASK_DB", "REDASK_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    directory = tmp_path / "company"
    with redask.open(directory) as db:
        sample.load(db)
    return directory


def run(directory: Path, *words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["--db", str(directory), *words], input=stdin)


def fine(directory: Path, *words: str, stdin: str | None = None) -> str:
    result = run(directory, *words, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout


def token_of(directory: Path, name: str, *more: str) -> str:
    fine(directory, "user", "add", name, *more)
    return fine(directory, "token", "make", name).strip()


def test_users_are_added_listed_changed_and_removed(company: Path) -> None:
    words = ("--role", "support", "--attribute", "region=north", "--attribute", "level=3")
    assert fine(company, "user", "add", "mia", *words) == 'mia  support  level=3 region="north"\n'
    fine(company, "user", "set", "mia", "--attribute", 'areas=["a", "b"]', "--without", "level")
    fine(company, "user", "set", "mia", "--role", "boss")
    assert json.loads(fine(company, "user", "list", "--json")) == [
        {"attributes": {"areas": ["a", "b"], "region": "north"}, "name": "mia", "role": "boss"}
    ]
    assert fine(company, "user", "list") == 'mia  boss  areas=["a","b"] region="north"\n'
    assert fine(company, "user", "remove", "mia") == "removed mia\n"
    assert fine(company, "user", "list") == ""


def test_a_token_is_printed_once_listed_without_its_secret_and_revoked(company: Path) -> None:
    fine(company, "user", "add", "mia", "--role", "support")
    made = run(company, "token", "make", "mia", "--expires", "30d")
    token = made.stdout.strip()
    assert token.startswith("redask_")
    assert "only time" in made.stderr
    _, ident, secret = token.split("_")
    listed = fine(company, "token", "list")
    assert f"{ident}  mia  made " in listed
    assert "expires " in listed
    assert secret not in listed + fine(company, "token", "list", "--json")
    fine(company, "--token", token, "search", "late")
    fine(company, "token", "revoke", ident)
    assert "revoked" in fine(company, "token", "list")
    assert run(company, "--token", token, "search", "late").exit_code == 3


@pytest.mark.parametrize("form", ["policy.json", "policy.toml", "-", "- as TOML"])
def test_a_policy_is_read_from_a_file_or_standard_input(
    company: Path, tmp_path: Path, form: str
) -> None:
    toml = '[[read]]\nroles = ["support"]\nrows = "country = :user.country"\n'
    toml += 'hide = ["certificate"]\n'
    written = toml if "toml" in form.lower() else json.dumps(POLICY)
    file = tmp_path / form
    if form.startswith("-"):
        fine(company, "policy", "set", "suppliers", "-", stdin=written)
    else:
        file.write_text(written, encoding="utf-8")
        fine(company, "policy", "set", "suppliers", str(file))
    assert json.loads(fine(company, "policy", "show", "suppliers")) == POLICY
    assert json.loads(fine(company, "policy", "list", "--json")) == {"suppliers": POLICY}
    assert fine(company, "policy", "list") == "suppliers  read by support\n"
    report = json.loads(fine(company, "doctor", "--json"))
    assert report["index"]["pending"] == 0
    fine(company, "policy", "remove", "suppliers")
    assert "no policies" in fine(company, "policy", "list")


def test_check_shows_what_somebody_would_see_and_writes_nothing(company: Path) -> None:
    fine(company, "user", "add", "mia", "--role", "support", "--attribute", "country=Ethiopia")
    written = json.dumps(POLICY)
    checking = ("policy", "check", "suppliers", "-")
    assert fine(company, *checking, stdin=written) == "the policy is valid\n"
    shown = fine(company, *checking, "--user", "mia", stdin=written)
    with redask.open(company) as db:
        held = next(
            each["rows_in_all"] for each in db.preview_policy("suppliers", role="x")["collections"]
        )
    assert shown == (
        f"user mia, role support\n  suppliers: 1 of {held} rows; hidden: certificate\n"
    )
    assert fine(company, *checking, "--role", "client", stdin=written).endswith("closed\n")
    assert fine(company, *checking, "--role", "support", stdin=written).endswith("closed\n")
    assert fine(company, "policy", "list", "--json") == "{}\n"
    fine(company, "policy", "set", "suppliers", "-", stdin=written)
    [planned, now] = [
        json.loads(fine(company, *words, "--user", "mia", "--json", stdin=written))["collections"]
        for words in (checking, ("policy", "check", "suppliers"))
    ]
    assert planned == now
    everything = json.loads(fine(company, "policy", "check", "--user", "mia", "--json"))
    assert planned[0] in everything["collections"]
    assert len(everything["collections"]) > 3


def test_every_command_is_for_whoever_the_token_names(
    company: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = token_of(company, "mia", "--role", "support", "--attribute", "country=Ethiopia")
    fine(company, "policy", "set", "suppliers", "-", stdin=json.dumps(POLICY))
    assert "fair trade" in fine(company, "ask", ASKED, "--json")
    monkeypatch.setenv("REDASK_TOKEN", token)
    words: tuple[str, ...]
    for words in (
        ("ask", ASKED, "--json"),
        ("ask", ASKED, "--stream"),
        ("ask", ASKED, "--explain"),
        ("explain", ASKED),
        ("search", "Yirga Union certificate", "--json", "--explain"),
    ):
        shown = fine(company, *words)
        assert "fair trade" not in shown, words
    assert "suppliers/2" in fine(company, "search", "Yirga Union", "--json")
    mine = json.loads(fine(company, "audit", "list", "--json"))
    assert {each["row"]["user"] for each in mine} == {"mia"}
    assert '"user":"local"' not in fine(company, "audit", "export")
    for words in (
        ("user", "list"),
        ("user", "add", "eve", "--role", "owner"),
        ("user", "set", "mia", "--role", "owner"),
        ("user", "remove", "mia"),
        ("token", "list"),
        ("token", "make", "mia"),
        ("policy", "list"),
        ("policy", "remove", "suppliers"),
        ("policy", "check", "--role", "support"),
        ("audit", "verify"),
        ("doctor", "--rebuild-index"),
        ("demo",),
    ):
        result = run(company, *words)
        assert (result.exit_code, result.stdout) == (3, ""), words
        assert "redask: the role 'support' may" in result.stderr, words


@pytest.mark.parametrize("bad", ["", "nonsense", "redask_00_00"])
def test_a_bad_token_ends_every_command_with_code_3(company: Path, bad: str) -> None:
    for words in (("ask", ASKED), ("audit",), ("user", "list"), ("doctor",), ("demo",)):
        result = run(company, "--token", bad, *words)
        assert (result.exit_code, result.stdout) == (3, ""), words
        assert result.stderr == f"redask: {REFUSED}\n"
    told = run(company, "--token", bad, "user", "list", "--json")
    assert json.loads(told.stdout)["error"]["kind"] == "unauthenticated"


def test_another_tenant_is_another_world(company: Path) -> None:
    fine(company, "--tenant", "acme", "user", "add", "tom", "--role", "owner")
    assert fine(company, "user", "list") == ""
    token = fine(company, "--tenant", "acme", "token", "make", "tom").strip()
    assert fine(company, "--token", token, "search", "late") == "nothing found\n"
    assert run(company, "--tenant", "local", "--token", token, "search", "late").exit_code == 3
    assert run(company, "--tenant", "a\x1fb", "search", "late").exit_code == 2


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (("policy", "set", "t", "-"), '{"read": 1}', "at read: is a list of at most 1000 rules"),
        (("policy", "set", "t", "-"), "{", "not JSON"),
        (("policy", "set", "t", "-"), '{"read": [], "read": []}', "the key read stands twice"),
        (("policy", "set", "t", "-"), "read = ", "not TOML"),
        (("policy", "set", "t", "-"), "\udcff", "not UTF-8"),
        (("policy", "set", "t", "-"), " " * (1 << 20) + "{}", "at most 1048576 bytes"),
        (("policy", "set", "red_x", "-"), '{"read": []}', "reserved"),
        (("policy", "check", "t", "-"), '{"read": [{"roles": ["a"], "rows": "a ="}]}', "column 4"),
        (("policy", "check"), None, "name a FILE"),
        (("policy", "check", "--user", "nobody"), None, "no user nobody"),
        (("policy", "check", "--user", "a", "--role", "b"), None, "either a user or a role"),
        (("policy", "show", "t"), None, "has no policy"),
        (("policy", "remove", "t"), None, "has no policy"),
        (("user", "add", "mia", "--role", "x", "--attribute", "y"), None, "NAME=VALUE"),
        (("user", "add", "local", "--role", "x"), None, "choose another"),
        (("user", "set", "mia", "--without", "y"), None, "no attribute y"),
        (("user", "remove", "mia"), None, "no user mia"),
        (("token", "make", "mia"), None, "no user mia"),
        (("token", "make", "mia", "--expires", "soon"), None, "does not start with a number"),
        (("token", "revoke", "x"), None, "no token x"),
    ],
)
def test_bad_input_is_told_in_one_line_with_code_2(
    company: Path, words: tuple[str, ...], stdin: str | None, said: str
) -> None:
    given = None if stdin is None else stdin.encode("utf-8", "surrogateescape")
    result = CliRunner().invoke(main, ["--db", str(company), *words], input=given)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_no_command_opens_a_database_past_the_sign_in() -> None:
    """`eval` makes one of its own, in a temporary directory; transports authenticate."""
    others = {f"{name}_command.py" for name in ("eval", "serve", "rpc", "mcp")}
    folder = Path(cli.__file__).parent
    for file in sorted(folder.glob("*_command.py")):
        names = {
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.Name | ast.Attribute)
        }
        opens = names & {"open_database", "open_async", "aopen"}
        assert not opens or file.name in others, file.name
