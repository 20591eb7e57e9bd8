"""What is wrong with a claim, as an issue of its answer: `of` a finding.

    verdict                       kind                 detail
    uncited                       uncited_claim        "…" cites no source
    unsupported                   unsupported_claim    "…": midnight is not in [^1]
                                                       (a result that is not cited: the result)
    … by a model as judge         unsupported_claim    "…": the judge openai finds no support in
                                                       [^1]
    contradicted                  contradicted_claim   "…": midnight is not in [^1]; the source
                                                       says nine
    supported, nothing_to_check   –

The claim is quoted without its markers and full stop, on one line, in at most 120 characters. Such
an issue is an error under STRICT SUPPORTED only; where the numbers are not those of the statement's
result that the claim cites, under STRICT ON, too. The detail goes into a prompt, a log and an audit
row: what is not printable is escaped.
"""

from redask.core.model import Issue, Strictness
from redask.core.rules.grounding.check import Finding
from redask.core.rules.grounding.support import SupportVerdict

_SHOWN = 120
_TOKENS = 8
_KINDS = {
    SupportVerdict.UNCITED: "uncited_claim",
    SupportVerdict.UNSUPPORTED: "unsupported_claim",
    SupportVerdict.CONTRADICTED: "contradicted_claim",
}


def of(finding: Finding) -> Issue | None:
    """The issue of a finding; None if nothing is wrong."""
    claim, judgement = finding.claim, finding.judgement
    kind = _KINDS.get(judgement.verdict)
    if kind is None:
        return None
    detail = f'"{_shown(claim.text.removesuffix("."))}"'
    cited = ", ".join(f"[^{marker}]" for marker in claim.markers[:_TOKENS]) or "the result"
    if judgement.verdict is SupportVerdict.UNCITED:
        detail += " cites no source"
    elif finding.judge:
        detail += f": the judge {_shown(finding.judge)} finds no support in {cited}"
    else:
        missing = _listed(judgement.tokens) or "this"
        verb = "are" if len(judgement.tokens) > 1 else "is"
        detail += f": {missing} {verb} not in {cited}"
        if judgement.instead:
            says = "the source says" if len(claim.markers) == 1 else "the sources say"
            detail += f"; {says} {_listed(judgement.instead)}"
    from_level = Strictness.ON if finding.computed else Strictness.SUPPORTED
    return Issue(kind, claim.span, detail, from_level)


def _listed(tokens: tuple[str, ...]) -> str:
    shown = [_shown(token) for token in tokens[:_TOKENS]]
    return ", ".join([*shown, "…"] if len(tokens) > _TOKENS else shown)


def _shown(text: str) -> str:
    line = " ".join(text[: 2 * _SHOWN].split())
    line = line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
    return line if line.isprintable() else ascii(line)[1:-1]
