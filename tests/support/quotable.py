"""Sources to quote from, and the built-in answerer asked about them."""

import asyncio
import json
import re
from collections.abc import Mapping

from redask.core.model import Knobs, Source
from redask.core.ports import Completion
from redask.core.rules import citations
from redask.core.rules.grounding import claims
from redask.core.rules.grounding.refused_answers import NO_ANSWER
from redask.core.rules.grounding.splitting import sentence_ends
from redask.core.rules.prompt import assemble
from redask.providers.extractive.answerer import Extractive

FERRY = "When does the ferry to Amrum leave?"
MARKERS = re.compile(r" (?:\[\^[0-9]+\])+(?=:?$| \|$)")


def document(number: int, text: str, title: str = "") -> Source:
    payload = json.dumps({"path": "", "text": text, "title": title}, ensure_ascii=False)
    return Source(f"urn:reddb:document:docs/d{number}", payload)


def row(collection: str, **fields: object) -> Source:
    payload = json.dumps(fields, sort_keys=True, ensure_ascii=False)
    return Source(f"urn:reddb:row:{collection}/{fields.get('id', 'x')}", payload)


def complete(
    question: str,
    sources: list[Source],
    *,
    weights: Mapping[str, float] | None = None,
    max_tokens: int = 1024,
    emitted: list[str] | None = None,
) -> Completion:
    async def emit(piece: str) -> None:
        assert emitted is not None
        emitted.append(piece)

    prompt = assemble(question, sources, weights=weights)
    call = Extractive().complete(
        prompt, Knobs(None, None), max_tokens=max_tokens, emit=None if emitted is None else emit
    )
    return asyncio.run(call)


def ask(question: str, *sources: Source, weights: Mapping[str, float] | None = None) -> str:
    return complete(question, list(sources), weights=weights).text


HARBOUR = [
    document(1, "The lighthouse is open on Sundays. Admission is free.", "Lighthouse"),
    document(
        2, "The ferry to Amrum leaves at nine. It takes two hours. Bicycles pay extra.", "Ferry"
    ),
    document(3, "A ticket for the ferry costs 14 euros. Dogs travel free.", "Prices"),
]

SHOP = [
    row("orders", id=1001, customer_id=7, carrier_id=3, status="late"),
    row("orders", id=1002, customer_id=8, carrier_id=4, status="delivered"),
    row("carriers", id=3, name="Nordfracht", manager="Ines Holm", city="Kiel"),
    row("carriers", id=4, name="Südpost", manager="Karl Rau", city="Ulm"),
    Source(
        "urn:reddb:edge:links/1",
        '{"from":"urn:reddb:row:orders/1001","label":"shipped_by","to":"urn:reddb:row:carriers/3"}',
    ),
    Source("urn:reddb:kv:settings/refund_days", '{"key":"refund_days","value":30}'),
]


def check_markers(answer: str, sources: int) -> None:
    """All that is said has markers of ours, and nothing else reads as a marker.

    The markers of a line are those at its end, as often as it has sentences; a line of code or of
    a list has none.
    """
    refused = answer.startswith("Nothing here ")
    if answer == NO_ANSWER or (refused and "[^" not in answer):
        return
    parsed = citations.parse(answer, sources)
    said = claims.split(answer)[refused:]
    assert all(claim.markers for claim in said), answer
    start = 0
    for line in answer.split("\n"):
        end = start + len(line)
        found = [each.marker for each in parsed.citations if start <= each.span[0] < end]
        if found:
            ours = MARKERS.search(line)
            assert ours, line
            numbers = [int(number) for number in re.findall("[0-9]+", ours[0])]
            repeats = len(found) // len(numbers)
            assert found == numbers * repeats
            assert repeats <= len(sentence_ends.split(line, 0, len(line)))
        start = end + 1
    assert parsed.citations
    assert parsed.issues == ()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u2028]", answer)
    assert answer.encode()
