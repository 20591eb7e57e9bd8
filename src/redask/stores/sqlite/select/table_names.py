"""Which tables a SELECT names, and the same SELECT with other names: `read(sql)`, then `render`.

`sqlglot` says where the names of tables stand; everything else goes to SQLite as it was written.
In the text that `render` gives:

    was                         is
    a collection                a view's name that nobody can guess, AS what was written
    a WITH name                 likewise: no table is called by a name of the user's choice
    "name"                      `name`, which SQLite never takes for a text
    ? or $2                     ?1, ?2, …: one style in a statement

The text starts with its SELECT or WITH, because SQLite asks nobody about an EXPLAIN before it.
A WITH name hides a collection of that name wherever the WITH reaches, inside itself too.
This file only translates. What it misses is not a hole: SQLite then meets a name that is no view
of the statement, and `guard` refuses whatever is read by it.

`mentions` are all words of the statement, for leaving out columns that it cannot mean; None
when a star or a NATURAL join means them all. `joins`: more than one table is read, or one twice.
"""

import logging
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from redask.core.errors import BadAsk, BadStatement
from redask.core.text import codepoint, lower

logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # it thinks aloud, to the console

MAX_SQL_BYTES = 64 * 1024
MAX_PARAMETERS = 1000
_SELECT = "one SELECT"
_SIGNS = (TokenType.PARAMETER, TokenType.PLACEHOLDER, TokenType.COLON, TokenType.VAR)
_BAD = re.compile("[\0\ud800-\udfff]")
_NUMBERED = re.compile(r"\$([1-9][0-9]{0,3})")


@dataclass(frozen=True, slots=True)
class TableMention:
    """A collection as a statement names it, and where it first does."""

    name: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class _Edit:
    """Put `text` where the statement has [start, end), after the view of a table if any."""

    start: int
    end: int
    text: str
    table: str | None = None

    def said(self, views: Mapping[str, str]) -> str:
        return self.text if self.table is None else views[self.table] + self.text


@dataclass(frozen=True, slots=True)
class Rendered:
    """What SQLite gets, and for each name that is not the user's, what the user wrote."""

    sql: str
    written: Mapping[str, str]

    def spoken(self, text: str) -> str:
        """A text of SQLite's with the user's own words in it."""
        for ours in sorted(self.written, key=len, reverse=True):
            text = text.replace(ours, self.written[ours])
        return text


@dataclass(frozen=True, slots=True)
class SelectStatement:
    """A SELECT that was read."""

    sql: str
    tables: tuple[TableMention, ...]
    mentions: frozenset[str] | None
    parameters: int
    with_names: frozenset[str]
    joins: bool
    _opening: int = field(repr=False)
    _edits: tuple[_Edit, ...] = field(repr=False)
    tree: exp.Expr = field(repr=False, default_factory=exp.Select)

    def render(self, views: Mapping[str, str]) -> Rendered:
        """The statement over these views, by collection."""
        parts, written, end = [], {}, self._opening
        for edit in self._edits:
            text = edit.said(views)
            parts += [self.sql[end : edit.start], text]
            written[text] = self.sql[edit.start : edit.end]
            end = edit.end
        parts.append(self.sql[end:])
        for name, view in views.items():
            written.setdefault(view, name)
        return Rendered("".join(parts), written)


def unguessable() -> str:
    """A name nobody else can use."""
    return f"r_{secrets.token_hex(16)}"


def read(sql: object) -> SelectStatement:
    """The SELECT, or `BadStatement` with the place and what was expected there."""
    text = _checked(sql)
    tokens, tree = _parsed(text)
    ctes = {id(cte): unguessable() for cte in tree.find_all(exp.CTE)}
    edits = [
        _Edit(*_place(cte.args["alias"].this), ctes[id(cte)]) for cte in tree.find_all(exp.CTE)
    ]
    tables: dict[str, TableMention] = {}
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue  # a function such as json_each: the guard knows which there are
        start, end = _place(table.this)
        line, column = _where(text, start)
        if table.args.get("db") is not None or isinstance(table.parent, exp.Table):
            found = repr(table.sql(dialect="sqlite")[:100])
            raise BadStatement(line, column, found, "the plain name of a collection")
        name = table.name
        alias = "" if table.args.get("alias") else f" AS {_quoted(name)}"
        cte = next((cte for cte in _reaching(table) if lower(cte.alias) == lower(name)), None)
        if cte is not None:
            edits.append(_Edit(start, end, ctes[id(cte)] + alias))
        else:
            tables.setdefault(name, TableMention(name, line, column))
            edits.append(_Edit(start, end, alias, table=name))
    numbered, parameters = _parameters(text, tokens)
    edits += numbered
    edits += [
        _Edit(token.start, token.end + 1, _quoted(token.text))
        for token in tokens
        if token.token_type is TokenType.IDENTIFIER and text[token.start] == '"'
    ]
    mentions = None if _means_all(tree) else frozenset(lower(token.text) for token in tokens)
    first = {edit.start: edit for edit in reversed(edits)}  # a table before its quotes
    ordered = tuple(first[start] for start in sorted(first))
    return SelectStatement(
        text,
        tuple(tables.values()),
        mentions,
        parameters,
        with_names=frozenset(ctes.values()),
        joins=sum(1 for _ in tree.find_all(exp.Table)) > 1,
        tree=tree,
        _opening=tokens[0].start,
        _edits=ordered,
    )


