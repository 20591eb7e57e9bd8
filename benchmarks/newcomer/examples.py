"""`make examples`: some questions to the sample company and to httpx's documentation, asked, and
their answers, as they come, written into docs/examples.md.
"""

import tempfile
from pathlib import Path

import redask
from newcomer.asking import DATA
from redask.core.settings import Settings
from redask.evaluation import sample

PAGE = Path(__file__).parents[2] / "docs" / "examples.md"
HEAD = """# Questions and answers

Asked of the built-in answerer, without a model, and written as they came by `make examples`. Below
each answer is what its markers cite.
"""
COMPANY = (
    "When does a gold customer get money back for a late delivery?",
    "Which certificate and country has the supplier of order FDD-12316?",
    "How many orders are there?",
    "What is the shoe size of the managing director in Tokyo?",
)
DOCUMENTATION = (
    "What is the default timeout in httpx?",
    "How do I disable SSL verification?",
    "How do I enable HTTP/2?",
    "Which event hooks are there?",
    "When was 0.27.2 released?",
    "What was fixed in 0.27.2?",
    "What is the difference between httpx and requests for redirects?",
    "How do I send a message with MQTT?",
)


def told(db: redask.OpenDatabase, question: str) -> str:
    """A question, its answer and what it cites, as Markdown."""
    answer = db.ask(question)
    cited = [f"- `[^{each.marker}]` {each.urn}" for each in answer.citations]
    return "\n".join([f"### {question}", "", answer.answer, *([""] if cited else []), *cited])


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="redask-examples-") as home:
        with redask.open(Path(home) / "company", settings=Settings()) as db:
            sample.load(db)
            company = [told(db, question) for question in COMPANY]
        with redask.open(Path(home) / "httpx", settings=Settings()) as db:
            db.ingest(DATA / "newcomer" / "httpx")
            db.search("documentation")
            documentation = [told(db, question) for question in DOCUMENTATION]
    parts = [HEAD, "## The sample company (`redask demo`)\n", *company]
    parts += ["## The documentation of httpx\n", *documentation]
    PAGE.write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
