"""evaluation.gates: a bound names one metric of the report, and is kept or not."""

import pytest

from redask.core.errors import BadAsk
from redask.evaluation import gates

REPORT = {
    "pack": "p",
    "questions": 3,
    "retrieval": {"bm25": {"ndcg@10": 0.5}, "fused": {"ndcg@10": 0.75}},
    "citations": {"citation_precision": 0.9, "citation_recall": None},
}


@pytest.mark.parametrize(
    "text",
    [
        "citation_precision>=0.9",
        " citation_precision >= 0.9 ",
        "citations.citation_precision<=0.9",
        "fused.ndcg@10>0.7",
        "retrieval.fused.ndcg@10<1",
        "questions>2",
        "citation_precision>-1",
    ],
)
def test_a_bound_that_the_report_keeps_is_no_failure(text: str) -> None:
    assert gates.failures([gates.parse(text)], REPORT) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "citation_precision>0.9",
            "gate not kept: citations.citation_precision > 0.9, but it is 0.9",
        ),
        ("bm25.ndcg@10>=0.51", "gate not kept: retrieval.bm25.ndcg@10 >= 0.51, but it is 0.5"),
        ("questions<=2", "gate not kept: questions <= 2, but it is 3"),
        (
            "citation_recall<1",
            "gate not kept: citations.citation_recall < 1, and there was nothing to measure",
        ),
    ],
)
def test_a_bound_that_it_does_not_keep_is_named_with_the_value(text: str, said: str) -> None:
    assert gates.failures([gates.parse(text)], REPORT) == [said]


@pytest.mark.parametrize("text", ["", "x", "x=1", "x>=", ">=1", "x>=1%", "x y>=1", "x>=1e9"])
def test_what_is_no_bound_is_refused(text: str) -> None:
    with pytest.raises(BadAsk, match="a gate is a metric"):
        gates.parse(text)


def test_a_metric_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(BadAsk, match=r"no metric 'precision' .* citations.citation_precision"):
        gates.failures([gates.parse("precision>0")], REPORT)


def test_a_name_that_fits_two_metrics_is_refused_with_both() -> None:
    with pytest.raises(BadAsk, match=r"more than one metric: retrieval.bm25.ndcg@10, retrieval.f"):
        gates.failures([gates.parse("ndcg@10>0")], REPORT)


def test_a_text_of_the_report_is_no_metric() -> None:
    with pytest.raises(BadAsk, match="no metric 'pack'"):
        gates.failures([gates.parse("pack>0")], REPORT)
