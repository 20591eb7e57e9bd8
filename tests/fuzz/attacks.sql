SELECT * FROM {w}
SELECT count(*) FROM {w}
SELECT 1 FROM {w}
SELECT payload FROM {w}
FROM {w}
FROM {w} SELECT *
TABLE {b}
SELECT EXISTS (SELECT 1 FROM {w})
SELECT (SELECT count(*) FROM {w}) FROM people
SELECT 1 IN {b}
SELECT id FROM people WHERE id IN (SELECT key FROM {w})
SELECT payload, key, tenant, label, collection, grp, class_key, own_id FROM people
SELECT e.payload FROM people AS e
SELECT c1, c2, c3, o1, q.o1, people.c1 FROM people
SELECT rowid, oid, ctid, xmin, tableoid, _rowid_ FROM people
SELECT memory.main.people.id FROM people
SELECT public.people.id FROM people
SELECT people FROM people
SELECT (people).id FROM people
SELECT (people).salary FROM people
SELECT salary FROM people
SELECT "salary" FROM people
SELECT people."salary" FROM people
SELECT * EXCLUDE (id) FROM people
SELECT COLUMNS('sal.*') FROM people
SELECT COLUMNS(*) FROM people
SELECT * REPLACE (1 AS id) FROM people
SELECT stats(score), stats(age), stats(name) FROM people
SELECT min(score), max(score), count(score), sum(score), avg(score), stddev(score) FROM people
SELECT min(age), max(age), count(*), count(DISTINCT name) FROM people
SELECT approx_count_distinct(name), approx_quantile(age, 0.5), reservoir_quantile(age, 0.5) FROM people
SELECT sum(score) FROM people WHERE age > 20
SELECT sum(a.score * b.score) FROM people a, people b
SELECT region, sum(score), string_agg(name, ',') FROM people GROUP BY region
SELECT array_agg(urn) FROM links
SELECT string_agg(urn, ',') FROM ties
SELECT CAST(name AS int) FROM people
SELECT CAST(name AS int) FROM people WHERE region <> 'eu'
SELECT CAST(age AS int) FROM people
SELECT CAST(score AS text)::int FROM people WHERE name LIKE '%s%'
SELECT CAST(x AS text)::int FROM spots
SELECT CAST(weight AS text)::int FROM ties
SELECT email::int, email::date, email::jsonb FROM people
SELECT 1 / (age - 45) FROM people
SELECT 1 / (x - 900) FROM spots
SELECT * FROM people WHERE 1 / (id - 40) = 1
SELECT * FROM people WHERE name::int = 1 AND region = 'us'
SELECT CASE WHEN region <> 'eu' THEN name::int ELSE 1 END FROM people
SELECT error(name) FROM people
SELECT pg_typeof(age), pg_typeof(score), pg_typeof(x) FROM people, spots
SELECT age + 1, score + 1, x * 2, weight - 1 FROM people, spots, ties
SELECT * FROM information_schema.columns
SELECT table_name FROM information_schema.tables
SELECT relname, reltuples, relpages FROM pg_class
SELECT attname, atttypid FROM pg_attribute
SELECT 'plans'::regclass, 'shadow'::regclass, 'people'::regclass::oid
SELECT to_regclass('plans'), to_regclass('shadow'), to_regclass('memory.main.t1')
SELECT has_table_privilege('plans', 'select'), pg_table_is_visible(16384)
SELECT pg_relation_size('people'), pg_total_relation_size('people'), pg_database_size('local')
SELECT obj_description(16384), col_description(16384, 1), pg_get_viewdef(16384)
SELECT current_setting('threads'), current_setting('memory_limit'), current_setting('is_superuser')
SELECT getenv('HOME'), getvariable('x'), version()
SELECT txid_current(), pg_backend_pid(), inet_server_addr(), pg_postmaster_start_time()
SELECT pg_read_file('/etc/passwd'), pg_ls_dir('/'), lo_import('/etc/passwd')
SELECT query('SELECT 1')
SELECT * FROM query('SELECT * FROM {b}')
SELECT * FROM query_table('{b}')
SELECT json_execute_serialized_sql(json_serialize_sql('SELECT * FROM {b}'))
SELECT json_serialize_sql('SELECT 1'), json_serialize_plan('SELECT 1')
SELECT json_deserialize_sql('{}')
SELECT pg_numeric_div('1', '2'), pg_repeat('a', 3), pg_interval_text('1 day')
SELECT redask_jsonb_text('1'), redask_plain_text('1')
SELECT list_transform([1], x -> x), list_filter([1], lambda x: x > 0)
SELECT struct_pack(a := 1), {'a': 1}, MAP {1: 2}, [1, 2]
SELECT 1 WHERE "salary" = 'salary'
WITH {b} AS (SELECT * FROM {w}) SELECT * FROM {b}
WITH {b} AS (SELECT 1) SELECT * FROM main.{b}
WITH t1 AS (SELECT 1 AS c1) SELECT * FROM memory.main.t1
WITH people AS (SELECT * FROM {w}) SELECT * FROM people
WITH people AS (SELECT * FROM people) SELECT * FROM people
WITH people AS (SELECT 1 AS id) SELECT * FROM people, public.people
WITH plans AS (SELECT 1 AS a) SELECT * FROM plans
WITH plans AS (SELECT 1 AS a) SELECT * FROM plans, public.plans
WITH a AS (SELECT * FROM b), b AS (SELECT * FROM {w}) SELECT * FROM a
WITH w1 AS (SELECT * FROM people) SELECT w1.* FROM w1, w1 AS o1
WITH x AS MATERIALIZED (SELECT * FROM {w}) SELECT * FROM x
WITH x AS (SELECT 1) DELETE FROM {b}
WITH x AS (DELETE FROM {b} RETURNING *) SELECT * FROM x
WITH x AS (INSERT INTO {b} VALUES (1) RETURNING *) SELECT * FROM x
WITH x AS (SELECT 1) INSERT INTO {b} SELECT * FROM x
DELETE FROM {b}
UPDATE {b} SET payload = ''
INSERT INTO {b} VALUES (1)
DROP TABLE {b}
SELECT * INTO x FROM people
SELECT * FROM people FOR UPDATE
VACUUM
COPY people TO '/tmp/x'
COPY (SELECT * FROM {b}) TO '/tmp/x' (FORMAT parquet)
COPY {b} FROM '/etc/passwd'
EXPORT DATABASE '/tmp/x'
IMPORT DATABASE '/tmp/x'
ATTACH 'calls.sqlite' AS x
ATTACH '/tmp/x.duckdb'
DETACH generation
USE generation
INSTALL httpfs
LOAD httpfs
LOAD '/tmp/x.so'
PRAGMA table_info('t1')
PRAGMA show_tables
PRAGMA enable_profiling
SET threads = 4
SET enable_external_access = true
RESET lock_configuration
CHECKPOINT
CALL duckdb_tables()
CALL pragma_version()
CREATE TABLE x (a int)
CREATE TEMP TABLE x AS SELECT * FROM {b}
CREATE TEMP VIEW x AS SELECT * FROM {b}
CREATE MACRO x(a) AS a
CREATE SECRET x (TYPE s3)
ALTER TABLE {b} RENAME TO x
BEGIN
COMMIT
PREPARE x AS SELECT 1
EXECUTE x
DO 'x'
EXPLAIN SELECT * FROM {w}
EXPLAIN ANALYZE SELECT * FROM people
DESCRIBE {b}
DESCRIBE SELECT * FROM {b}
SHOW TABLES
SHOW ALL TABLES
SUMMARIZE people
SUMMARIZE {b}
SELECT * FROM (SUMMARIZE people)
SELECT * FROM (DESCRIBE {b})
SELECT * FROM (SHOW TABLES)
PIVOT people ON region USING count(*)
UNPIVOT people ON id INTO NAME n VALUE v
SELECT * FROM people PIVOT (count(*) FOR region IN ('eu', 'us'))
SELECT * FROM people POSITIONAL JOIN {w}
SELECT * FROM people ASOF JOIN {w} USING (id)
SELECT * FROM people SEMI JOIN {w} USING (id)
SELECT * FROM people USING SAMPLE 3
SELECT * FROM people QUALIFY row_number() OVER () = 1
SELECT 1; DELETE FROM {b}
SELECT 1; SELECT * FROM {w}
SELECT 1 /* ; */; -- {b}
/* /* */ SELECT * FROM {w} /* */ */
-- x⏎SELECT * FROM {w}
SELECT * FROM people -- ⏎, {w}
SELECT $$ $$, $a$ ' $a$, E'\'; SELECT * FROM {b} --'
SELECT '{w}', "{b}"
SELECT 'x'';' || $q$' FROM {b} --$q$
SELECT U&'\0053\0045', U&"\0070eople" FROM people
SELECT random(), setseed(0.5), gen_random_uuid()
SELECT nextval('x'), currval('x'), lastval()
SELECT pg_sleep(9)
SELECT repeat('a', 1000000000)
SELECT lpad('a', 1000000000), rpad('a', 1000000000)
SELECT to_char(1, repeat('9', 1000))
SELECT 10::numeric ^ 100000, 2 ^ 5000, exp(900::numeric)
SELECT string_agg(a.text, b.text) FROM notes a, notes b
SELECT {q} FROM people
SELECT * FROM people WHERE {q} = 1
SELECT * FROM people ORDER BY {q}
SELECT * FROM people ORDER BY {q} LIMIT 2
SELECT DISTINCT ON (region) {q} FROM people
SELECT people.{q} FROM people
SELECT * FROM people NATURAL JOIN {w}
SELECT * FROM people JOIN {w} USING (id)
SELECT * FROM pages UNION SELECT * FROM {w}
SELECT id FROM people UNION ALL SELECT {q} FROM {w}
SELECT tags -> 'n', tags #>> '{1,n}', jsonb_array_elements(tags) FROM people
SELECT row_to_json(people) FROM people
SELECT to_jsonb(p), p::text FROM people p
SELECT * FROM people(1)
SELECT * FROM people AS p(a, b, c, d), LATERAL (SELECT p.a, q.* FROM {w} q) l
SELECT * FROM people p, LATERAL (SELECT {q} FROM notes LIMIT 1) l
SELECT * FROM people p, jsonb_array_elements(p.tags) e
SELECT email, count(*) FROM people GROUP BY email
SELECT max(email) FROM people
SELECT * FROM links WHERE "to" LIKE '%people%'
SELECT count(*), count(label), max(label) FROM links
SELECT * FROM ties
SELECT * FROM shadow
SELECT * FROM plans
SELECT * FROM red_ask_audit WHERE "user" <> 'ada'
SELECT max(seq), min(seq), count(*) FROM red_ask_audit
SELECT row FROM red_ask_audit
SELECT * FROM calls.red_ask_audit
SELECT * FROM ｐｅｏｐｌｅ
SELECT * FROM peоple
SELECT * FROM "people␀"
ＳＥＬＥＣＴ 1
SELECT * FROM People
SELECT * FROM "People"
SELECT $1, ?, :a, @b
SELECT $1::text, $2::int
SELECT * FROM people WINDOW w AS (ORDER BY {q})
SELECT sum(score) OVER (ORDER BY urn), {q} FROM people
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY score), mode() WITHIN GROUP (ORDER BY age) FROM people
SELECT grouping(region), region, count(*) FROM people GROUP BY ROLLUP (region, active)
VALUES (1)
VALUES ((SELECT count(*) FROM {b}))
SELECT CAST(email AS bytea) FROM people
SELECT 9223372036854775807 + 1, -9223372036854775808, 1e999 - 1e999
SELECT ((((({b}
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 50) SELECT count(*) FROM c LIMIT 1
WITH RECURSIVE c AS (SELECT * FROM {w} UNION SELECT * FROM c) SELECT * FROM c
SELECT * FROM (WITH x AS (SELECT * FROM {w}) SELECT * FROM x) s
SELECT (WITH x AS (SELECT * FROM {w}) SELECT count(*) FROM x)
SELECT * FROM people p WHERE p.id = (SELECT count(*) FROM {w} q WHERE q.tenant)
SELECT * FROM people WHERE score = ANY (SELECT score FROM people) AND id = ALL (ARRAY[1])
SELECT name ~ '(a*)*b', regexp_replace(name, '(.*)*x', '') FROM people
