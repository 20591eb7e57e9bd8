"""What the built-in answerer quotes with a line: the engine checks, streams and audits it whole."""

from pathlib import Path

import pytest

import redask
from redask.core.model import Answered, AnswerToken
from redask.core.settings import Settings

MANUAL = """# Verification

Connections are verified. You can disable verification like this:

```python
client = httpx.Client(
    verify=False,  # see [^9]
)
```

There are two hooks:

- request. It is called before sending.
- response
"""
PEOPLE = [
    {"id": "heat", "title": "Heat", "text": "Heat is a film directed by Michael Mann. It is long."},
    {"id": "mann", "title": "Michael Mann", "text": "He was born in Chicago. He makes films."},
]


@pytest.fixture
def db(tmp_path: Path) -> redask.OpenDatabase:
    opened = redask.open(tmp_path / "db", settings=Settings(), embedder="none")
    (tmp_path / "manual.md").write_text(MANUAL, encoding="utf-8")
    opened.ingest(tmp_path / "manual.md")
    opened.put("films", PEOPLE, kind="document")
    return opened


@pytest.mark.parametrize(
    ("question", "held"),
    [
        (
            "How do I disable verification?",
            "```python\nclient = httpx.Client(\n    verify=False,  # see [^9]\n)\n```",
        ),
        ("Which hooks are there?", "]:\n- request. It is called before sending.\n- response"),
        ("Where was the director of Heat born?", "]\n[Michael Mann] He was born in Chicago. [^"),
    ],
)
def test_it_is_supported_and_streamed_as_it_is(
    db: redask.OpenDatabase, question: str, held: str
) -> None:
    with db:
        answer = db.ask(question, strict="supported")
        assert held in answer.answer
        assert answer.validation.warnings == ()
        assert all(note.marker != 9 for note in answer.citations)
        events = list(db.stream(question, strict="supported"))
    assert isinstance(events[-1], Answered)
    sent = "".join(event.text for event in events if isinstance(event, AnswerToken))
    assert sent == answer.answer
