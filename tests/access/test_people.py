"""Users, tokens and signing in, through the Python API."""

import asyncio
import inspect
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from stage import DAY_NS, ROWS, Clock

import redask
from redask.core.access import credentials
from redask.core.errors import BadAsk, BadTtl, Denied, Unauthenticated
from redask.core.model import Ask, Caller
from redask.index import SearchIndex
from redask.stores.sqlite.sqlite_backend import SqliteBackend


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def db(tmp_path: Path, clock: Clock) -> Iterator[redask.OpenDatabase]:
    with redask.open(tmp_path / "db", clock=clock) as opened:
        opened.put("notes", ROWS)
        opened.add_user("mia", role="support", attributes={"region": "north"})
        yield opened


def refused(db: redask.OpenDatabase, token: str, tenant: str | None = None) -> str:
    with pytest.raises(Unauthenticated) as caught:
        db.signed_in(token, tenant=tenant)
    assert caught.value.detail == ""
    assert caught.value.__cause__ is None
    return caught.value.message


def test_a_token_signs_its_user_in_and_everything_is_theirs(db: redask.OpenDatabase) -> None:
    mia = db.signed_in(db.make_token("mia"))
    mia.ask("When does the ferry leave?")
    [entry] = mia.audit()
    assert (entry.row["tenant"], entry.row["user"], entry.row["role"]) == (
        "local",
        "mia",
        "support",
    )
    assert len(mia.search("ferry")) == 2
    db.ask("And the lighthouse?")
    assert [row.row["user"] for row in db.audit()] == ["local", "mia"]
    assert [row.row["user"] for row in mia.audit()] == ["mia"]


