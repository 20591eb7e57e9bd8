"""Budgets of users and roles hold across asks; a call that is cut off, and one without a price."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from deadlines import out_of_time
from filing import app_of
from stage import DAY_NS, Player, Stage

import redask
from redask.cli.answer_sources import show_sources
from redask.core import clauses, errors
from redask.core.rules import cost

FERRY = "When does the ferry leave?"
EACH = '[[budget]]\nroles = ["intern"]\nper = "user"\nday_usd = 0.5\nmonth_usd = 1.0\n'
ALL = '[[budget]]\nroles = ["*"]\nper = "role"\nday_usd = 0.5\n'


def user(db: redask.OpenDatabase, name: str, role: str) -> redask.OpenDatabase:
    if name not in {each.name for each in db.users()}:
        db.add_user(name, role=role)
    return db.signed_in(db.make_token(name))


def player(cost_usd: float | None = 0.25) -> Player:
    return Player("openai", ["At nine [^1]."], cost=cost_usd)


def refused(db: redask.OpenDatabase) -> str:
    with pytest.raises(errors.LimitExceeded) as caught:
        db.ask(FERRY)
    assert caught.value.limit == "budget"
    return str(caught.value)


def test_each_user_has_a_day_and_a_month(harbour: Stage) -> None:
    harbour.clock.now = 20_000 * DAY_NS  # the fourth day of a month
    played = player()
    db = harbour.open(played, toml=EACH)
    mia, bo = user(db, "mia", "intern"), user(db, "bo", "intern")
    for _ in range(2):
        mia.ask(FERRY)
    assert "the user 'mia' for one day allows 0.5" in refused(mia)
    bo.ask(FERRY)  # has a budget of their own
    db.ask(FERRY)  # and no rule is about the owner
    assert len(played.calls) == 4
    harbour.clock.now += DAY_NS
    for _ in range(2):
        mia.ask(FERRY)
    harbour.clock.now += DAY_NS
    assert "for one month allows 1.0" in refused(mia)
    harbour.clock.now += 30 * DAY_NS
    mia.ask(FERRY)
    [row] = [each.row for each in mia.audit(2)][1:]
    assert "'budget'" in str(row["errors"])


def test_a_role_has_one_budget_for_all_of_it(harbour: Stage) -> None:
    db = harbour.open(player(), toml=ALL)
    mia, bo, zoe = user(db, "mia", "intern"), user(db, "bo", "intern"), user(db, "zoe", "lead")
    mia.ask(FERRY)
    bo.ask(FERRY)
    assert "the role 'intern' for one day" in refused(mia)
    zoe.ask(FERRY)


def test_a_tenant_has_its_own(harbour: Stage) -> None:
    db = harbour.open(player(), toml=ALL)
    for _ in range(2):
        db.ask(FERRY)
    refused(db)
    with redask.open(harbour.directory, tenant="acme") as other:
        other.put("notes", [{"id": 1, "text": "The ferry to Amrum leaves at nine."}])
    app = app_of(db)
    answer = asyncio.run(
        app.engine.ask(
            clauses.from_options(FERRY, {}, ""),
            redask.Caller("acme", "x", "owner"),
        )
    )
    assert answer.provider == "openai"


def test_a_price_that_nobody_knows_breaks_every_budget(harbour: Stage) -> None:
    played = player(None)
    db = harbour.open(played, toml=ALL)
    assert "the price is unknown" in refused(db)
    assert played.calls == []


class Endless(Player):
    """Costs a dollar a token, and never answers."""

    def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        return float(prompt_tokens + completion_tokens)

    async def complete(self, *given: Any, **rest: Any) -> Any:
        self.calls.append(given)
        await out_of_time()


@pytest.mark.parametrize("toml", ["", ALL.replace("0.5", "1e9")])
def test_a_call_that_is_cut_off_is_settled_at_what_it_may_have_cost(
    harbour: Stage, toml: str
) -> None:
    cut = Endless("openai", [])
    db = harbour.open(cut, toml=f"[ask]\ntimeout_ms = 60000\nmax_completion_tokens = 77\n{toml}")
    with pytest.raises(errors.DeadlineExceeded):
        db.ask(FERRY)
    app, [entry] = app_of(db), db.audit(1)
    [(prompt, *_)] = cut.calls
    most = len((prompt.system + prompt.user).encode()) + 64 + 77
    assert entry.row["cost_usd"] == most
    assert entry.row["completion_tokens"] == 0
    assert app.backend.ledger.total("local", cost.day_of(app.clock())) == most * 10**9


def test_an_unknown_price_is_told_and_never_shown_as_nothing(
    harbour: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    db = harbour.open(player(None))
    answer = db.ask(FERRY)
    assert [each.kind for each in answer.validation.warnings] == ["price_unknown"]
    show_sources(answer)
    said = capsys.readouterr().out
    assert "price unknown" in said
    assert "$0" not in said
    [line] = db.spending(1)
    assert (line["spent_usd"], line["unpriced_calls"]) == (0.0, 1)


def test_a_database_of_before_keeps_what_was_spent(tmp_path: Path) -> None:
    import sqlite3

    from redask.stores.relational.ledger import RelationalLedger
    from redask.stores.sqlite import calls_migrations, migrations
    from redask.stores.sqlite.connection import Database

    file = tmp_path / calls_migrations.CALLS_FILE
    with sqlite3.connect(file) as connection:
        migrations.upgrade(connection, "calls", calls_migrations.MIGRATIONS[:3])
        connection.execute("INSERT INTO spent VALUES ('t', 5, 'openai', 700)")
        connection.execute("INSERT INTO reserved VALUES (1, 't', 5, 'groq', 30)")
    connection.close()
    opened = Database(file, busy_timeout=5, migrations=calls_migrations.MIGRATIONS)
    ledger = RelationalLedger(opened)
    assert ledger.total("t", 5) == 730
    ledger.settle(1, 20)
    assert [(each.account.provider, each.spent) for each in ledger.report(0)] == [
        ("groq", 2e-08),
        ("openai", 7e-07),
    ]
    opened.close()
