"""Embedding elsewhere is priced, capped, booked and allowed like a completion."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from embedding_host import EmbeddingHost, embedded, hosting
from waiting import until_true

import redask
from redask.api.sync import open_async
from redask.app import build
from redask.core import errors
from redask.core.model import Ask, Caller
from redask.core.settings import load
from redask.embedding.models import openai_embeddings
from redask.embedding.models.openai_embeddings import OpenAiCompatible, RemoteModel
from redask.engine.spending.embedding_meter import EmbeddingBill, LedgerMeter
from redask.engine.spending.payers import Payer, payer_in_force, paying

PRICED = '[ask.prices.custom."m"]\ninput = 2.0\noutput = 0\n'  # 2 $ for a million tokens
ROWS = [{"id": 1, "text": "The ferry leaves at nine."}, {"id": 2, "text": "The bus is late."}]
QUESTION = "When does the ferry leave?"
OTHER = "Who missed the ferry that left at nine?"
TOKENS = 500
USD = 0.001  # of 500 tokens


def counting(body: dict[str, Any]) -> tuple[int, bytes]:
    """A host that says how many tokens it read."""
    status, content = embedded(body)
    return status, json.dumps({**json.loads(content), "usage": {"prompt_tokens": TOKENS}}).encode()


@contextmanager
def opened(
    path: Path, written: str = PRICED, reply: Any = counting
) -> Iterator[tuple[redask.OpenDatabase, EmbeddingHost]]:
    with hosting() as host:
        host.reply = reply
        chosen = f'[embedder]\nname = "openai_compatible"\nbase_url = "{host.url}"\nmodel = "m"\n'
        with redask.open(path / "db", settings=load(written, {}, chosen)) as db:
            yield db, host


def spent(db: redask.OpenDatabase) -> dict[str, tuple[float, float, int]]:
    return {
        each["provider"]: (each["spent_usd"], each["reserved_usd"], each["unpriced_calls"])
        for each in db.spending()
    }


def test_what_is_written_is_booked_and_what_is_asked_is_in_its_row(tmp_path: Path) -> None:
    with opened(tmp_path) as (db, _):
        db.put("notes", ROWS)
        assert spent(db) == {"embedder:custom": (USD, 0.0, 0)}
        answer = db.ask(QUESTION, using="scripted")
        assert answer.cost_usd == USD
        assert db.audit(1)[0].row["cost_usd"] == USD
        assert db.audit(1)[0].row["prompt_tokens"] == answer.prompt_tokens < TOKENS
        assert spent(db)["embedder:custom"] == (2 * USD, 0.0, 0)
        db.explain(QUESTION)  # what was found for the ask is remembered
        assert spent(db)["embedder:custom"] == (2 * USD, 0.0, 0)
        db.search(QUESTION)
        db.explain(OTHER)
        assert spent(db)["embedder:custom"] == (4 * USD, 0.0, 0)


def test_the_lines_that_are_compared_for_an_answer_are_in_its_row(tmp_path: Path) -> None:
    with opened(tmp_path) as (db, host):
        db.put("notes", ROWS)
        before = len(host.calls)
        answer = db.ask(QUESTION, using="extractive", plan="off")
        made = len(host.calls) - before
        assert made >= 2  # the question, and lines with it
        assert answer.cost_usd == pytest.approx(made * USD)
        assert db.audit(1)[0].row["cost_usd"] == answer.cost_usd


def test_an_answer_from_the_cache_costs_nothing_until_something_is_written(tmp_path: Path) -> None:
    with opened(tmp_path) as (db, _):
        db.put("notes", ROWS)
        first = db.ask(QUESTION, using="scripted", cache={"ttl": "5m"})
        second = db.ask(QUESTION, using="scripted", cache={"ttl": "5m"})
        assert (first.cache_hit, second.cache_hit) == (False, True)
        assert second.cost_usd == db.audit(1)[0].row["cost_usd"] == 0.0
        db.delete("urn:reddb:row:notes/99")
        assert db.ask(QUESTION, using="scripted", cache={"ttl": "5m"}).cost_usd == 0.0
        db.put("elsewhere", [{"id": 1}])  # found anew, as before: the answer is still the cache's
        third = db.ask(QUESTION, using="scripted", cache={"ttl": "5m"})
        assert (third.cache_hit, third.cost_usd) == (True, USD)


def test_a_host_that_counts_nothing_is_estimated(tmp_path: Path) -> None:
    with opened(tmp_path, reply=embedded) as (db, _):
        db.put("notes", ROWS)
        [(usd, _, unpriced)] = spent(db).values()
        assert (0 < usd < USD, unpriced) == (True, 0)


def test_a_price_that_nobody_knows_is_said_and_never_zero(tmp_path: Path) -> None:
    with opened(tmp_path, "") as (db, _):
        db.put("notes", ROWS)
        assert spent(db) == {"embedder:custom": (0.0, 0.0, 1)}
        answer = db.ask(QUESTION, using="scripted")
        [told] = [each for each in answer.validation.warnings if each.kind == "price_unknown"]
        assert told.detail == "nobody knows what custom takes for m: it is not in cost"
        assert spent(db)["embedder:custom"] == (0.0, 0.0, 2)


CAP = "[ask]\ndaily_cost_cap_usd = {}\n"
BUDGET = '[[budget]]\nroles = ["*"]\nper = "user"\nday_usd = {}\n'


@pytest.mark.parametrize(("limit", "named"), [(CAP, "daily_cost_cap_usd"), (BUDGET, "budget")])
def test_beyond_a_cap_nothing_is_sent(tmp_path: Path, limit: str, named: str) -> None:
    with opened(tmp_path, limit.format(0.00205) + PRICED) as (db, host):
        db.put("notes", ROWS)
        assert len(host.calls) == 1
        db.ask(QUESTION, using="scripted")
        assert spent(db)["embedder:custom"] == (2 * USD, 0.0, 0)  # a paid reply is kept
        with pytest.raises(errors.LimitExceeded) as asked:
            db.ask(OTHER, using="scripted")
        with pytest.raises(errors.LimitExceeded) as written:
            db.put("notes", [{"id": 3, "text": "The train is never late. " * 4}])
        assert (asked.value.limit, written.value.limit) == (named, named)
        assert len(host.calls) == 2
        reasons: Any = db.audit(1)[0].row["errors"]
        assert [each["kind"] for each in reasons] == [named]
        assert db.doctor()["embedding"]["pending"] == 1  # written, and embedded another day


@pytest.mark.parametrize("limit", [CAP, BUDGET])
def test_an_unknown_price_breaks_every_cap(tmp_path: Path, limit: str) -> None:
    with opened(tmp_path, limit.format(1000)) as (db, host):
        with pytest.raises(errors.LimitExceeded, match="unknown"):
            db.put("notes", ROWS)
        assert not host.calls


ALLOW = '[[allow]]\nroles = ["owner"]\nproviders = ["custom"]\nmodels = ["m"]\n'
OTHERS = '[[allow]]\nroles = ["*"]\nproviders = ["scripted"]\n'


def test_who_may_not_use_the_embedder_sends_nothing_to_it(tmp_path: Path) -> None:
    with opened(tmp_path, ALLOW + OTHERS + PRICED) as (db, host):
        db.put("notes", ROWS)
        db.add_user("mia", role="clerk")
        mia = db.signed_in(db.make_token("mia"))
        assert len(host.calls) == 1
        for using in ("scripted", "extractive"):
            answer = mia.ask(QUESTION, using=using, plan="off")
            assert "ferry" in answer.sources_flat[0].payload
            [told] = [each for each in answer.validation.warnings if each.kind == "embedder_denied"]
            assert "the role 'clerk' may not use custom with 'm' to embed" in told.detail
            assert answer.cost_usd == 0.0
        assert [each.kind for each in mia.search(QUESTION).warnings] == ["embedder_denied"]
        assert len(host.calls) == 1
        assert db.ask(QUESTION, using="scripted").cost_usd == USD


def test_who_may_not_embed_what_is_written_is_told(tmp_path: Path) -> None:
    with opened(tmp_path, OTHERS) as (db, host):
        with pytest.raises(errors.Denied, match="to embed"):
            db.put("notes", ROWS)
        assert not host.calls


def test_an_ask_that_is_cut_off_while_it_embeds_costs_the_worst(tmp_path: Path) -> None:
    async def main(host: EmbeddingHost) -> float:
        chosen = f'[embedder]\nname = "openai_compatible"\nbase_url = "{host.url}"\nmodel = "m"\n'
        settings = load("[ask]\ntimeout_ms = 60000\n" + PRICED, {}, chosen)
        async with await open_async(tmp_path / "db", settings=settings) as db:
            await db.put("notes", ROWS)
            host.silent = True
            asking = asyncio.create_task(db.ask(QUESTION, using="scripted"))
            await until_true(lambda: len(host.calls) == 2)
            asking.cancel()
            await asyncio.wait([asking])
            [entry] = await db.audit(1)
            host.release()
            return float(str(entry.row["cost_usd"]))

    with hosting() as host:
        host.reply = counting
        cost = asyncio.run(main(host))
    worst = (len(QUESTION.encode()) + openai_embeddings._FRAME) * 2 / 1_000_000
    assert cost == pytest.approx(worst)


# --- one request ---------------------------------------------------------------------------------


@dataclass
class NotingMeter:
    """Notes how requests were settled."""

    noted: list[tuple[str, int]] = field(default_factory=list)

    def begin(self, most_tokens: int) -> "NotingMeter":
        self.noted.append(("begun", most_tokens))
        return self

    def settle(self, tokens: int) -> None:
        self.noted.append(("settled", tokens))

    def cut_off(self, most_tokens: int) -> None:
        self.noted.append(("cut off", most_tokens))


MOST = len("ferry") + openai_embeddings._FRAME


@pytest.mark.parametrize(
    ("reply", "ending"),
    [
        (counting, ("settled", TOKENS)),
        (embedded, ("settled", 1)),  # as estimated
        (lambda _: (500, b"{}"), ("settled", 0)),
        (lambda _: (401, b"{}"), ("settled", 0)),
        (lambda _: (200, b"{}"), ("cut off", MOST)),  # it was read, and nobody knows
        (lambda _: (200, b"[]"), ("cut off", MOST)),
    ],
    ids=["counted", "not counted", "5xx", "4xx", "no vectors", "no object"],
)
def test_how_a_request_is_settled(reply: Any, ending: tuple[str, int]) -> None:
    with hosting() as host:
        host.reply = reply
        made = OpenAiCompatible(RemoteModel(host.url, "m"))
        made.meter = meter = NotingMeter()
        try:
            made.embed(["ferry"])
        except errors.ProviderFailed:
            assert reply not in (counting, embedded)
    assert meter.noted == [("begun", MOST), ending]


@pytest.mark.parametrize("count", [True, -1, "7", None, 1.5])
def test_a_count_that_is_none_is_estimated(count: object) -> None:
    def reply(body: dict[str, Any]) -> tuple[int, bytes]:
        status, content = embedded(body)
        return status, json.dumps(
            {**json.loads(content), "usage": {"prompt_tokens": count}}
        ).encode()

    with hosting() as host:
        host.reply = reply
        made = OpenAiCompatible(RemoteModel(host.url, "m"))
        made.meter = meter = NotingMeter()
        made.embed(["ferry"])
    assert meter.noted[-1] == ("settled", 1)


def test_a_host_that_says_nothing_may_have_read_it() -> None:
    with hosting() as host:
        host.silent = True
        made = OpenAiCompatible(RemoteModel(host.url, "m"), timeout=0.2)
        made.meter = meter = NotingMeter()
        with pytest.raises(errors.ProviderFailed):
            made.embed(["ferry"])
    assert meter.noted[-1] == ("cut off", MOST)


def test_a_host_that_is_not_there_read_nothing() -> None:
    made = OpenAiCompatible(RemoteModel("http://127.0.0.1:1", "m"))
    made.meter = meter = NotingMeter()
    with pytest.raises(errors.ProviderFailed):
        made.embed(["ferry"])
    assert meter.noted == [("begun", MOST), ("settled", 0)]


def test_each_attempt_is_counted() -> None:
    with hosting() as host:
        host.reply = counting
        made = OpenAiCompatible(RemoteModel(host.url, "m"))
        made.meter = meter = NotingMeter()
        made.embed(["ferry"])
        host.hangs_up = True
        made.embed(["ferry"])
        made.embed(["ferry"])  # the kept connection is gone: it is sent once more
    endings = [each for each in meter.noted if each[0] != "begun"]
    assert endings.count(("settled", TOKENS)) == 3
    assert len(endings) * 2 == len(meter.noted)


@pytest.mark.parametrize(
    ("base", "named"),
    [
        (None, ("openai", "m")),
        ("https://api.openai.com/v1/", ("openai", "m")),
        ("http://127.0.0.1:9/v1", ("custom", "m")),
        ("https://api.openai.com.evil.example/v1", ("custom", "m")),
    ],
)
def test_by_what_it_is_priced(base: str | None, named: tuple[str, str]) -> None:
    assert OpenAiCompatible(RemoteModel(base, "m", "key")).price_name == named


# --- the meter -----------------------------------------------------------------------------------


def test_whoever_keeps_a_log_is_told_of_each_request(tmp_path: Path) -> None:
    bills: list[EmbeddingBill] = []
    with hosting() as host:
        host.reply = counting
        chosen = f'[embedder]\nname = "openai_compatible"\nbase_url = "{host.url}"\nmodel = "m"\n'
        app = build(tmp_path / "db", settings=load(PRICED, {}, chosen))
        try:
            embedder: Any = app.retriever.embedding and app.retriever.embedding.embedder
            old = embedder.meter
            embedder.meter = LedgerMeter(old.budget, old.step, old.price, (), bills.append)
            app.put("notes", ROWS, "row", Caller())
            app.find(Ask(QUESTION), Caller("local", "mia", "clerk"))
        finally:
            app.close()
    assert [(each.account.user, each.model, each.tokens, each.usd) for each in bills] == [
        ("local", "m", TOKENS, USD),
        ("mia", "m", TOKENS, USD),
    ]


def test_nothing_is_embedded_elsewhere_that_nobody_pays_for() -> None:
    with pytest.raises(RuntimeError, match="nobody pays"):
        payer_in_force()
    with paying(Payer(Caller())) as payer:
        assert payer_in_force() is payer
