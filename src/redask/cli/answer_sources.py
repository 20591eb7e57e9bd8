"""What is printed below an answer: `show_sources`. Without rich, whose import takes longer."""

from redask.cli.terminal_text import echo_styled
from redask.core.model import Answer
from redask.core.wire import plain_text


def show_sources(answer: Answer) -> None:
    """The footnotes of an answer, and what else is worth knowing."""
    for marker, urn, said in plain_text.footnotes(answer):
        echo_styled((f"[^{marker}]", "bold"), (" ", ""), (urn, "cyan"))
        echo_styled(("     ", ""), (said, "dim"))
    for claim, verdict, quotes in plain_text.evidence(answer):
        echo_styled((verdict, "bold"), (f" {claim}", ""))
        for quote in quotes:
            echo_styled(("     ", ""), (quote, "dim"))
    for warning in answer.validation.warnings:
        echo_styled((warning.kind, "yellow"), (f": {warning.detail}", ""))
    retried = ", after one retry" if answer.retry_count else ""
    cached = ", from the cache" if answer.cache_hit else ""
    kinds = {warning.kind for warning in answer.validation.warnings}
    unknown = "price_unknown" in kinds and not answer.cache_hit
    price = "price unknown" if unknown and not answer.cost_usd else f"${answer.cost_usd:.6g}"
    said = (
        f"{answer.provider} {answer.model} · {answer.mode.value} · "
        f"{len(answer.sources_flat)} sources · {answer.prompt_tokens}+{answer.completion_tokens} "
        f"tokens · {price}{retried}{cached}"
    )
    echo_styled((said, "dim"))
