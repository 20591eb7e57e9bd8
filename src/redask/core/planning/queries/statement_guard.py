"""Whether a statement of a model may be run for an ASK: `fault` says why not, or None.

It is a SELECT of the caller's already: parsed, bound and under the caller's policies. Besides, an
answer must be made of data, and be the same for equal data:

    kind        a SELECT: no EXPLAIN, no SHOW
    tables      one at least, and only those of the schema: no system collection, no catalogue, no
                other collection than the ASK names
    functions   none of the clock, of chance or of the session: now(), random(), current_user, …;
                nor a date that is spelt 'today'
"""

from collections.abc import Sequence

from redask.core.planning.plan_schema import PlanSchema
from redask.core.text import compiled_later

_UNSTABLE = frozenset(
    """clock_timestamp current_catalog current_database current_date current_query current_role
    current_schema current_schemas current_setting current_time current_timestamp current_user
    gen_random_uuid inet_client_addr inet_server_addr localtime localtimestamp now pg_backend_pid
    pg_postmaster_start_time random session_user setseed statement_timestamp timeofday
    set_config transaction_timestamp user version""".split()
)
_OPENING = frozenset(("select", "table", "with"))
_TODAY = frozenset(("now", "today", "tomorrow", "yesterday"))
_TOKEN = compiled_later(
    r"\"(?:[^\"]|\"\")*+\"|'(?P<text>(?:[^']|'')*+)'|(?P<word>[A-Za-z_][A-Za-z_0-9$]*+)"
)


def fault(sql: str, tables: Sequence[tuple[str, str]], schema: PlanSchema) -> str | None:
    """Why a statement that reads these tables (schema and name) may not be run; None if it may.

    The statement is in its one spelling, so without comments.
    """
    first = _TOKEN.search(sql)
    if first is None or (first["word"] or "").lower() not in _OPENING:
        return "it is no SELECT"
    if not tables:
        return "it reads no table"
    known = {table.name for table in schema.tables}
    for space, name in tables:
        if space != "public" or name not in known:
            return f'there is no table "{name}" in the schema'
    for found in _TOKEN.finditer(sql):
        word, text = found["word"], found["text"]
        if word is not None and word.lower() in _UNSTABLE:
            return f"{word} depends on the clock, on chance or on the session"
        if text is not None and text.strip().lower() in _TODAY:
            return f"'{text}' depends on the clock"
    return None
