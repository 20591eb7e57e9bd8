-- params: [1]
SELECT "Name" FROM "Genre" WHERE "GenreId" = $1;
-- params: ["1"]
SELECT count(*) FROM "Track" WHERE "GenreId" = $1;
-- params: ["Rock"]
SELECT "GenreId" FROM "Genre" WHERE "Name" = $1;
-- params: [1, 3]
SELECT "Name" FROM "Genre" WHERE "GenreId" BETWEEN $1 AND $2 ORDER BY 1;
-- params: [5, 2]
SELECT "Name" FROM "Genre" ORDER BY "Name" LIMIT $1 OFFSET $2;
-- params: [[1, 2, 3]]
SELECT "Name" FROM "Genre" WHERE "GenreId" = ANY($1) ORDER BY 1;
-- params: [["Rock", "Jazz", null]]
SELECT "GenreId" FROM "Genre" WHERE "Name" = ANY($1) ORDER BY 1;
-- params: [[1, 2]]
SELECT count(*) FROM "Genre" WHERE "GenreId" <> ALL($1);
-- params: ["2022-01-01", "2022-12-31"]
SELECT count(*) FROM "Invoice" WHERE "InvoiceDate" BETWEEN $1 AND $2;
-- params: ["2022-01-01"]
SELECT count(*) FROM "Invoice" WHERE "InvoiceDate"::date = $1;
-- params: ["2022-01-01"]
SELECT count(*) FROM "Invoice" WHERE "InvoiceDate" >= $1::date;
-- params: [5]
SELECT count(*) FROM "Invoice" WHERE "Total" > $1;
-- params: ["5.94"]
SELECT count(*) FROM "Invoice" WHERE "Total" = $1;
-- params: ["a%"]
SELECT count(*) FROM "Track" WHERE "Name" LIKE $1;
-- params: ["love"]
SELECT count(*) FROM "Track" WHERE "Name" ILIKE '%' || $1 || '%';
-- params: ["a"]
SELECT $1;
-- params: ["a"]
SELECT $1::text;
-- params: [3]
SELECT $1::int + 1;
-- params: [3]
SELECT $1 + 1;
-- params: [3, 4]
SELECT $1::int * $2;
-- params: ["1.5"]
SELECT $1 * 2.0, $1 + 1;
-- params: [2]
-- types: ["int8"]
SELECT $1, $1 + 1, $1 / 3;
-- params: [2]
-- types: ["float8"]
SELECT $1, $1 + 1, $1 / 3;
-- params: ["2.50"]
-- types: ["numeric"]
SELECT $1, $1 + 1, $1 / 3;
-- params: ["x"]
-- types: ["varchar"]
SELECT $1, $1 || 'y';
-- params: [null]
SELECT $1::int IS NULL, coalesce($1, 7);
-- params: [true]
SELECT id FROM kinds WHERE flag = $1 ORDER BY id;
-- params: [true]
SELECT count(*) FROM kinds WHERE $1;
-- params: [null]
SELECT count(*) FROM kinds WHERE label = $1;
-- params: [null, "x"]
SELECT coalesce($1, $2), coalesce(label, $2) FROM kinds WHERE id < 12;
-- params: ["red"]
SELECT id FROM kinds WHERE $1 = ANY(tags) ORDER BY id;
-- params: [10]
SELECT id FROM kinds WHERE nums @> ARRAY[$1::int] ORDER BY id;
-- params: [[10]]
SELECT id FROM kinds WHERE nums @> $1 ORDER BY id;
-- params: ["1 month"]
SELECT date '2024-01-31' + $1::interval;
-- params: ["2024-06-01"]
SELECT count(*) FROM bookings WHERE starts < $1 AND coalesce(ends, $1) >= $1;
-- params: ["month"]
SELECT date_trunc($1, moment) FROM kinds WHERE id < 5;
-- params: ["name"]
SELECT doc ->> $1 FROM kinds;
-- params: [1, 2, 3]
SELECT id FROM kinds WHERE id IN ($1, $2, $3) ORDER BY id;
-- params: ["paid", "open"]
SELECT count(*) FROM bookings WHERE status IN ($1, $2);
-- params: [3, "zero"]
SELECT CASE WHEN n = $1 THEN $2 ELSE label END FROM kinds;
-- params: ["00001eef-0000-4000-8000-000000000001"]
SELECT id FROM kinds WHERE code = $1;
-- params: [10, 20]
SELECT * FROM generate_series($1::int, $2::int, 5);
-- params: [2]
SELECT round(price, $1) FROM kinds WHERE id < 5;
-- params: [1, 2]
SELECT n + $1, n * $2, price * $1, ratio * $2 FROM kinds WHERE id < 5;
-- params: ["12:00"]
SELECT count(*) FROM kinds WHERE clock < $1;
-- params: [7]
SELECT max(n) + $1, sum(n) FILTER (WHERE n > $1) FROM kinds;
-- params: [2]
SELECT flag, count(*) FROM kinds GROUP BY flag HAVING count(*) > $1 ORDER BY 1, 2;
-- params: ["x", "y"]
SELECT $1 AS a UNION SELECT $2 ORDER BY 1;
-- params: [2]
SELECT substr(word, $1), left(word, $1) FROM words;
-- params: [1]
SELECT $1::text, $1::int;
-- params: ["abc"]
SELECT count(*) FROM "Track" WHERE "GenreId" = $1;
-- params: ["2022-13-01"]
SELECT count(*) FROM "Invoice" WHERE "InvoiceDate" = $1;
-- params: [1]
SELECT $2::int;
-- params: []
SELECT $1::int;
