"""A prompt tells the date only to a question that depends on it."""

import pytest

from redask.core.rules.prompting.relative_time import is_relative


@pytest.mark.parametrize(
    "question",
    [
        "What is due today?",
        "How many orders came in last week?",
        "Which tickets were opened in the last 30 days?",
        "What changed two weeks ago?",
        "What happened this year?",
        "Which invoices are overdue?",
        "Who is on call next Monday?",
        "What did customers RECENTLY buy?",
        "How old is the oldest ticket?",
        "Sales in the past few months?",
        "Revenue YTD?",
    ],
)
def test_a_question_that_is_relative_in_time(question: str) -> None:
    assert is_relative(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the latest release?",
        "How many orders came in 2019?",
        "When was Acme founded?",
        "Who was the last president?",
        "Is this the right file?",
        "What do you know?",
        "How many days are in a leap year?",
        "Which album is called Yesterdays?",
        "Who lives in Chicago?",
        "",
    ],
)
def test_a_question_that_is_not(question: str) -> None:
    assert not is_relative(question)
