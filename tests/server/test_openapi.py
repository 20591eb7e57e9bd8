"""The OpenAPI document is true: schemathesis asks what it allows, and what it does not.

Every reply has a documented status, content type and shape; what the document does not allow
is refused; a 5xx is one of contract 20 and never a bug. `--schema-examples` says how often.
"""

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from transports import Transports
from waiting import SECONDS

from redask.server.http.openapi import document

CHECKS: list[Any] = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
DOCUMENT: Any = schemathesis.openapi.from_dict(document())
OPERATIONS = [found.ok() for found in DOCUMENT.get_all_operations()]
PLAIN = ("/healthz", "/metrics", "/openapi.json")  # there is nothing to get wrong about them


@pytest.fixture(scope="module")
def transports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Transports]:
    with Transports(tmp_path_factory.mktemp("openapi") / "db") as opened:
        yield opened


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: str(mode.value))
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: str(operation.label))
def test_every_reply_is_as_documented(
    transports: Transports, request: pytest.FixtureRequest, operation: Any, mode: GenerationMode
) -> None:
    plain = operation.path in PLAIN
    if plain and mode is GenerationMode.NEGATIVE:
        return
    count = 1 if plain else int(request.config.getoption("--schema-examples"))
    checks = [*CHECKS, negative_data_rejection] if mode is GenerationMode.NEGATIVE else CHECKS
    headers = {"Authorization": f"Bearer {transports.tokens['olga']}"}

    @hypothesis.settings(
        max_examples=count,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        reply = case.call(base_url=transports.url, headers=headers, timeout=SECONDS)
        case.validate_response(reply, checks=checks)
        if reply.status_code >= 500:
            assert reply.json()["error"]["kind"] != "internal", case.as_curl_command()

    ask()
