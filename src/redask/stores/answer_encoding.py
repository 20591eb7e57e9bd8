"""An Answer as plain data and back, for caches that keep text."""

from typing import Any

from redask.core.model import Answer, Footnote, Mode, Notice, Source, Validation


def plain(answer: Answer) -> dict[str, object]:
    """What there is to keep of an answer."""
    return {
        "answer": answer.answer,
        "citations": [[note.marker, note.urn] for note in answer.citations],
        "sources": [[source.urn, source.payload] for source in answer.sources_flat],
        "ok": answer.validation.ok,
        "errors": [[notice.kind, notice.detail] for notice in answer.validation.errors],
        "warnings": [[notice.kind, notice.detail] for notice in answer.validation.warnings],
        "provider": answer.provider,
        "model": answer.model,
        "mode": answer.mode.value,
    }


def read(kept: dict[str, Any]) -> Answer:
    """The answer that was kept; `KeyError`, `TypeError` or `ValueError` when it is none."""
    return Answer(
        answer=kept["answer"],
        citations=tuple(Footnote(*each) for each in kept["citations"]),
        sources_flat=tuple(Source(*each) for each in kept["sources"]),
        validation=Validation(
            kept["ok"],
            tuple(Notice(*each) for each in kept["errors"]),
            tuple(Notice(*each) for each in kept["warnings"]),
        ),
        provider=kept["provider"],
        model=kept["model"],
        mode=Mode(kept["mode"]),
    )
