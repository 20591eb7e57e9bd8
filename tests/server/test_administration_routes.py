"""What the page calls beside asking: collections, SELECT with types, files, policies, chain state.

Each is tried with the roles that may and those that may not; with input that is wrong; and against
what the database itself says.
"""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_thread import ServerThread

from redask.app import uploads
from redask.core.errors import BadAsk

RULE = {"roles": ["reader"], "rows": "id < 3", "hide": ["title"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerThread]:
    with ServerThread(tmp_path_factory.mktemp("administration") / "db", http_port=0) as opened:
        yield opened


def call(
    server: ServerThread, method: str, path: str, body: Any = None, user: str = "olga"
) -> httpx.Response:
    headers = {"Authorization": f"Bearer {server.tokens[user]}"}
    url = server.addresses[0] + path
    return httpx.request(method, url, json=body, headers=headers, timeout=60)


def sent(server: ServerThread, name: str, content: bytes, **more: str) -> Any:
    body = {"name": name, "content": base64.b64encode(content).decode(), **more}
    reply = call(server, "POST", "/v1/ingest", body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_collections_are_those_that_the_caller_reads(server: ServerThread) -> None:
    def named(user: str) -> dict[str, Any]:
        found = call(server, "GET", "/v1/collections", user=user).json()["collections"]
        return {each["name"]: each for each in found}

    assert "secrets" in named("olga")
    assert "secrets" not in named("mia")
    notes = named("mia")["notes"]
    assert notes["entities"] == {"row": 3}
    assert {"name": "text", "type": "text"} in notes["columns"]


def test_a_select_tells_columns_in_their_order_with_types(server: ServerThread) -> None:
    body = {"statement": "SELECT title, id, 9007199254740993 AS wide FROM notes ORDER BY id"}
    found = call(server, "POST", "/v1/select", {**body, "max_rows": 2}, "mia").json()
    assert [each["name"] for each in found["columns"]] == ["title", "id", "wide"]
    assert (len(found["rows"]), found["row_count"], found["truncated"]) == (2, 3, True)
    assert found["rows"][0]["wide"] == "9007199254740993"  # JavaScript would round it
    many = {"statement": "SELECT * FROM generate_series(1, 300) AS n", "max_rows": 300}
    assert len(call(server, "POST", "/v1/select", many, "mia").json()["rows"]) == 300


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("/v1/select", {"statement": 1}, "statement"),
        ("/v1/select", {"statement": "SELECT 1", "params": {}}, "params"),
        ("/v1/select", {"statement": "SELECT 1", "max_rows": 1.5}, "max_rows"),
        ("/v1/select", {"statement": "SELECT 1", "max_rows": True}, "max_rows"),
        ("/v1/select", {"statement": "SELECT 1", "rows": 1}, "rows"),
        ("/v1/search", {"question": "x", "ranks": 1}, "ranks"),
        ("/v1/ingest", {"name": 1, "content": ""}, "name"),
        ("/v1/ingest", {"name": "a.md", "content": "?"}, "content"),
        ("/v1/ingest", {"name": "a.md", "content": 1}, "content"),
        ("/v1/ingest", {"name": "a.md", "content": "", "collection": 1}, "collection"),
        ("/v1/ingest", {"name": "../a.md", "content": ""}, "name"),
        ("/v1/policies/notes/preview", {}, "user"),
        ("/v1/policies/notes/preview", {"user": "mia", "role": "x"}, "user"),
        ("/v1/policies/notes/preview", {"user": 1}, "user"),
        ("/v1/policies/notes/preview", {"role": "x", "policy": []}, "policy"),
        ("/v1/policies/notes/preview", {"role": "x", "sample": 101}, "sample"),
    ],
)
def test_wrong_input_is_refused_by_name(
    server: ServerThread, path: str, body: Any, named: str
) -> None:
    reply = call(server, "POST", path, body)
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"]["detail"] == named


def test_a_policy_that_is_no_policy_is_not_set(server: ServerThread) -> None:
    bodies: list[dict[str, Any]] = [{}, {"policy": 1}, {"policy": {"read": [{"roles": []}]}}]
    for body in bodies:
        assert call(server, "PUT", "/v1/policies/notes", body).status_code == 400
    assert call(server, "GET", "/v1/audit/verify?all=1").status_code == 400
    assert call(server, "GET", "/v1/audit/verify?log=other").status_code == 400


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/policies", None),
        ("GET", "/v1/users", None),
        ("GET", "/v1/audit/verify", None),
        ("PUT", "/v1/policies/notes", {"policy": None}),
        ("POST", "/v1/policies/notes/preview", {"role": "x"}),
        ("POST", "/v1/ingest", {"name": "a.md", "content": "aGk="}),
    ],
)
def test_who_may_not_is_denied(server: ServerThread, method: str, path: str, body: Any) -> None:
    assert call(server, method, path, body, "mia").status_code == 403
    assert httpx.request(method, server.addresses[0] + path, json=body).status_code == 401


