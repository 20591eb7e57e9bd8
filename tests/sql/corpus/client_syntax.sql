-- what clients write when they ask the catalogue, over tables that both have
SELECT * FROM unnest(ARRAY[10, 20], ARRAY['x', 'y', 'z']) WITH ORDINALITY AS t(a, b, n);
SELECT id, a, b, n FROM kinds, unnest(nums, tags) WITH ORDINALITY AS t(a, b, n) ORDER BY id, n;
SELECT id, x::int[] FROM (SELECT id, '{' || id || ',7}' AS x FROM kinds) AS t ORDER BY id;
SELECT x::text[] FROM (VALUES ('{a,"b c",NULL}'), (NULL)) AS v(x);
SELECT NULL AS a UNION ALL SELECT ARRAY[1::int2];
SELECT x ~ y, x ~* y, x !~ y, x !~* y FROM (VALUES ('abc', '^A'), ('abc', 'b.'), (NULL, 'a'), ('a', NULL)) AS v(x, y);
-- params: ["^b"]
SELECT x FROM (VALUES ('abc'), ('bcd')) AS v(x) WHERE x ~ $1;
SELECT x ~ y FROM (VALUES ('a', '(')) AS v(x, y);
SELECT parse_ident('a.b'), parse_ident('"A b".c'), (parse_ident('public.orders'))[2];
SELECT 'p'::char, 'abc'::char(3), 'p'::char = 'p';
SELECT 'r'::"char" ~ 'r|p', 'x'::"char" ~ 'r|p';
SELECT 23 = ANY ('{int8,int4}'::regtype[]), 25 = ANY ('{int8,int4}'::regtype[]);
SELECT ARRAY[23, 25]::oid[]::regtype[]::text[], ARRAY[1, 2]::oid[]::text[];
SELECT 'pg_class'::text::regclass::text, x::regclass FROM (SELECT 'pg_class' AS x) AS t;
SELECT 'array_in(cstring,oid,integer)'::regprocedure::oid, 'trigger'::regtype::oid;
SELECT information_schema._pg_numeric_precision(1700, 1179654), information_schema._pg_numeric_scale(1700, 1179654), information_schema._pg_numeric_precision(23, -1), information_schema._pg_numeric_precision_radix(1700, -1);
SELECT information_schema._pg_datetime_precision(1114, -1), information_schema._pg_char_max_length(1043, 14);
SELECT pg_size_pretty(sum(x)) FROM (VALUES (1), (2)) AS v(x);
SELECT pg_size_pretty(sum(x)) FROM (SELECT 1 AS x) AS t WHERE x > 1;
SELECT word, catcode FROM pg_get_keywords() WHERE word IN ('select', 'abort', 'char', 'left') ORDER BY 1;
SELECT count(*) FROM aclexplode(NULL::aclitem[]);
SELECT 'a'::information_schema.sql_identifier, 1::information_schema.cardinal_number;
SELECT getdatabaseencoding(), pg_blocking_pids(0);
SELECT '2024-01-10 +00'::date, '2024-01-10 -05:30'::date;
SELECT '2024-01-10 +99'::date;
