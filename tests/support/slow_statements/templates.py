"""The grammar: `TEMPLATES`, by the kind of what they make. A hole is `{kind}`.

    query      a SELECT                      source   what stands after FROM, as x(i, s)
    number     a number                      text     a text
    truth      a condition                   regex    a regular expression, without quotes
    like       a pattern of LIKE             count    a whole number, which mutations make grow

`nest` and `chain` are holes with a count: `{nest:upper(|text|)}` is what is around a text, so
many times; `{chain: AND |truth}` so many conditions. In a query with a source, `x.i` and `x.s`
are its columns.
"""

TEMPLATES: dict[str, tuple[str, ...]] = {
    "query": (
        "SELECT {number} FROM {source}",
        "SELECT {text} FROM {source}",
        "SELECT count(*) FROM {source} WHERE {truth}",
        "SELECT {number} FROM {source} WHERE {truth} ORDER BY {text}",
        "SELECT DISTINCT {text} FROM {source}",
        "SELECT {chain:, |number} FROM {source}",
        "SELECT sum({number}) OVER (ORDER BY {text}) FROM {source}",
        "SELECT count(DISTINCT {text}) FROM {source} GROUP BY {number}",
        "SELECT string_agg({text}, {text}) FROM {source}",
        "SELECT array_agg({text}) FROM {source}",
        "SELECT jsonb_agg({text}) FROM {source}",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY {number}) FROM {source}",
        "SELECT sum(({number})::numeric), avg({number}), stddev({number}) FROM {source}",
        "WITH RECURSIVE c(i, s) AS (SELECT 1, 'a' UNION ALL SELECT c.i + 1, {text} FROM c, "
        "(SELECT c.i, c.s) x WHERE c.i < {count}) SELECT count(*) FROM c",
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION SELECT c.i + y FROM c, "
        "generate_series(1, {count}) y WHERE c.i < {count}) SELECT max(i) FROM c",
        "WITH w AS ({query}), v AS (SELECT * FROM w a, w b) SELECT count(*) FROM v, w",
        "({query}) UNION ALL ({query})",
        "SELECT count(*) FROM ({query}) q, ({query}) r",
        "SELECT (({query})::text) FROM {source}",
        "{chain: UNION |leaf_query}",
        "VALUES {chain:, |leaf_row}",
        "SELECT {nest:upper(|text|)}",
        "SELECT {nest:(|number|)}",
        "SELECT {nest:coalesce(1, |number|)}",
        "SELECT {nest:CASE WHEN true THEN |number| END}",
        "SELECT {nest:(SELECT |number|)}",
        "SELECT {nest:char(|number|)}",
        "SELECT {nest:ARRAY[|number|]}",
        "SELECT {nest:NOT |truth|}",
        "SELECT 1 WHERE {chain: AND |truth}",
        "SELECT 1 WHERE {chain: OR |truth}",
        "SELECT 1 FROM {chain: CROSS JOIN |leaf_source}",
        "SELECT 1 FROM {chain: JOIN |leaf_source}",
        "SELECT 1 FROM {chain:, |leaf_source}",
        "SELECT {number} IN ({chain:, |leaf_number})",
        "SELECT {text}::{nest:DECIMAL(|leaf_number|)}",
        "SELECT * FROM {source} ORDER BY {text} LIMIT {count} OFFSET {count}",
        "SELECT regexp_matches({text}, '{regex}', 'g')",
        "SELECT unnest(string_to_array({text}, {text}))",
        "SELECT generate_series(1, {count}), {text}",
        "SELECT jsonb_array_elements(('[' || {text} || ']')::jsonb)",
        "SELECT date_trunc('day', d), {number} FROM generate_series('2000-01-01'::timestamp, "
        "'2100-01-01', {count} * interval '1 hour') d, {source}",
    ),
    "source": (
        "(SELECT g AS i, g::text AS s FROM generate_series(1, {count}) g) x",
        "(SELECT id AS i, s FROM t) x",
        "(SELECT a.id AS i, b.s FROM t a, t b) x",
        "(SELECT a.id AS i, {text} AS s FROM t a JOIN t b ON a.id < b.id) x",
        "(SELECT {number} AS i, {text} AS s FROM {source}) x",
        "(SELECT 1 AS i, s FROM unnest(string_to_array({text}, ',')) u(s)) x",
        "(SELECT 1 AS i, s FROM regexp_split_to_table({text}, '{regex}') u(s)) x",
        "{source}, generate_series(1, {count}) y{unique}",
        "{source} LEFT JOIN t z{unique} ON {truth}",
    ),
    "number": (
        "x.i", "x.i", "1", "{count}", "7.3", "length({text})", "strpos({text}, {text})",
        "{number} + {number}", "{number} * {number}", "{chain: + |number}", "- {number}",
        "({number})::numeric ^ {count}", "exp(({number})::numeric % 5000)", "ln({number} + 2)",
        "(10::numeric ^ {count}) / 3", "round(({number})::numeric / 7, {count})",
        "(SELECT count(*) FROM {source} WHERE {truth})", "(SELECT sum({number}) FROM {source})",
        "CASE WHEN {truth} THEN {number} ELSE {number} END", "ascii({text})",
        "array_length(string_to_array({text}, {text}), 1)", "({text})::int", "({text})::numeric",
        "array_length(regexp_split_to_array({text}, '{regex}'), 1)", "factorial({count})",
        "jsonb_array_length(('[' || {text} || ']')::jsonb)", "sqrt(({number})::numeric + 1)",
        "gcd({number}, {number})", "width_bucket({number}, 0, 10, {count})",
        "extract(epoch FROM {count} * interval '1 day')", "greatest({chain:, |number})",
    ),
    "text": (
        "x.s", "x.s", "'a'", "'ab,'", "'1,'", "repeat({text}, {count})", "{text} || {text}",
        "{chain: \\|\\| |text}", "upper({text})", "initcap({text})", "reverse({text})",
        "replace({text}, {text}, {text})", "translate({text}, {text}, {text})",
        "regexp_replace({text}, '{regex}', {text}, 'g')", "lpad({text}, {count}, {text})",
        "substring({text} from '{regex}')", "trim({text} from {text})", "md5({text})",
        "split_part({text}, {text}, {count})", "({number})::text", "to_char({number}, {text})",
        "(SELECT string_agg({text}, ',') FROM {source})", "quote_literal({text})",
        "array_to_string(string_to_array({text}, ','), {text})", "format('%s%s', {text}, {text})",
        "concat({chain:, |text})", "left({text}, {count})", "encode({text}::bytea, 'hex')",
        "('{{\"a\": \"' || {text} || '\"}}')::jsonb ->> 'a'",
        "overlay({text} placing {text} from 1)",
        "to_char(({number})::numeric, repeat('9', {count}))", "({text})::char({count})",
    ),
    "truth": (
        "{text} LIKE '{like}'", "{text} ILIKE '{like}'", "{text} SIMILAR TO '{like}'",
        "{text} ~ '{regex}'", "{text} ~* '{regex}'", "{number} < {number}", "{text} < {text}",
        "({truth} AND {truth})", "({truth} OR {truth})", "NOT {truth}", "{number} = {number}",
        "EXISTS ({query})", "{number} IN (SELECT i FROM {source})", "true", "x.i % 2 = 0",
        "{text} IN ({chain:, |text})", "{number} BETWEEN {number} AND {number}",
        "{text} = ANY (string_to_array({text}, ','))",
    ),
    "regex": (
        "a", "b", ".", "[ab]", "({regex})*", "({regex})+", "({regex})?", "{regex}{regex}",
        "({regex}|{regex})", "({regex}){{{small}}}", "({regex}){{0,{small}}}", "{regex}$",
        "^{regex}", "(?:{regex})*?", "({regex})\\1", "{chain:|regex}", "(?={regex}){regex}",
        "\\m{regex}\\M", "[^b]*", "(a|aa)+", "(.*)(.*)",
    ),
    "like": ("a", "%", "_", "{like}{like}", "{chain:|like}", "%{like}", "%a%{like}", "b"),
    "leaf_query": ("SELECT 1", "SELECT 'a'"),
    "leaf_row": ("(1)", "(1 + 1)"),
    "leaf_number": ("1", "{count}"),
    "leaf_source": ("t y{unique}", "(VALUES (1)) y{unique}(a)"),
    "count": (),
    "small": (),
}  # fmt: skip
LEAVES: dict[str, tuple[str, ...]] = {
    "query": ("SELECT 1", "SELECT count(*) FROM t"),
    "source": ("(SELECT id AS i, s FROM t) x",),
    "number": ("1", "x.i"),
    "text": ("'a'", "x.s"),
    "truth": ("true", "x.i > 3"),
    "regex": ("a", "a*"),
    "like": ("%", "a"),
}
