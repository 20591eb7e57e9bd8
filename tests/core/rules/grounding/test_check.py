"""An answer examined: each claim with the judgement of the sources it cites."""

import json

from redask.core.model import Source
from redask.core.rules.grounding import check
from redask.core.rules.grounding.support import SupportVerdict

FERRY = Source("urn:reddb:document:d/1#a", json.dumps({"text": "The ferry leaves at nine."}))
PORT = Source("urn:reddb:row:ports/1", json.dumps({"name": "Kiel", "berths": 12}))


def verdicts(answer: str) -> list[SupportVerdict]:
    return [found.judgement.verdict for found in check.examine(answer, [FERRY, PORT])]


def test_each_claim_is_judged_by_the_sources_it_cites() -> None:
    answer = "The ferry leaves at 9 [^1]. The ferry leaves at midnight [^1]. Kiel has 12 berths."
    assert verdicts(answer) == [
        SupportVerdict.SUPPORTED,
        SupportVerdict.CONTRADICTED,
        SupportVerdict.UNCITED,
    ]
    assert verdicts("Kiel has 12 berths [^2]. Kiel has 12 berths [^1].") == [
        SupportVerdict.SUPPORTED,
        SupportVerdict.UNSUPPORTED,
    ]


def test_the_source_says_what_stands_there_instead() -> None:
    (found,) = check.examine("The ferry leaves at midnight [^1].", [FERRY])
    assert found.judgement.tokens == ("midnight",)
    assert found.judgement.instead == ("nine",)


def test_a_marker_beyond_the_sources_cites_nothing() -> None:
    assert verdicts("The ferry leaves at 9 [^3].") == [SupportVerdict.UNCITED]
    (found,) = check.examine("The ferry leaves at 9 [^3][^1].", [FERRY, PORT])
    assert check.cited_sources(found.claim, 2) == (0,)


def test_a_quote_says_where_the_claim_stands() -> None:
    (found,) = check.examine("The ferry leaves at 9 [^1].", [FERRY, PORT])
    (quote,) = found.judgement.quotes
    assert (quote.source, quote.field, quote.start, quote.end) == (0, "text", 0, 25)
    assert quote.text == "The ferry leaves at nine."
