"""What the check of claims says of a sentence that cites its passage."""

import json
from functools import lru_cache

from claims.material import Passage, Sentence
from redask.core.model import Kind, Source, Urn
from redask.core.rules import urn
from redask.core.rules.grounding import claims, source_text, support
from redask.core.rules.grounding.source_text import SourceText

WRONG = ("unsupported", "contradicted")


def wrong(text: str, passage: Passage) -> frozenset[tuple[str, str]]:
    """The findings of a claim that cites the passage: verdict and token. None: it is supported."""
    found = set()
    for claim in claims.split(f"{text} [^1]"):
        judgement = support.judge(claim, (_source(passage),))
        if str(judgement.verdict) in WRONG:
            found |= {(str(judgement.verdict), token) for token in judgement.tokens or ("",)}
    return frozenset(found)


def uncited(text: str) -> bool:
    """Whether a sentence with a marker at its end is read as several, one of them without it."""
    return any(not claim.markers for claim in claims.split(f"{text} [^1]"))


@lru_cache(maxsize=200_000)
def unchanged(sentence: Sentence) -> frozenset[tuple[str, str]]:
    """The findings of the sentence as it was: false alarms."""
    return wrong(sentence.text, sentence.passage)


def caught(text: str, sentence: Sentence) -> bool:
    """Whether a changed sentence has a finding that the sentence did not have before."""
    return bool({token for _, token in wrong(text, sentence.passage) - unchanged(sentence)})


@lru_cache(maxsize=20_000)
def _source(passage: Passage) -> SourceText:
    payload = json.dumps({"title": passage.title, "text": passage.text})
    name = urn.encode(Urn(Kind.DOCUMENT, "passages", passage.id))
    return source_text.read(Source(name, payload))
