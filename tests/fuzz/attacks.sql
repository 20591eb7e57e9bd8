SELECT * FROM {w}
SELECT count(*) FROM {w}
SELECT 1 FROM {w}
SELECT payload FROM {w}
SELECT EXISTS (SELECT 1 FROM {w})
SELECT (SELECT count(*) FROM {w}) FROM people
SELECT 1 IN {b}
SELECT * FROM people WHERE id IN {b}
SELECT id FROM people WHERE id IN (SELECT key FROM {w})
SELECT payload, key, tenant, label, collection FROM people
SELECT e.payload FROM people AS e
SELECT rowid, oid, _rowid_ FROM people
SELECT main.people.id FROM people
SELECT salary FROM people
SELECT "salary" FROM people
SELECT people."salary" FROM people
SELECT 1 WHERE "salary" = 'salary'
WITH {b} AS (SELECT * FROM {w}) SELECT * FROM {b}
WITH {b} AS (SELECT 1) SELECT * FROM main.{b}
WITH {b}(a) AS (SELECT 1) SELECT count(*) FROM {b}
WITH r_0123 AS (SELECT * FROM {w}) SELECT * FROM r_0123
WITH people AS (SELECT * FROM {w}) SELECT * FROM people
WITH people AS (SELECT * FROM people) SELECT * FROM people
WITH a AS (SELECT * FROM b), b AS (SELECT * FROM {w}) SELECT * FROM a
WITH x AS (SELECT 1) DELETE FROM {b}
WITH x AS (SELECT 1) INSERT INTO {b} SELECT * FROM x
WITH x AS (SELECT 1) UPDATE {b} SET payload = '{{}}'
DELETE FROM {b}
UPDATE {b} SET payload = ''
INSERT INTO {b} VALUES (1)
DROP TABLE {b}
VACUUM
VACUUM INTO '/tmp/x'
ATTACH 'calls.sqlite' AS x
DETACH main
PRAGMA query_only = 0
PRAGMA writable_schema = 1
REINDEX
ANALYZE
CREATE TABLE x (a)
CREATE TEMP VIEW x AS SELECT * FROM {b}
ALTER TABLE {b} RENAME TO x
BEGIN
COMMIT
ROLLBACK
EXPLAIN SELECT * FROM {w}
EXPLAIN QUERY PLAN SELECT * FROM people
SELECT 1; DELETE FROM {b}
SELECT 1; SELECT * FROM {w}
SELECT 1 /* ; */; -- {b}
/* /* */ SELECT * FROM {w} /* */ */
-- x⏎SELECT * FROM {w}
SELECT * FROM people -- ⏎, {w}
SELECT load_extension('x')
SELECT randomblob(9)
SELECT random()
SELECT zeroblob(1e9)
SELECT sqlite_version()
SELECT last_insert_rowid(), changes(), total_changes()
SELECT writefile('/tmp/x', 'y')
SELECT readfile('/etc/passwd')
SELECT fts3_tokenizer('simple')
SELECT edit('x')
SELECT sqlite_compileoption_get(1)
SELECT printf('%.*c', 2000000000, 'x')
SELECT replace(hex(printf('%999s', 1)), '2', printf('%999s', 1))
SELECT group_concat(a.text, b.text) FROM notes a, notes b
SELECT {q} FROM people
SELECT * FROM people WHERE {q} = 1
SELECT * FROM people ORDER BY {q}
SELECT people.{q} FROM people
SELECT * FROM people NATURAL JOIN {w}
SELECT * FROM people JOIN {w} USING (id)
SELECT * FROM pages UNION SELECT * FROM {w}
SELECT json_extract(payload, '$') FROM people
SELECT * FROM json_each((SELECT payload FROM {w}))
SELECT * FROM people(1)
SELECT * FROM people, json_tree(people.email)
SELECT email, count(*) FROM people GROUP BY email
SELECT max(email) FROM people
SELECT * FROM links WHERE "to" LIKE '%people%'
SELECT count(*) FROM links
SELECT * FROM ties
SELECT * FROM shadow
SELECT * FROM red_ask_audit WHERE user <> 'ada'
SELECT row FROM red_ask_audit
SELECT * FROM calls.red_ask_audit
SELECT * FROM ｐｅｏｐｌｅ
SELECT * FROM peоple
SELECT * FROM "people␀"
ＳＥＬＥＣＴ 1
SELECT * FROM People
SELECT $1, ?, :a, @b
SELECT * FROM people WINDOW w AS (ORDER BY {q})
SELECT sum(score) OVER (ORDER BY urn), {q} FROM people
VALUES (1)
SELECT CAST(email AS BLOB) FROM people
SELECT 9223372036854775807 + 1, -9223372036854775808, 1e999 - 1e999
SELECT ((((({b}
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c LIMIT 1
SELECT * FROM (WITH x AS (SELECT * FROM {w}) SELECT * FROM x)
SELECT (WITH x AS (SELECT * FROM {w}) SELECT count(*) FROM x)
SELECT * FROM people p WHERE p.id = (SELECT count(*) FROM {w} q WHERE q.tenant)