def test_a_search_tells_how_each_bucket_ranked_if_it_is_asked(server: ServerThread) -> None:
    plain = call(server, "POST", "/v1/search", {"question": "ferry"}, "mia").json()
    assert set(plain) == {"hits"}
    found = call(server, "POST", "/v1/search", {"question": "ferry", "ranks": True}, "mia").json()
    assert found["hits"] == plain["hits"]
    assert [each["bucket"] for each in found["ranks"]] == ["bm25", "vector", "graph"]
    assert found["hits"][0]["urn"] in found["ranks"][0]["urns"]
    assert not any("secrets" in urn for each in found["ranks"] for urn in each["urns"])


def test_a_file_that_is_sent_is_read_and_sent_again_brought_up_to_date(
    server: ServerThread,
) -> None:
    first = sent(server, "tides.md", b"# Tides\n\nHigh water is at two.\n", collection="sea")
    assert (first["ok"], first["written"]) == (True, 1)
    again = sent(server, "tides.md", b"# Tides\n\nHigh water is at three.\n", collection="sea")
    assert again["ok"]
    rows = {"statement": "SELECT text FROM sea"}
    assert call(server, "POST", "/v1/select", rows).json()["rows"] == [
        {"text": "High water is at three."}
    ]
    table = sent(server, "boats.csv", b"id,name\n1,Nordfriesland\n")
    assert table["written"] == 1
    unknown = sent(server, "boat.xyz", b"\0")
    assert unknown["problems"][0]["path"] == "boat.xyz"  # and no path of the server
    left = list((server.directory / uploads.FOLDER).rglob("*.*"))
    assert left == []


def test_names_of_files_lead_nowhere_else() -> None:
    for name in ("", ".", "..", ".hidden", "a/b", "a\\b", "a\0b", "a\nb", "x" * 201):
        with pytest.raises(BadAsk):
            uploads.check_name(name)
    uploads.check_name("Übersicht 2026.md")


def test_a_preview_shows_real_rows_as_somebody_would_see_them(server: ServerThread) -> None:
    body = {"policy": {"read": [RULE]}, "user": "mia"}
    found = call(server, "POST", "/v1/policies/notes/preview", body).json()
    assert (found["rows"], found["rows_in_all"], found["hidden"]) == (2, 3, ["title"])
    assert [each["urn"] for each in found["sample"]] == [
        *("urn:reddb:row:notes/1", "urn:reddb:row:notes/2")
    ]
    assert all("title" not in each["payload"] for each in found["sample"])
    one = call(server, "POST", "/v1/policies/notes/preview", {**body, "sample": 1.0}).json()
    assert len(one["sample"]) == 1
    nobody = {"policy": {"read": [RULE]}, "role": "stranger"}
    found = call(server, "POST", "/v1/policies/notes/preview", nobody).json()
    assert (found["readable"], found["rows"], found["sample"]) == (False, 0, [])
    now = call(server, "POST", "/v1/policies/notes/preview", {"user": "mia"}).json()
    assert (now["rows"], len(now["sample"])) == (3, 3)
    secret = call(server, "POST", "/v1/policies/secrets/preview", {"user": "mia"}).json()
    assert (secret["readable"], secret["sample"]) == (False, [])
    assert call(server, "GET", "/v1/policies").json()["policies"].keys() == {"secrets"}


def test_a_policy_that_is_set_holds_for_the_next_statement(server: ServerThread) -> None:
    rows = {"statement": "SELECT * FROM odd"}
    assert call(server, "POST", "/v1/select", rows, "mia").status_code == 200
    closed = {"policy": {"read": [{"roles": ["spy"]}]}}
    assert call(server, "PUT", "/v1/policies/odd", closed).json() == {
        "collection": "odd",
        **closed,
    }
    assert call(server, "POST", "/v1/select", rows, "mia").status_code == 403
    assert call(server, "PUT", "/v1/policies/odd", {"policy": None}).status_code == 200
    assert call(server, "POST", "/v1/select", rows, "mia").status_code == 200


def test_users_are_listed_without_anything_secret(server: ServerThread) -> None:
    reply = call(server, "GET", "/v1/users")
    names = [each["name"] for each in reply.json()["users"]]
    assert names == sorted(names)
    assert {"mia", "olga"} <= set(names)
    for token in server.tokens.values():
        assert token.rpartition("_")[2] not in reply.text


def test_the_state_of_a_log_is_told(server: ServerThread, tmp_path: Path) -> None:
    asked = {"question": "When does the ferry leave?", "options": {"using": "scripted"}}
    call(server, "POST", "/v1/ask", asked)
    found = call(server, "GET", "/v1/audit/verify").json()
    assert found["ok"] is True
    assert found["rows"] >= 1
    newest = server.run(server.db.audit(1))[0]
    assert (found["head"], found["seq"]) == (newest.hash, newest.seq)
    assert call(server, "GET", "/v1/audit/verify?log=access").json()["ok"] is True