def test_a_token_has_256_random_bits_and_is_nowhere_in_the_files(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    tokens = {db.make_token("mia") for _ in range(20)}
    assert len(tokens) == 20
    for token in tokens:
        _, ident, secret = token.split("_")
        assert len(bytes.fromhex(secret)) * 8 == 256
        files = [file for file in (tmp_path / "db").rglob("*") if file.is_file()]
        assert any(ident.encode() in file.read_bytes() for file in files)
        for file in files:
            content = file.read_bytes()
            assert secret.encode() not in content
            assert bytes.fromhex(secret) not in content
    with sqlite3.connect(tmp_path / "db" / "redask.sqlite") as connection:
        assert connection.execute("SELECT count(DISTINCT salt) FROM tokens").fetchone() == (20,)
    connection.close()
    shown = db.tokens()
    assert {token.split("_")[1] for token in tokens} == {each.id for each in shown}
    assert all(token.split("_")[2] not in repr(shown) for token in tokens)


def test_every_bad_token_is_refused_with_the_same_words(
    db: redask.OpenDatabase, clock: Clock, tmp_path: Path
) -> None:
    good, other = db.make_token("mia"), db.make_token("mia")
    expiring, revoked = db.make_token("mia", expires="1d"), db.make_token("mia")
    db.revoke_token(revoked.split("_")[1])
    db.add_user("leo", role="support")
    orphan = db.make_token("leo")
    db.remove_user("leo")
    head, ident, secret = good.split("_")
    clock.now += DAY_NS
    bad = [
        "",
        "redask",
        secret,
        good[:-1],
        good + "0",
        good.upper(),
        f" {good}",
        f"{good}\n",
        f"{head}_{ident}_{other.split('_')[2]}",
        f"{head}_{'0' * 16}_{secret}",
        f"{head}_{ident}_{'0' * 64}",
        good.replace(secret[-1], "\N{FULLWIDTH DIGIT ONE}"),
        "x" * 10_000_000,
        "\ud800",
        expiring,
        revoked,
        orphan,
    ]
    messages = {refused(db, token) for token in bad}
    messages.add(refused(db, good, tenant="other"))
    messages.add(refused(db, None))  # type: ignore[arg-type]  # what a program may send
    assert messages == {credentials.REFUSED}
    assert len(db.signed_in(good, tenant="local").search("ferry")) == 2


def test_a_token_expires_at_its_time_and_not_before(db: redask.OpenDatabase, clock: Clock) -> None:
    token = db.make_token("mia", expires="30d")
    mia = db.signed_in(token)
    clock.now += 30 * DAY_NS - 1
    assert len(mia.search("ferry")) == 2
    clock.now += 1
    with pytest.raises(Unauthenticated):
        mia.search("ferry")
    [facts] = db.tokens()
    assert facts.expires == clock.now


def test_who_is_signed_in_loses_and_changes_rights_with_the_next_statement(
    db: redask.OpenDatabase,
) -> None:
    rule = {"roles": ["support"], "rows": "title = :user.topic"}
    db.set_policy("notes", {"read": [rule]})
    token = db.make_token("mia")
    mia = db.signed_in(token)
    assert len(mia.search("ferry")) == 0  # no topic: what cannot be evaluated denies
    db.set_user("mia", attributes={"topic": "Ferry prices"})
    assert [hit.urn for hit in mia.search("ferry")] == ["urn:reddb:row:notes/2"]
    db.set_user("mia", role="client")
    assert len(mia.search("ferry")) == 0
    assert mia.get("urn:reddb:row:notes/2") is None
    db.set_user("mia", role="owner")
    assert len(mia.search("ferry")) == 2
    assert [user.name for user in mia.users()] == ["mia"]
    db.set_user("mia", role="support")
    with pytest.raises(Denied):
        mia.users()
    db.revoke_token(token.split("_")[1])
    for call in (mia.users, mia.audit, mia.verify_audit, mia.doctor, lambda: mia.ask("Why?")):
        with pytest.raises(Unauthenticated):
            call()
    with pytest.raises(Unauthenticated):
        next(iter(mia.stream("Why?")))


GIVEN: dict[str, tuple[object, ...]] = {  # where "x" would not do
    **dict.fromkeys(("execute", "query", "query_json"), ("ASK 'x'",)),
    "ingest": ("x",),
    **dict.fromkeys(("prove_audit", "replay"), (1,)),
    "erase_audit": (1, ("question",)),
    **dict.fromkeys(("answer", "plan", "events", "find"), (Ask("x"),)),
}
# version: for caches, no client sees it; a conversation asks through `ask`; unsettled: the words of
# /readyz, which is for probes; held_token: what other processes of the server sign in by; the
# others are how somebody signs in by a redirect
NOT_STATEMENTS = {
    *("close", "conversation", "signed_in", "unsettled", "version", "is_identity_state"),
    "held_token",
}


def test_every_method_there_is_looks_at_the_token_again(tmp_path: Path) -> None:
    methods = {
        name: method
        for name, method in inspect.getmembers(redask.AsyncDatabase, inspect.isfunction)
        if not name.startswith("_") and name not in NOT_STATEMENTS
    }
    assert {"ask", "stream", "put", "users", "set_policy"} <= set(methods)

    async def call(session: redask.AsyncDatabase, name: str) -> None:
        needed = [
            parameter
            for parameter in list(inspect.signature(methods[name]).parameters.values())[1:]
            if parameter.default is parameter.empty
        ]
        plain = [each for each in needed if each.kind is each.POSITIONAL_OR_KEYWORD]
        named = {each.name: "x" for each in needed if each.kind is each.KEYWORD_ONLY}
        arguments = GIVEN.get(name, ("x",) * len(plain))
        made = getattr(session, name)(*arguments, **named)
        await (anext(made) if inspect.isasyncgen(made) else made)

    async def story() -> None:
        async with await redask.aopen(tmp_path) as db:
            await db.add_user("mia", role="owner")
            session = await db.signed_in(await db.make_token("mia"))
            await db.remove_user("mia")
            for name in sorted(methods):
                with pytest.raises(Unauthenticated):
                    await call(session, name)

    asyncio.run(story())


def test_a_new_user_of_an_old_name_does_not_inherit_tokens(db: redask.OpenDatabase) -> None:
    token = db.make_token("mia")
    db.remove_user("mia")
    refused(db, token)
    db.add_user("mia", role="owner")
    refused(db, token)


def test_only_an_owner_may_administer_and_write(db: redask.OpenDatabase) -> None:
    db.add_user("ann", role="auditor")
    for user in ("mia", "ann"):
        session = db.signed_in(db.make_token(user))
        for call in (
            session.users,
            session.tokens,
            session.policies,
            lambda s=session: s.add_user("eve", role="owner"),
            lambda s=session: s.set_user("mia", role="owner"),
            lambda s=session: s.remove_user("mia"),
            lambda s=session: s.make_token("mia"),
            lambda s=session: s.revoke_token(db.tokens()[0].id),
            lambda s=session: s.set_policy("notes", None),
            lambda s=session: s.preview_policy("notes", role="support"),
            lambda s=session: s.put("notes", [{"id": 9}]),
            lambda s=session: s.delete("urn:reddb:row:notes/1"),
            lambda s=session: s.link("urn:reddb:row:notes/1", "a", "urn:reddb:row:notes/2"),
            lambda s=session: s.doctor(rebuild_index=True),
        ):
            with pytest.raises(Denied):
                call()
    assert [user.name for user in db.users()] == ["ann", "mia"]
    assert db.signed_in(db.make_token("ann")).verify_audit() == db.verify_audit()
    with pytest.raises(Denied):
        db.signed_in(db.make_token("mia")).verify_audit()


def test_a_reader_cannot_make_the_index_be_rebuilt(
    db: redask.OpenDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuilt: list[str] = []
    monkeypatch.setattr(SearchIndex, "rebuild", lambda _, tenant: rebuilt.append(tenant))
    with pytest.raises(Denied):
        db.signed_in(db.make_token("mia")).doctor(rebuild_index=True)
    assert rebuilt == []
    db.doctor(rebuild_index=True)
    assert rebuilt == ["local"]


def test_closing_a_session_leaves_the_database_open_and_the_other_way_round_ends_it(
    db: redask.OpenDatabase,
) -> None:
    mia = db.signed_in(db.make_token("mia"))
    with mia:
        assert len(mia.search("ferry")) == 2
    with pytest.raises(BadAsk, match="closed"):
        mia.search("ferry")
    mia.close()
    again = db.signed_in(db.make_token("mia"))
    assert len(again.search("ferry")) == 2
    db.close()
    with pytest.raises(BadAsk, match="closed"):
        again.search("ferry")


def test_opening_with_a_token_is_opening_as_that_user(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.add_user("mia", role="support")
        token = db.make_token("mia")
    with redask.open(tmp_path, token=token) as mia, pytest.raises(Denied):
        mia.users()
    for wrong in ("", token[:-1]):
        with pytest.raises(Unauthenticated):
            redask.open(tmp_path, token=wrong)


def test_asyncio_has_the_same(tmp_path: Path) -> None:
    async def story() -> None:
        async with await redask.aopen(tmp_path) as db:
            await db.put("notes", ROWS)
            await db.add_user("mia", role="support")
            token = await db.make_token("mia", expires="1h")
            mia = await db.signed_in(token)
            assert len(await mia.search("ferry")) == 2
            await mia.close()
            with pytest.raises(BadAsk, match="closed"):
                await mia.search("ferry")
            with pytest.raises(Unauthenticated):
                await db.signed_in(token[:-1])
            await db.catch_up()
        with pytest.raises(Unauthenticated):
            await redask.aopen(tmp_path, token="no")
        async with await redask.aopen(tmp_path, token=token) as mia:
            with pytest.raises(Denied):
                await mia.users()

    asyncio.run(story())


def test_tenants_know_nothing_of_each_other(tmp_path: Path) -> None:
    with redask.open(tmp_path, tenant="acme") as acme:
        acme.put("notes", ROWS)
        acme.add_user("mia", role="owner")
        token = acme.make_token("mia")
        ident = acme.tokens()[0].id
    with redask.open(tmp_path) as local:
        assert (local.users(), local.tokens(), len(local.search("ferry"))) == ([], [], 0)
        for call in (
            lambda: local.revoke_token(ident),
            lambda: local.make_token("mia"),
            lambda: local.remove_user("mia"),
            lambda: local.set_user("mia", role="client"),
        ):
            with pytest.raises(BadAsk, match="there is no"):
                call()
        with local.signed_in(token) as mia:
            assert len(mia.search("ferry")) == 2
            mia.add_user("tom", role="client")
        assert local.users() == []
    with pytest.raises(Unauthenticated):
        redask.open(tmp_path, token=token, tenant="local")


@pytest.mark.parametrize(
    ("name", "role", "attributes", "where"),
    [
        ("", "r", {}, "user"),
        ("a\x1fb", "r", {}, "user"),
        (7, "r", {}, "user"),
        ("local", "r", {}, "local"),
        ("n", "", {}, "role"),
        ("n", "*", {}, "role"),
        ("n", None, {}, "role"),
        ("n", "r", None, "attributes"),
        ("n", "r", {"a b": 1}, "attributes.a b"),
        ("n", "r", {1: 1}, "attributes.1"),
        ("n", "r", {"é": 1}, "attributes.\\xe9"),
        ("n", "r", {"role": "owner"}, "attributes.role"),
        ("n", "r", {"a": "x" * 1001}, "attributes.a"),
        ("n", "r", {"a": "\0"}, "attributes.a"),
        ("n", "r", {"a": "\ud800"}, "attributes.a"),
        ("n", "r", {"a": None}, "attributes.a"),
        ("n", "r", {"a": {}}, "attributes.a"),
        ("n", "r", {"a": [[1]]}, "attributes.a"),
        ("n", "r", {"a": float("nan")}, "attributes.a"),
        ("n", "r", {"a": 1 << 63}, "attributes.a"),
        ("n", "r", {"a": ["x"] * 101}, "attributes.a"),
        ("n", "r", {f"a{i}": i for i in range(101)}, "attributes"),
    ],
)
def test_a_user_that_is_not_right_is_refused_and_told_where(
    db: redask.OpenDatabase, name: str, role: str, attributes: dict[str, object], where: str
) -> None:
    with pytest.raises(BadAsk) as caught:
        db.add_user(name, role=role, attributes=attributes)
    assert caught.value.detail == where
    assert [user.name for user in db.users()] == ["mia"]


def test_attributes_come_back_as_they_were_given(db: redask.OpenDatabase) -> None:
    given = {"t": "x" * 1000, "i": -(1 << 63), "f": 0.5, "b": True, "l": ["a", 1, False] * 33}
    db.set_user("mia", attributes=given)
    assert db.users() == [credentials.User("mia", "support", given)]
    db.set_user("mia", role="boss")
    assert db.users() == [credentials.User("mia", "boss", given)]


def test_what_does_not_exist_and_what_exists_twice_is_said(db: redask.OpenDatabase) -> None:
    with pytest.raises(BadAsk, match="there is a user mia already"):
        db.add_user("mia", role="client")
    with pytest.raises(BadAsk, match="there is no user leo"):
        db.make_token("leo")
    with pytest.raises(BadAsk, match="there is no user leo"):
        db.remove_user("leo")
    with pytest.raises(BadAsk, match="there is no token abc"):
        db.revoke_token("abc")
    with pytest.raises(BadTtl):
        db.make_token("mia", expires="soon")
    with pytest.raises(BadAsk, match="such as"):
        db.make_token("mia", expires=30)  # type: ignore[arg-type]  # what a program may send
    with pytest.raises(BadAsk, match="36500 days"):
        db.make_token("mia", expires="36501d")
    assert db.make_token("mia", expires="36500d")


def test_a_change_of_users_counts_as_a_change_of_who_sees_what(tmp_path: Path) -> None:
    with SqliteBackend(tmp_path) as backend:
        store, users = backend.store, backend.users
        seen = [store.view(Caller()).visibility.version]
        for change in (
            lambda: users.add_user("mia", "r", {}, Caller()),
            lambda: users.change_user("mia", "s", None, Caller()),
            lambda: users.remove_user("mia", 1, Caller()),
        ):
            change()
            seen.append(store.view(Caller()).visibility.version)
        assert len(set(seen)) == 4


def test_an_unknown_token_is_hashed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    real = credentials._digest

    def noting(salt: bytes, secret: str) -> bytes:
        hashed.append(secret)
        return real(salt, secret)

    monkeypatch.setattr(credentials, "_digest", noting)
    for token in ("", "nonsense", f"redask_{'0' * 16}_{'0' * 64}"):
        assert not credentials.matches(token, credentials.NO_HASH)
    assert [len(secret) for secret in hashed] == [64] * 3
