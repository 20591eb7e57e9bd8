"""An answer examined: each claim with the judgement of the sources it cites."""

import json

import pytest

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


YOUNGEST = Source(
    "urn:reddb:query:postgresql/SELECT%201",
    json.dumps(
        {
            "columns": [
                {"name": "FirstName", "type": "text"},
                {"name": "LastName", "type": "text"},
            ],
            "row_count": 1,
            "rows": [["Jane", "Peacock"]],
            "sql": 'SELECT "FirstName", "LastName" FROM "Employee" ORDER BY "BirthDate" DESC',
        }
    ),
)


@pytest.mark.parametrize(
    ("answer", "tokens"),
    [
        ("first name: Jane, last name: Peacock [^1]", ()),
        ("The youngest employee is Jane Peacock [^1].", ()),
        ("The youngest employee is Jane Miller [^1].", ("Miller",)),
        ("Jane Peacock wrote T-105 [^1].", ("T-105",)),
    ],
)
def test_a_result_is_read_by_its_columns_and_the_words_of_the_question(
    answer: str, tokens: tuple[str, ...]
) -> None:
    (found,) = check.examine(answer, [YOUNGEST], None, "Who is the youngest employee?")
    assert found.judgement.tokens == tokens
    assert not found.computed


def test_a_number_without_a_marker_is_a_cell_where_there_is_a_result() -> None:
    right, wrong = check.examine("There is 1 row. There are 7 rows.", [YOUNGEST, FERRY])
    assert (right.judgement.verdict, right.computed) == (SupportVerdict.UNCITED, False)
    assert (wrong.judgement.tokens, wrong.computed) == (("7",), True)
    (other,) = check.examine("The ferry leaves at 9 [^2].", [YOUNGEST, FERRY])
    assert other.judgement.verdict is SupportVerdict.SUPPORTED


def test_names_of_columns_are_no_proper_names() -> None:
    row = Source("urn:reddb:row:albums/1", json.dumps({"AlbumId": 3, "Composer": "Bach " * 40}))
    (found,) = check.examine("AlbumId: 3, Composer: Bach [^1]", [row])
    assert found.judgement.tokens == ()


def test_a_judge_is_asked_about_claims_that_cite_and_passed() -> None:
    answer = (
        "The ferry leaves at 9 [^1]. The ferry leaves at midnight [^1]. Kiel has 12 berths. "
        "Kiel has 12 berths [^9]. Kiel has 12 berths [^1]. Kiel has 12 berths [^9][^2]."
    )
    assert check.judgeable(check.examine(answer, [FERRY, PORT]), 2) == (0, 5)


def test_a_doubt_keeps_what_else_was_found() -> None:
    (before,) = check.examine("The ferry leaves at 9 [^1].", [FERRY])
    after = check.doubted(before, "openai")
    assert (after.judgement.verdict, after.judge) == (SupportVerdict.UNSUPPORTED, "openai")
    assert (after.claim, after.judgement.quotes) == (before.claim, before.judgement.quotes)
