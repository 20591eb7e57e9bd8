"""The OpenAPI document is true: schemathesis asks what it allows, and what it does not.

With all of its checks: every reply has a documented status, content type and shape; what the
document does not allow is refused, and what it allows is not; no reply is a bug; a token that is
wrong or missing is refused, and so is a method. `--schema-examples` says how often.

What JSON Schema cannot say is made by a strategy: statements of SQL, with as many parameters as
they have; URNs; and providers, of which only one here answers as it should. Rows have ids that
differ and texts without NUL; vectors, which must be as long as others, are not drawn.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import hypothesis
import jsonschema  # type: ignore[import-untyped]
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode
from transports import Transports
from waiting import SECONDS

from redask.server.http.openapi import document
from redask.server.http.openapi.examples import EXAMPLES

FORMATS = {
    "redask-statement": [
        "SELECT id, title FROM notes ORDER BY id",
        "with n as (select 1 as one) select * from n;",
        "ASK 'When does the ferry leave?' USING scripted",
        "EXPLAIN ASK 'When does the ferry leave?'",
    ],
    "redask-urn": [
        "urn:reddb:row:notes/1",
        "urn:reddb:document:nowhere/x",
    ],
    "redask-providers": ["scripted", " Scripted , scripted", ""],
}
for _name, _values in FORMATS.items():
    schemathesis.openapi.format(_name, st.sampled_from(_values))
DOCUMENT: Any = schemathesis.openapi.from_dict(document())
OPERATIONS = [found.ok() for found in DOCUMENT.get_all_operations()]
PLAIN = (
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
)  # there is nothing to get wrong about them


@pytest.fixture(scope="module")
def transports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Transports]:
    with Transports(tmp_path_factory.mktemp("openapi") / "db") as opened:
        suppliers = [{"id": 2, "name": "Yirga Union"}]  # of the examples
        opened.run(opened.clients["olga"].db.put("suppliers", suppliers))
        yield opened


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: str(mode.value))
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: str(operation.label))
def test_every_reply_is_as_documented(
    transports: Transports, request: pytest.FixtureRequest, operation: Any, mode: GenerationMode
) -> None:
    plain = operation.path in PLAIN
    takes_nothing = "parameters" not in operation.definition.raw and not list(operation.body)
    if (plain or takes_nothing) and mode is GenerationMode.NEGATIVE:
        return
    count = 1 if plain else int(request.config.getoption("--schema-examples"))
    headers = {"Authorization": f"Bearer {transports.tokens['olga']}"}

    @hypothesis.settings(
        max_examples=count,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        if mode is GenerationMode.POSITIVE:
            _complete(case)
        reply = case.call(base_url=transports.url, headers=headers, timeout=SECONDS)
        case.validate_response(reply, headers=headers)

    ask()


def _complete(case: Any) -> None:
    """Make true of a good request what its schema cannot say."""
    if case.path == "/v1/query":
        case.body = {**case.body, "params": [2] * ("$1" in case.body["statement"])}
    elif case.path == "/v1/select":
        case.body = {**case.body, "statement": FORMATS["redask-statement"][1], "params": []}
    elif case.path == "/v1/chat/completions":
        known = EXAMPLES["createChatCompletion"]
        own = {"options": {"using": "scripted"}}
        case.body = {**case.body, **known, "redask": case.body.get("redask") or own}
    elif "/policies/" in case.path:
        known = {"policy": {"read": [{"roles": ["*"]}]}, "user": "mia"}
        case.body = {key: known.get(key) or value for key, value in case.body.items()}
    elif case.method == "PUT":
        hypothesis.assume(case.body.get("kind") != "vector")
        rows = json.loads(json.dumps(case.body["rows"]).replace(r"\u0000", ""))
        named = [{**row, "id": number} for number, row in enumerate(rows)]
        case.body = {**case.body, "rows": named}


SHAPES: Any = {"components": {"schemas": document()["components"]["schemas"]}}  # type: ignore[index]
EXAMPLED = [
    (path, method, found)
    for path, methods in document()["paths"].items()  # type: ignore[attr-defined]
    for method, found in methods.items()
    if path not in PLAIN
]


@pytest.mark.parametrize(("path", "method", "operation"), EXAMPLED, ids=lambda each: str(each)[:40])
def test_every_example_fits_its_schema_and_works(
    transports: Transports, path: str, method: str, operation: Any
) -> None:
    headers = {"Authorization": f"Bearer {transports.tokens['olga']}"}
    body = None
    if "requestBody" in operation:
        content = operation["requestBody"]["content"]["application/json"]
        body = content["examples"]["example"]["value"]
        assert body == EXAMPLES[operation["operationId"]]
        jsonschema.validate(body, {**SHAPES, **content["schema"]})
    for each in operation.get("parameters", []):
        if each["in"] == "path":
            jsonschema.validate(each["example"], each["schema"])
            path = path.replace(f"{{{each['name']}}}", quote(each["example"], safe=""))
    reply = httpx.request(
        method, transports.url + path, json=body, headers=headers, timeout=SECONDS
    )
    assert reply.status_code == 200, reply.text
    done = operation["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(reply.json(), {**SHAPES, **done})


def test_the_document_is_openapi_with_a_place_to_call() -> None:
    whole: Any = document()
    assert whole["servers"][0]["url"] == "/"

    def arrays(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            if value.get("type") == "array":
                yield value
            for each in value.values():
                yield from arrays(each)
        elif isinstance(value, list):
            for each in value:
                yield from arrays(each)

    assert all("items" in each for each in arrays(whole))
