"""`make eval-own-answers`: the answers of the built-in answerer, under the check of claims.

    python -m claims.own_answers [--questions N] [--embedder NAME] [--quiet] [PACK …]

The questions of clapnq_dev and squad2_dev_half, spread evenly, are asked of `extractive`; an answer
passes when none of its claims is unsupported, contradicted or uncited. Those that do not are
printed, with the tokens, what the source says and the passage: the target is 99 %.
"""

import argparse
import tempfile
from collections import Counter

import redask
from claims import material
from redask.api.checking import CheckedAnswer
from redask.core.settings import Settings
from redask.evaluation import packs, running

PACKS = ("qa/clapnq_dev", "qa/squad2_dev_half")
TARGET = 0.99


def main() -> None:
    parser = argparse.ArgumentParser(description="The built-in answerer under the check of claims.")
    parser.add_argument("packs", nargs="*", default=PACKS, metavar="PACK")
    parser.add_argument("--questions", type=int, default=500, help="of each pack")
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--quiet", action="store_true", help="print no answer that fails")
    options = parser.parse_args()
    for name in options.packs:
        passed, answered, refused, verdicts = measure(name, options)
        share = passed / max(1, answered)
        print(f"{name}: {passed} of {answered} answers pass, {100 * share:.2f} % ", end="")
        print(f"(target {100 * TARGET:g} %); {refused} refusals; claims: {dict(verdicts)}\n")


def measure(name: str, options: argparse.Namespace) -> tuple[int, int, int, Counter[str]]:
    """Answers that pass, answers, refusals, and the verdicts of all claims."""
    pack = packs.read(material.data() / name)
    asked = pack.questions[:: max(1, len(pack.questions) // options.questions)]
    passed = answered = refused = 0
    verdicts: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory(prefix="redask-claims-") as folder,
        redask.open(folder, settings=Settings(), embedder=options.embedder) as db,
    ):
        running.load(db, pack, lambda *_: None)
        for question in asked[: options.questions]:
            answer = db.ask(question.text)
            if not answer.citations:
                refused += 1
                continue
            sources = [{"urn": each.urn, "payload": each.payload} for each in answer.sources_flat]
            checked = redask.check(answer.answer, sources)
            verdicts.update(claim.verdict for claim in checked.claims)
            answered += 1
            passed += checked.ok
            if not checked.ok and not options.quiet:
                show(question.text, checked)
    return passed, answered, refused, verdicts


def show(question: str, checked: CheckedAnswer) -> None:
    print(f"? {question}\n  {checked.answer}")
    for claim in checked.claims:
        if not claim.ok:
            print(f"  {claim.verdict}: {claim.text} {list(claim.markers)}")
            print(f"    tokens {list(claim.tokens)}, instead {list(claim.instead)}")
            for quote in claim.quotes:
                print(f"    [^{quote.marker}] {quote.field}: {quote.text}")
    for issue in checked.issues:
        print(f"  {issue.kind}: {issue.detail}")


if __name__ == "__main__":
    main()
