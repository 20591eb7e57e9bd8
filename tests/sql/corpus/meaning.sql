-- # Build 4: integer division
SELECT 7 / 2, -7 / 2, n / 4 FROM kinds;
-- # Build 4: division by zero
SELECT 1 / 0;
-- # Build 4: division by zero of a numeric
SELECT 1.5 / 0;
-- # Build 4: division by zero of a double
SELECT 1::float8 / 0;
-- # Build 4: remainder of zero
SELECT 5 % 0;
-- # Build 4: division by zero in a column
SELECT 10 / n FROM kinds WHERE n = 0 OR n = 1;
-- # Build 4: NULL order
SELECT n FROM kinds ORDER BY n;
-- # Build 4: '1.5'::int
SELECT '1.5'::int;
-- # Build 4: varchar(2)
SELECT 'abc'::varchar(2);
-- # Build 4: SIMILAR TO
SELECT 'abc' SIMILAR TO '%(b|d)%', 'abc' SIMILAR TO 'b', 'a.c' SIMILAR TO 'a.c', 'abc' SIMILAR TO 'a.c';
-- # Build 4: negative substr
SELECT substr('hello', -2), substr('hello', -2, 4), substr('hello', 0, 2);
-- # Build 4: negative length of substr
SELECT substr('hello', 2, -1);
-- # Build 4: numeric / 3
SELECT 10.00 / 3, 1.0 / 3, price / 3, "Total" / 3 FROM kinds, "Invoice" WHERE kinds.id = "InvoiceId";
-- # Build 4: avg(int) is numeric
SELECT avg(n), avg(kinds.id), avg("Milliseconds") FROM kinds, "Track" WHERE kinds.id = "TrackId";
-- # Build 4: types of extract
SELECT extract(year FROM day), extract(epoch FROM moment), extract(second FROM moment), date_part('year', day) FROM kinds;
-- # Build 4: sum(bigint) is numeric
SELECT sum(big), sum(n), sum("Milliseconds"), sum("Bytes"::bigint) FROM kinds, "Track" WHERE kinds.id = "TrackId";
-- # Build 4: float to text
SELECT 1::float8::text, 1e15::float8::text, 1e14::float8::text, 1.5e-7::float8::text, 0.1::float4::text, 1e20::float8::text, ratio::text FROM kinds;
-- # Build 4: aliases in WHERE
SELECT n AS m FROM kinds WHERE m > 3;
-- # Build 4: aliases in HAVING
SELECT flag, count(*) AS c FROM kinds GROUP BY flag HAVING c > 3;
-- # Build 4: aliases beside themselves
SELECT n AS m, m + 1 FROM kinds;
-- # Build 4: aliases in GROUP BY
SELECT n % 2 AS odd, count(*) FROM kinds GROUP BY odd;
-- # Build 4: "ID"
SELECT "ID" FROM kinds;
-- # Build 4: ID
SELECT ID FROM kinds;
-- # Build 4: genreid without quotes
SELECT GenreId FROM "Track";
-- # Build 4: Track without quotes
SELECT count(*) FROM Track;
-- # Build 4: generate_series in a select list
SELECT generate_series(1, 3), 'x';
-- # Build 4: two in a select list
SELECT generate_series(1, 3), generate_series(1, 2);
-- # Build 4: intervals with months
SELECT date '2024-01-31' + interval '1 month', timestamp '2024-03-31' - interval '1 month', interval '1 month' * 2.5, interval '1 year 2 months 3 days 04:05:06';
-- # Build 4: = ANY($1)
-- params: [[1, 2, 3]]
SELECT "GenreId" FROM "Genre" WHERE "GenreId" = ANY($1) ORDER BY 1;
-- # Build 4: IN over arrays
SELECT ARRAY[1, 2] IN (ARRAY[1, 2], ARRAY[3]), id FROM kinds WHERE nums IN (ARRAY[1], ARRAY[2, 20]);
-- # Build 4: IN with an array is no membership
SELECT 1 IN (ARRAY[1, 2]);
-- # Build 4: DISTINCT ON
SELECT DISTINCT ON (flag) flag, id FROM kinds ORDER BY flag, id DESC;
-- # Build 4: output names
SELECT count(*), 1 + 1, sum(n), 'x', n::int8, upper(label), max(n) + 1 FROM kinds GROUP BY n, label;
-- # Build 4: ties of ORDER BY
SELECT id, seats FROM bookings ORDER BY seats, id LIMIT 30;
-- # Build 4: to_char
SELECT to_char(moment, 'YYYY-MM-DD HH24:MI:SS'), to_char(moment, 'Mon YYYY'), to_char(moment, 'Dy'), to_char(price, '999D99'), to_char(n, 'S099') FROM kinds;
-- # Build 4: to_date
SELECT to_date('31.12.2023', 'DD.MM.YYYY'), to_date('2023-365', 'YYYY-DDD');
-- # Build 4: initcap
SELECT initcap('the QUICK brown-fox'), initcap(label) FROM kinds;
-- # Build 4: every
SELECT every(n > -100), every(n > 0) FROM kinds;
-- # Build 4: json operators
SELECT '{"a": [1, 2]}'::json -> 'a' ->> 0, '{"a": {"b": 1}}'::jsonb @> '{"a": {}}', doc -> 'a' FROM kinds;
-- # Build 4: json builders
SELECT json_build_object('n', n, 'l', label), jsonb_build_array(n, flag), to_jsonb(tags) FROM kinds;
-- # Build 4: array literals
SELECT '{1,2,NULL}'::int[], '{"a,b",c}'::text[], ARRAY[1, 2]::text[];
-- # Build 4: AT TIME ZONE
SELECT moment AT TIME ZONE 'Europe/Berlin', instant AT TIME ZONE 'Asia/Tokyo' FROM kinds;
-- # Build 4: LATERAL
SELECT k.id, x.s FROM kinds k, LATERAL (SELECT sum(amount) AS s FROM bookings b WHERE b.kind_id = k.id) AS x ORDER BY 1, 2;
-- # Build 4: windows
SELECT id, sum(n) OVER (PARTITION BY flag ORDER BY id), avg(n) OVER (PARTITION BY flag) FROM kinds;
-- # Build 4: grouping sets
SELECT flag, n % 2, count(*) FROM kinds GROUP BY GROUPING SETS ((flag, n % 2), (flag), ());
-- # Build 4: percentile_cont
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n), percentile_cont(0.3) WITHIN GROUP (ORDER BY price) FROM kinds;
-- # Build 4: stddev
SELECT stddev(n), stddev(price), stddev(ratio) FROM kinds;
-- # Why: the text '1' against an integer
SELECT count(*) FROM "Track" WHERE "GenreId" = '1';
-- # Why: a cast to date
SELECT CAST("InvoiceDate" AS date) FROM "Invoice";
-- # Why: LIKE and case
SELECT count(*) FROM "Track" WHERE "Name" LIKE 'a%';
-- # Why: dates and numbers
SELECT count(*) FROM "Invoice" WHERE "InvoiceDate"::date > date '2025-12-20' - 365;
-- # literals take the type PostgreSQL infers
SELECT 'a' = label, n = '6', day = '2020-06-12', flag = 't', price = '1.50', code = '00001eef-0000-4000-8000-000000000001', nums = '{1}', doc = '{}' FROM kinds;
-- # a number as text stays text
SELECT max(max_humidity), max(max_humidity::int) FROM weather WHERE max_humidity <> '';
-- # text is compared with text
SELECT count(*) FROM weather WHERE max_temperature_f > '80';
