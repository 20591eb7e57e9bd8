SELECT id FROM kinds ORDER BY id LIMIT 5;
SELECT id FROM kinds ORDER BY id DESC LIMIT 5 OFFSET 3;
SELECT id FROM kinds ORDER BY id OFFSET 37;
SELECT id FROM kinds ORDER BY id FETCH FIRST 3 ROWS ONLY;
SELECT id FROM kinds ORDER BY id OFFSET 2 ROWS FETCH NEXT 1 ROW ONLY;
-- ordered
SELECT seats FROM bookings ORDER BY seats FETCH FIRST 3 ROWS WITH TIES;
SELECT id FROM kinds ORDER BY id LIMIT 0;
SELECT id FROM kinds ORDER BY id LIMIT ALL;
SELECT id FROM kinds ORDER BY id LIMIT NULL OFFSET 38;
SELECT id FROM kinds ORDER BY id LIMIT 1 + 1;
SELECT id FROM kinds ORDER BY id LIMIT (SELECT count(*) FROM roads);
SELECT label, id FROM kinds ORDER BY label, id;
SELECT label, id FROM kinds ORDER BY label DESC, id DESC;
-- ordered
SELECT id FROM kinds ORDER BY label, id;
-- ordered
SELECT id FROM kinds ORDER BY lower(label), id;
-- ordered
SELECT id FROM kinds ORDER BY n % 5, -id;
-- ordered
SELECT id FROM kinds ORDER BY flag, price DESC NULLS LAST, id;
-- ordered
SELECT id FROM kinds ORDER BY ratio, id;
-- ordered
SELECT id FROM kinds ORDER BY day NULLS FIRST, id;
-- ordered
SELECT id FROM kinds ORDER BY code, id;
-- ordered
SELECT id FROM kinds ORDER BY doc, id;
-- ordered
SELECT id FROM kinds ORDER BY tags, id;
-- ordered
SELECT id FROM kinds ORDER BY clock DESC, id;
-- ordered
SELECT id FROM kinds ORDER BY instant USING <, id;
-- ordered
SELECT id FROM kinds ORDER BY moment - '2020-01-01', id;
-- ordered
SELECT id FROM kinds ORDER BY CASE WHEN flag THEN 0 ELSE 1 END, id;
-- ordered
SELECT n AS x, id FROM kinds ORDER BY x, id;
SELECT -id AS id FROM kinds ORDER BY id;
-- ordered
SELECT -id AS id FROM kinds ORDER BY kinds.id;
-- ordered
SELECT -id AS id FROM kinds ORDER BY id + 0;
SELECT n AS id FROM kinds ORDER BY id;
SELECT id, n FROM kinds ORDER BY 2, 1;
SELECT id, n FROM kinds ORDER BY 2 DESC, 1 DESC;
SELECT word FROM words ORDER BY word;
SELECT word FROM words ORDER BY word DESC;
-- ordered
SELECT word FROM words ORDER BY word COLLATE "C", id;
-- ordered
SELECT word FROM words ORDER BY length(word) DESC NULLS LAST, word;
-- ordered
SELECT "Name" FROM "Track" ORDER BY "Milliseconds" DESC, "TrackId" LIMIT 10;
-- ordered
SELECT "Name" FROM "Track" ORDER BY "Name", "TrackId" LIMIT 40;
-- ordered
SELECT "LastName", "FirstName" FROM "Customer" ORDER BY "Country", "LastName";
-- ordered
SELECT "BillingCountry", sum("Total") FROM "Invoice" GROUP BY 1 ORDER BY sum("Total") DESC, "BillingCountry" LIMIT 5;
-- ordered
SELECT "BillingCountry" FROM "Invoice" GROUP BY "BillingCountry" ORDER BY count(*) DESC, max("Total"), "BillingCountry";
-- ordered
SELECT * FROM (SELECT id FROM kinds ORDER BY id DESC LIMIT 3) AS t ORDER BY id;
-- ordered
SELECT DISTINCT n FROM kinds ORDER BY n DESC NULLS LAST;
-- ordered
SELECT id FROM (VALUES (1, NULL), (2, 'a'), (3, 'B'), (4, '')) AS t(id, x) ORDER BY x, id;
-- ordered
SELECT x FROM (VALUES (1.0), (1.00), (0.5), ('NaN'::numeric)) AS t(x) ORDER BY x, x::text;
-- ordered
SELECT x FROM (VALUES ('NaN'::float8), (1), ('-Infinity'), ('Infinity'), (NULL)) AS t(x) ORDER BY x;
-- ordered
SELECT x FROM (VALUES (interval '1 month'), ('29 days'), ('31 days'), ('-1 hour')) AS t(x) ORDER BY x;
-- ordered
SELECT x FROM (VALUES (true), (false), (NULL)) AS t(x) ORDER BY x DESC;