def _checked(sql: object) -> str:
    if not isinstance(sql, str):
        raise BadStatement(1, 1, type(sql).__name__, f"{_SELECT}, as text")
    size = len(sql.encode(errors="surrogatepass"))
    if size > MAX_SQL_BYTES:
        raise BadStatement(1, 1, f"{size} bytes", f"a SELECT of at most {MAX_SQL_BYTES} bytes")
    bad = _BAD.search(sql)
    if bad:
        raise BadStatement(*_where(sql, bad.start()), codepoint(bad[0]), "text that SQL can carry")
    return sql


def _parsed(sql: str) -> tuple[list[Token], exp.Expr]:
    dialect = SQLite()
    try:
        tokens = dialect.tokenize(sql)
        opening = next((token for token in tokens), None)
        if opening is None or lower(opening.text) not in ("select", "with"):
            place = _where(sql, opening.start if opening else len(sql))
            raise BadStatement(*place, _shown(opening), f"{_SELECT}, which starts so or with WITH")
        found = [tree for tree in dialect.parser().parse(tokens, sql) if tree is not None]
    except ParseError as error:
        raise _unreadable(error) from None
    except RecursionError:
        raise BadStatement(1, 1, "more", "a SELECT that is less deeply nested") from None
    except SqlglotError:
        raise BadStatement(
            *_where(sql, len(sql)), "the end", "the end of a text or a name"
        ) from None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, AssertionError):
        # What SQLite would not read either; sqlglot does not always say so politely.
        raise BadStatement(1, 1, "something else", _SELECT) from None
    if len(found) != 1:
        raise BadStatement(1, 1, f"{len(found)} statements", _SELECT)
    if not isinstance(found[0], exp.Select | exp.SetOperation):
        raise BadStatement(1, 1, f"a statement that is none ({found[0].key})", _SELECT)
    return tokens, found[0]


def _unreadable(error: ParseError) -> BadStatement:
    first = error.errors[0] if error.errors else {}
    line, column = int(first.get("line") or 1), int(first.get("col") or 1)
    highlight = str(first.get("highlight") or "")
    found = repr(highlight[:100]) if highlight else "the end"
    return BadStatement(line, max(column - len(highlight) + 1, 1), found, "SQL that can be read")


def _parameters(sql: str, tokens: list[Token]) -> tuple[list[_Edit], int]:
    """The parameters by number, and how many values the statement needs."""
    edits: list[_Edit] = []
    marks, numbers = 0, {0}
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        start, end = token.start, token.end + 1
        if token.token_type is TokenType.PLACEHOLDER and sql[start] == "?":
            marks += 1
            edits.append(_Edit(start, end, f"?{marks}"))
        elif token.token_type in _SIGNS and sql[start] in "$:@":
            known = _NUMBERED.fullmatch(sql, start, end)
            if known is None:
                end = following.end + 1 if end == start + 1 and following else end
                found = repr(sql[start:end][:40])
                raise BadStatement(*_where(sql, start), found, "? or $1 for a parameter")
            numbers.add(int(known[1]))
            edits.append(_Edit(start, end, f"?{known[1]}"))
        if marks and len(numbers) > 1:
            found = "both"
            raise BadStatement(*_where(sql, start), found, "parameters written either ? or $1")
    needed = max(marks, *numbers)
    if needed > MAX_PARAMETERS:
        raise BadAsk(f"a SELECT has at most {MAX_PARAMETERS} parameters, not {needed}")
    return edits, needed


def _means_all(tree: exp.Expr) -> bool:
    stars = any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star))
    return stars or any(
        lower(str(join.args.get("method") or "")) == "natural" for join in tree.find_all(exp.Join)
    )


def _reaching(node: exp.Expr) -> Iterator[exp.CTE]:
    """The WITH names that reach a node, the nearest first."""
    above = node.parent
    while above is not None:
        clause = above.args.get("with_")
        if clause is not None:
            yield from clause.expressions
        above = above.parent


def _place(name: exp.Expr) -> tuple[int, int]:
    """Where a name stands. Without a place, nothing can be put there."""
    start, end = name.meta.get("start"), name.meta.get("end")
    if not isinstance(start, int) or not isinstance(end, int):
        raise BadStatement(1, 1, repr(name.name[:100]), "the name of a table in a plain place")
    return start, end + 1


def _where(sql: str, position: int) -> tuple[int, int]:
    return sql.count("\n", 0, position) + 1, position - sql.rfind("\n", 0, position)


def _shown(token: Token | None) -> str:
    return "nothing" if token is None else repr(token.text[:100])


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
