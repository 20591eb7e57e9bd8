"""The clauses of ASK, one row each, and the two ways to read them.

    statement               option           takes                          Ask field
    USING provider | 'a,b'  using            providers, in failover order   using
    MODEL 'name'            model            a name                         model
    COLLECTION a, "b"       collection       a name or several              collections
    LIMIT n                 limit            1–200                          limit
    MIN_SCORE x             min_score        0–1                            min_score
    DEPTH n                 depth            0–10                           depth
    STRICT ON|OFF|SUPPORTED strict           a word of it, true or false    strict
    STREAM                  –                nothing                        stream
    TEMPERATURE x           temperature      0–2                            temperature
    SEED n                  seed             0–2^64-1                       seed
    CACHE TTL '5m'          cache {ttl}      a time to live                 cache_ttl
    NOCACHE                 nocache          nothing (true or false)        nocache
    EVIDENCE                evidence         nothing (true or false)        evidence
    PLAN AUTO|OFF|ONLY      plan             a word of it                   plan
    STEPS n                 steps            1–2                            steps
    –                       history          [{question, answer}]           history

`parse` reads a statement, `from_options` JSON and keyword arguments; both check a value
with the same function of the row, so names and ranges hold on every surface. The rows also
make the JSON Schema, the gRPC message, the command line's flags and the reference page. A new
clause is a row here and a field of `Ask`. `OPTIONS` are the rows for JSON and keyword arguments.
"""

from redask.core.clauses.definitions import CLAUSES, OPTIONS, Clause
from redask.core.clauses.options import from_options
from redask.core.clauses.statement import parse

__all__ = ["CLAUSES", "OPTIONS", "Clause", "from_options", "parse"]
