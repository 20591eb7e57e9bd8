"""Every attack, a row each: `ATTACKS`. The next attack is one more row."""

from siege import connection_attacks, question_attacks, statement_attacks
from siege.attack import Attack
from siege.document_bombs import BOMBS
from siege.ingest_attacks import ingesting, preparing
from siege.statement_attacks import STATEMENTS, flood

_SHORT = {"nested types", "patterns"}

ATTACKS: tuple[Attack, ...] = (
    *(
        Attack(f"statements: {name}", flood(texts), short=name in _SHORT)
        for name, texts in STATEMENTS.items()
    ),
    Attack("16 endless statements by one user", statement_attacks.endless, ratio=2.0),
    Attack("questions of 32 KB: ask", question_attacks.questions("/v1/ask"), short=True),
    Attack("questions of 32 KB: explain", question_attacks.questions("/v1/explain")),
    Attack("questions of 32 KB: search", question_attacks.questions("/v1/search")),
    Attack(
        "questions of 32 KB with a history of 64 KB",
        question_attacks.questions("/v1/ask", history=True),
    ),
    Attack("1,100 idle connections, HTTP", connection_attacks.idle(wire=False)),
    Attack("1,100 idle connections, Postgres wire", connection_attacks.idle(wire=True)),
    Attack("200 dripping connections, HTTP", connection_attacks.dripping(wire=False), short=True),
    Attack("200 dripping connections, Postgres wire", connection_attacks.dripping(wire=True)),
    Attack("100 dripping bodies without a token", connection_attacks.dripping_bodies),
    Attack("100 large bodies without a token", connection_attacks.bodies),
    Attack("clients that hang up", connection_attacks.hung_up),
    Attack("wrong tokens", connection_attacks.wrong_tokens),
    Attack("gzip bombs", connection_attacks.gzip_bombs, prepare=connection_attacks.make_gzip_bombs),
    Attack(
        "JSON bombs of an owner",
        connection_attacks.body_bombs,
        prepare=connection_attacks.make_body_bombs,
    ),
    *(Attack(f"ingest: {name}", ingesting([name]), prepare=preparing([name])) for name in BOMBS),
)
BY_NAME = {attack.name: attack for attack in ATTACKS}
