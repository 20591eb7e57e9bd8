"""evaluation.citation_quality: which citations are right, and which claims are covered."""

import json

from redask.core.model import Source
from redask.evaluation.citation_quality import CitationTally

FERRY = Source("urn:a", json.dumps({"text": "The ferry leaves at 9:15 from pier 4."}))
PRICE = Source("urn:b", json.dumps({"text": "A ticket costs 12 euros."}))


def counted(answer: str, *sources: Source) -> CitationTally:
    tally = CitationTally()
    tally.add(answer, sources)
    return tally


def test_a_claim_that_its_source_supports_is_covered_by_a_right_citation() -> None:
    tally = counted("The ferry leaves at 9:15 [^1]. A ticket costs 12 euros [^2].", FERRY, PRICE)
    assert (tally.claims, tally.covered, tally.citations, tally.right) == (2, 2, 2, 2)
    assert tally.rates() == {"citation_precision": 1.0, "citation_recall": 1.0}


def test_a_wrong_number_is_neither_covered_nor_right() -> None:
    tally = counted("The ferry leaves at 10:45 [^1]. A ticket costs 12 euros [^2].", FERRY, PRICE)
    assert tally.rates() == {"citation_precision": 0.5, "citation_recall": 0.5}


def test_a_second_source_that_does_not_support_the_claim_is_a_wrong_citation() -> None:
    tally = counted("The ferry leaves at 9:15 [^1][^2].", FERRY, PRICE)
    assert (tally.covered, tally.citations, tally.right) == (1, 2, 1)


def test_two_sources_that_support_a_claim_only_together_are_both_right() -> None:
    tally = counted("The ferry leaves at 9:15 for 12 euros [^1][^2].", FERRY, PRICE)
    assert (tally.covered, tally.citations, tally.right) == (1, 2, 2)


def test_a_claim_without_a_citation_is_not_covered_and_a_marker_without_a_source_is_wrong() -> None:
    tally = counted("The ferry leaves at 9:15. A ticket costs 12 euros [^7].", FERRY, PRICE)
    assert (tally.claims, tally.covered, tally.citations, tally.right) == (2, 0, 1, 0)
    assert tally.rates() == {"citation_precision": 0.0, "citation_recall": 0.0}


def test_without_a_claim_there_is_nothing_to_measure() -> None:
    assert counted("", FERRY).rates() == {"citation_precision": None, "citation_recall": None}


def test_a_tally_counts_over_answers() -> None:
    tally = counted("The ferry leaves at 9:15 [^1].", FERRY)
    tally.add("A ticket costs 13 euros [^1].", [PRICE])
    assert tally.rates() == {"citation_precision": 0.5, "citation_recall": 0.5}
