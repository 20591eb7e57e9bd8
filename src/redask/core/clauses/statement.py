"""The ASK statement: `parse` it.

    [EXPLAIN] ASK 'question' | $1 | ?  clause*  [;]

Clauses come in any order, each at most once, CACHE not with NOCACHE, STREAM not with EXPLAIN;
keywords in any ASCII case. Only the question may be a parameter, and its value passes the checks
of a literal. At most 1 MiB for the statement and 32 KiB for the question, in UTF-8.

Raises `BadStatement` (line, column, found, expected) and nothing else, on any input.
"""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from redask.core.clauses.definitions import CLAUSES, Clause, Takes
from redask.core.clauses.lexer import Cursor, Form, Token
from redask.core.errors import BadStatement
from redask.core.model import Ask
from redask.core.text import codepoint, forbidden, question_fault
from redask.core.values import MAX_NAMES, Unfit, shown

MAX_STATEMENT_BYTES = 1 << 20
_BY_KEYWORD = {clause.keyword: clause for clause in CLAUSES}
_ONE_PARAMETER = "exactly one bound parameter, in a list"
_A_CLAUSE = f"a clause ({', '.join(_BY_KEYWORD)}) or the end"


def parse(statement: str, params: Sequence[object] = ()) -> Ask:
    """The Ask of a statement and its bound parameters."""
    _check_size(statement)
    cursor = Cursor(statement)
    explain = cursor.take_word("EXPLAIN") is not None
    if not cursor.take_word("ASK"):
        cursor.refuse("ASK" if explain else "ASK or EXPLAIN ASK")
    question = _question(cursor, statement, params)
    given: dict[str, object] = {}
    while cursor.token.form is Form.WORD:
        _clause(cursor, given, explain)
    if cursor.take_mark(";"):
        cursor.expect("the end of the statement after ;", Form.END)
    cursor.expect(_A_CLAUSE, Form.END)
    return Ask(question, explain=explain, **given)  # type: ignore[arg-type]  # rows name the fields


def _check_size(statement: str) -> None:
    if not isinstance(statement, str):
        raise BadStatement(1, 1, shown(statement), "a statement, as text")
    try:
        size = len(statement.encode())
    except UnicodeEncodeError as error:
        line = statement.count("\n", 0, error.start) + 1
        column = error.start - statement.rfind("\n", 0, error.start)
        lone = f"the lone surrogate {codepoint(statement[error.start])}"
        raise BadStatement(line, column, lone, "text that has a UTF-8 form") from None
    if size > MAX_STATEMENT_BYTES:
        expected = f"a statement of at most {MAX_STATEMENT_BYTES} bytes"
        raise BadStatement(1, 1, f"{size} bytes", expected)


def _question(cursor: Cursor, statement: str, params: Sequence[object]) -> str:
    token = cursor.token
    if not isinstance(params, list | tuple):
        found = "a text" if isinstance(params, str) else shown(params)
        cursor.refuse(_ONE_PARAMETER, found)
    if token.form is Form.PARAM:
        question = _bound(cursor, token, params)
    elif token.form is Form.STRING:
        question = token.value
        bad = forbidden(statement[token.start :][: _raw_length(token)], lines=True)
        if bad is not None:
            at = token.start + bad
            found = f"the character {codepoint(statement[at])}"
            cursor.refuse("a question without control characters", found, at)
        if params:
            cursor.refuse("$1 or ? for the bound question", "a literal question")
    else:
        cursor.refuse("the question, as 'text', $1 or ?")
    fault = question_fault(question)
    if fault:
        cursor.refuse("a question", f"one that {fault}")
    cursor.advance()
    return question


def _raw_length(token: Token) -> int:
    """How long a string token is in the statement, quotes and doubled quotes included."""
    return len(token.value) + token.value.count("'") + 2


def _bound(cursor: Cursor, token: Token, params: Sequence[object]) -> str:
    if token.value not in ("?", "$1"):
        cursor.refuse("$1 or ?: the question is the only parameter")
    if len(params) != 1:
        cursor.refuse(_ONE_PARAMETER, f"{len(params)} of them")
    if not isinstance(params[0], str):
        cursor.refuse("a bound question, as text", shown(params[0]))
    return params[0]


def _clause(cursor: Cursor, given: dict[str, object], explain: bool) -> None:
    token = cursor.token
    clause = _BY_KEYWORD.get(token.value.upper())
    if clause is None:
        cursor.refuse(_A_CLAUSE)
    if clause.field in given:
        cursor.refuse(f"{clause.keyword} at most once", f"{clause.keyword} again")
    if {clause.field, *given} >= {"cache_ttl", "nocache"}:
        cursor.refuse("either CACHE or NOCACHE", "both")
    if explain and clause.field == "stream":
        cursor.refuse("no STREAM: EXPLAIN has nothing to stream")
    cursor.advance()
    written = cursor.token.found
    starts, value = _value(cursor, clause)
    try:
        given[clause.field] = clause.read(value)
    except Unfit as unfit:
        found = written if clause.takes is Takes.NUMBER else unfit.found
        cursor.refuse(f"{unfit.expected} after {clause.keyword}", found, starts[unfit.item])


def _value(cursor: Cursor, clause: Clause) -> tuple[list[int], object]:
    """A clause's value as an option would hold it, and where its parts start."""
    after = f"after {clause.keyword}"
    if clause.takes is Takes.NAMES:
        return _names(cursor, f'a name or a "quoted name" {after}')
    if clause.takes is Takes.TTL and not cursor.take_word("TTL"):
        cursor.refuse(f"TTL {after}")
    start = [cursor.token.start]
    value: object
    match clause.takes:
        case Takes.NOTHING:
            value = True
        case Takes.NUMBER:
            value = _number(cursor.expect(f"a number {after}", Form.NUMBER).value)
        case Takes.TEXT:
            value = cursor.expect(f"a 'text' {after}", Form.STRING).value
        case Takes.PROVIDERS:
            expected = f"a provider or a 'list,of,them' {after}"
            value = cursor.expect(expected, Form.WORD, Form.STRING).value
        case Takes.STRICTNESS:
            words = clause.takes.value.split("|")
            expected = f"{', '.join(words[:-1])} or {words[-1]} {after}"
            word = cursor.take_word(*words) or cursor.refuse(expected)
            value = word.lower()
        case _:  # TTL, its keyword taken above
            value = {"ttl": cursor.expect("a time such as '5m' after TTL", Form.STRING).value}
    return start, value


def _names(cursor: Cursor, expected: str) -> tuple[list[int], list[str]]:
    names = [cursor.expect(expected, Form.WORD, Form.QUOTED)]
    while cursor.take_mark(","):
        if len(names) == MAX_NAMES:
            cursor.refuse(f"at most {MAX_NAMES} names", "more")
        names.append(cursor.expect(expected, Form.WORD, Form.QUOTED))
    return [name.start for name in names], [name.value for name in names]


def _number(text: str) -> Decimal:
    """The exact value of a literal; one beyond any range if its exponent is too large."""
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent of more than 18 digits
        return Decimal("1e-999" if "-" in text else "1e999")
