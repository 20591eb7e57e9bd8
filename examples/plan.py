"""Parses one statement and shows its EXPLAIN plan over three built-in sources: `make demo`.

There is no store and no engine yet; what you see is made by the rules they will call.
"""

import json

from redask import clauses
from redask.model import Kind, Mode, Source, Urn
from redask.rules import capabilities, determinism, explain, fingerprint, fusion, prompt, terms, urn
from redask.wire import json as canonical

STATEMENT = "EXPLAIN ASK 'Why was order FDD-12313 late?' USING openai LIMIT 3 STRICT ON"
ROWS = {
    "1": {"order": "FDD-12313", "status": "late", "carrier": "Nordfracht"},
    "2": {"carrier": "Nordfracht", "note": "strike in Hamburg on 3 May"},
    "3": {"order": "FDD-12314", "status": "on time"},
}


def main() -> None:
    print(STATEMENT)
    ask = clauses.parse(STATEMENT)
    print("\nparsed    ", ask)
    print("search for", terms.extract(ask.question))
    sources = [
        Source(urn.encode(Urn(Kind.ROW, "orders", key)), canonical.text(row))
        for key, row in ROWS.items()
    ]
    by_words = fusion.Bucket([(sources[0].urn, 0.9), (sources[2].urn, 0.4)])
    by_edges = fusion.Bucket([(sources[1].urn, 0.7)])
    fused = fusion.fuse([by_words, by_edges], limit=ask.limit)
    pairs = [(source.urn, fingerprint.content_version(source.payload)) for source in sources]
    assembled = prompt.assemble(ask.question, sources)
    provider = ask.using[0]
    can = capabilities.of(provider)
    knobs = determinism.settle(ask.question, fingerprint.of(pairs), can)
    plan = explain.plan(
        question=ask.question,
        mode=capabilities.mode_for(provider, ask.mode or Mode.STRICT).effective,
        provider=provider,
        model="gpt-4o-mini",
        capabilities=can,
        knobs=knobs,
        retrieval=[explain.Retrieval("bm25", 20), explain.Retrieval("graph", 20)],
        sources=fused,
        depth=ask.depth,
        limit=ask.limit,
        k_constant=fusion.K,
        prompt_tokens=len(prompt.render(assembled)) // 4,
        max_completion_tokens=1024,
    )
    print("\nplan")
    print(json.dumps(json.loads(canonical.encode(plan)), indent=2))


if __name__ == "__main__":
    main()
