-- # Metabase: count by month
SELECT DATE_TRUNC('month', "public"."Invoice"."InvoiceDate") AS "InvoiceDate", COUNT(*) AS "count" FROM "public"."Invoice" GROUP BY DATE_TRUNC('month', "public"."Invoice"."InvoiceDate") ORDER BY DATE_TRUNC('month', "public"."Invoice"."InvoiceDate") ASC;
-- # Metabase: sum by week
SELECT (CAST(DATE_TRUNC('week', CAST("source"."InvoiceDate" AS timestamp) + INTERVAL '1 day') AS timestamp) + INTERVAL '-1 day') AS "InvoiceDate", SUM("source"."Total") AS "sum" FROM (SELECT "public"."Invoice"."InvoiceDate" AS "InvoiceDate", "public"."Invoice"."Total" AS "Total" FROM "public"."Invoice") AS "source" GROUP BY 1 ORDER BY 1 ASC LIMIT 10;
-- # Metabase: a filter that ignores case
SELECT "public"."Customer"."CustomerId" AS "CustomerId", "public"."Customer"."Email" AS "Email" FROM "public"."Customer" WHERE (LOWER("public"."Customer"."Email") LIKE '%gmail%') ORDER BY 1, 2 LIMIT 1048575;
-- # Metabase: distinct values of a field
SELECT "public"."Invoice"."BillingCountry" AS "BillingCountry" FROM "public"."Invoice" GROUP BY "public"."Invoice"."BillingCountry" ORDER BY "public"."Invoice"."BillingCountry" ASC LIMIT 1000;
-- # Metabase: fingerprints
SELECT SUBSTRING("public"."Track"."Name", 1, 1234) AS "substring1", "public"."Track"."Milliseconds" AS "Milliseconds" FROM "public"."Track" ORDER BY 1, 2 LIMIT 100;
-- # Metabase: bins
SELECT FLOOR((("public"."Invoice"."Total" - 0.0) / 3.75)) * 3.75 + 0.0 AS "Total", COUNT(*) AS "count" FROM "public"."Invoice" GROUP BY 1 ORDER BY 1 ASC, 2;
-- # Metabase: joined table
SELECT "Genre"."Name" AS "Genre__Name", AVG("public"."Track"."UnitPrice") AS "avg" FROM "public"."Track" LEFT JOIN "public"."Genre" AS "Genre" ON "public"."Track"."GenreId" = "Genre"."GenreId" GROUP BY "Genre"."Name" ORDER BY "avg" DESC, "Genre"."Name" ASC;
-- # Metabase: hour of day
SELECT EXTRACT(HOUR FROM "public"."bookings"."starts") AS "starts", COUNT(*) AS "count" FROM "public"."bookings" GROUP BY EXTRACT(HOUR FROM "public"."bookings"."starts") ORDER BY 1 ASC, 2;
-- # Metabase: a share
SELECT CAST(SUM(CASE WHEN "public"."Invoice"."Total" > 5 THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(COUNT(*) AS DOUBLE PRECISION), 0.0) AS "share" FROM "public"."Invoice";
-- # Metabase: standard deviation and variance
SELECT STDDEV_POP("public"."Track"."Milliseconds") AS "stddev", VAR_POP("public"."Track"."UnitPrice") AS "var" FROM "public"."Track";
-- # Metabase: case expression
SELECT CASE WHEN "public"."Invoice"."BillingCountry" = 'USA' THEN 'home' WHEN "public"."Invoice"."BillingCountry" IN ('Canada', 'Mexico') THEN 'near' ELSE 'far' END AS "zone", SUM("public"."Invoice"."Total") AS "sum" FROM "public"."Invoice" GROUP BY 1 ORDER BY 1, 2;
-- # Metabase: cumulative
SELECT "d", SUM("s") OVER (ORDER BY "d" ROWS UNBOUNDED PRECEDING) FROM (SELECT CAST("InvoiceDate" AS date) AS "d", SUM("Total") AS "s" FROM "Invoice" GROUP BY 1) AS x ORDER BY 1, 2;
-- # Tableau: sum with its own names
SELECT "Invoice"."BillingCountry" AS "BillingCountry", SUM("Invoice"."Total") AS "sum:Total:ok" FROM "public"."Invoice" "Invoice" GROUP BY 1 ORDER BY 1, 2;
-- # Tableau: truncated year
SELECT DATE_TRUNC( 'YEAR', CAST("Invoice"."InvoiceDate" AS TIMESTAMP) ) AS "tyr:InvoiceDate:ok", COUNT(DISTINCT "Invoice"."CustomerId") AS "ctd" FROM "public"."Invoice" "Invoice" GROUP BY 1 ORDER BY 1, 2;
-- # Tableau: year part
SELECT CAST(TRUNC(EXTRACT(YEAR FROM "Invoice"."InvoiceDate")) AS INTEGER) AS "yr:InvoiceDate:ok", SUM("Invoice"."Total") AS "s" FROM "public"."Invoice" "Invoice" GROUP BY 1 ORDER BY 1, 2;
-- # Tableau: a probe
SELECT COUNT(1) AS "cnt:Number of Records:ok" FROM "public"."Track" "Track" HAVING (COUNT(1) > 0);
-- # Tableau: top 10 of a set
SELECT "Invoice"."BillingCity" AS "c", SUM("Invoice"."Total") AS "s" FROM "public"."Invoice" "Invoice" INNER JOIN (SELECT "Invoice"."BillingCity" AS "x", SUM("Invoice"."Total") AS "y" FROM "public"."Invoice" "Invoice" GROUP BY 1 ORDER BY "y" DESC, "x" ASC LIMIT 10) "t0" ON ("Invoice"."BillingCity" = "t0"."x") GROUP BY 1 ORDER BY 2 DESC, 1;
-- # Tableau: week that starts on Sunday
SELECT (CAST("Invoice"."InvoiceDate" AS DATE) - (CAST(EXTRACT(DOW FROM "Invoice"."InvoiceDate") AS INTEGER)) * INTERVAL '1 DAY') AS "twk", COUNT(1) AS "n" FROM "public"."Invoice" "Invoice" GROUP BY 1 ORDER BY 1, 2 LIMIT 20;
-- # Tableau: filter by dates
SELECT SUM("Invoice"."Total") FROM "public"."Invoice" "Invoice" WHERE (("Invoice"."InvoiceDate" >= (TIMESTAMP '2022-01-01 00:00:00')) AND ("Invoice"."InvoiceDate" <= (TIMESTAMP '2022-12-31 23:59:59')));
-- # Superset: time series
SELECT DATE_TRUNC('month', "InvoiceDate") AS __timestamp, SUM("Total") AS "SUM(Total)" FROM public."Invoice" WHERE "InvoiceDate" >= TO_TIMESTAMP('2021-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND "InvoiceDate" < TO_TIMESTAMP('2023-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('month', "InvoiceDate") ORDER BY __timestamp, 2 LIMIT 10000;
-- # Superset: time series with a series limit
SELECT DATE_TRUNC('year', "InvoiceDate") AS __timestamp, "BillingCountry" AS "BillingCountry", SUM("Total") AS "SUM(Total)" FROM public."Invoice" JOIN (SELECT "BillingCountry" AS "BillingCountry__", SUM("Total") AS mme_inner__ FROM public."Invoice" GROUP BY "BillingCountry" ORDER BY mme_inner__ DESC, 1 LIMIT 5) AS series_limit ON "BillingCountry" = "BillingCountry__" GROUP BY DATE_TRUNC('year', "InvoiceDate"), "BillingCountry" ORDER BY 1, 2, 3 LIMIT 10000;
-- # Superset: virtual dataset
SELECT genre AS genre, COUNT(*) AS count FROM (SELECT g."Name" AS genre, t."TrackId" FROM "Track" t JOIN "Genre" g ON g."GenreId" = t."GenreId") AS virtual_table GROUP BY genre ORDER BY count DESC, genre LIMIT 100;
-- # Superset: count distinct and percent
SELECT "BillingCountry", COUNT(DISTINCT "CustomerId") AS "COUNT_DISTINCT(CustomerId)", MAX("Total") AS "MAX(Total)" FROM public."Invoice" GROUP BY "BillingCountry" ORDER BY 2 DESC, 1, 3 LIMIT 50;
-- # Superset: filter box
SELECT "status" AS "status" FROM public.bookings GROUP BY "status" ORDER BY "status" ASC LIMIT 1001;
-- # Grafana: time series in seconds
SELECT floor(extract(epoch from "InvoiceDate")/86400)*86400 AS "time", avg("Total") AS "Total" FROM "Invoice" WHERE extract(epoch from "InvoiceDate") >= 1609459200 AND extract(epoch from "InvoiceDate") <= 1640995200 GROUP BY 1 ORDER BY 1, 2;
-- # Grafana: time groups
SELECT floor(extract(epoch from starts)/2592000)*2592000 AS "time", coalesce(status, 'none') AS metric, sum(amount) AS "amount" FROM bookings WHERE starts BETWEEN '2022-01-01T00:00:00Z' AND '2023-12-31T23:59:59Z' GROUP BY time, metric ORDER BY 1, 2, 3;
-- # Grafana: to_timestamp
SELECT to_timestamp(floor(extract(epoch from instant)/86400)*86400) AS time, max(ratio) AS value FROM kinds WHERE instant IS NOT NULL GROUP BY 1 ORDER BY 1, 2;
-- # Grafana: last value
SELECT "InvoiceDate" AS "time", "Total" FROM "Invoice" ORDER BY "InvoiceDate" DESC, "Total" LIMIT 1;
-- # Power BI: preview
select "$Table"."InvoiceId" as "InvoiceId", "$Table"."Total" as "Total" from "public"."Invoice" "$Table" order by 1, 2 limit 1000;
-- # Power BI: grouped with renamed rows
select "rows"."BillingCountry" as "BillingCountry", sum("rows"."Total") as "a0" from ( select "BillingCountry", "Total" from "public"."Invoice" "$Table" ) "rows" group by "BillingCountry" order by 1, 2 limit 1000001;
-- # Power BI: NULL-safe join
select "$Outer"."BillingCountry", "$Inner"."n" from (select distinct "BillingState", "BillingCountry" from "public"."Invoice") "$Outer" left outer join (select "BillingState", count(1) as "n" from "public"."Invoice" group by 1) "$Inner" on ("$Outer"."BillingState" = "$Inner"."BillingState" or "$Outer"."BillingState" is null and "$Inner"."BillingState" is null) order by 1, 2;
-- # Power BI: having
select "_"."BillingCity", "_"."a0" from (select "BillingCity", sum("Total") as "a0" from "public"."Invoice" group by "BillingCity") "_" where not "_"."a0" is null and "_"."a0" > 50 order by 1, 2;
-- # Looker: dimensions and measures
SELECT TO_CHAR(DATE_TRUNC('month', "Invoice"."InvoiceDate"), 'YYYY-MM') AS "invoice.month", COALESCE(SUM("Invoice"."Total"), 0) AS "invoice.total" FROM public."Invoice" AS "Invoice" WHERE (("Invoice"."InvoiceDate") >= (TIMESTAMP '2021-01-01') AND ("Invoice"."InvoiceDate") < (TIMESTAMP '2022-01-01')) GROUP BY (DATE_TRUNC('month', "Invoice"."InvoiceDate")) ORDER BY 1 DESC, 2 FETCH NEXT 500 ROWS ONLY;
-- # Looker: symmetric aggregate
SELECT COALESCE(COALESCE(CAST(SUM(DISTINCT (CAST(FLOOR(COALESCE(i."Total", 0) * (1000000 * 1.0)) AS DECIMAL(38,0))) + i."InvoiceId" * 1000000000000::numeric) - SUM(DISTINCT i."InvoiceId" * 1000000000000::numeric) AS DOUBLE PRECISION) / CAST((1000000 * 1.0) AS DOUBLE PRECISION), 0), 0) AS "total" FROM "Invoice" i JOIN "InvoiceLine" l USING ("InvoiceId");
-- # Looker: tiers
SELECT CASE WHEN "Total" < 2 THEN 'Below 2' WHEN "Total" >= 2 AND "Total" < 10 THEN '2 to 9' WHEN "Total" >= 10 THEN '10 or Above' ELSE 'Undefined' END AS "tier", COUNT(*) AS "count" FROM "Invoice" GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 500;
-- # Looker: yes or no
SELECT CASE WHEN "Company" IS NOT NULL THEN 'Yes' ELSE 'No' END AS "is_company", COUNT(DISTINCT "CustomerId") FROM "Customer" GROUP BY 1 ORDER BY 1, 2;
-- # SQLAlchemy: labels
SELECT anon_1."Track_Name", anon_1."Track_Milliseconds" FROM (SELECT "Track"."Name" AS "Track_Name", "Track"."Milliseconds" AS "Track_Milliseconds" FROM "Track" WHERE "Track"."GenreId" IN (1, 2) ORDER BY "Track"."Milliseconds" DESC, "Track"."TrackId" LIMIT 5 OFFSET 1) AS anon_1 ORDER BY 1, 2;
-- # SQLAlchemy: parameters
-- params: [1, 5, 0]
SELECT "Track"."TrackId", "Track"."Name" FROM "Track" WHERE "Track"."GenreId" = $1::INTEGER ORDER BY "Track"."TrackId", "Track"."Name" LIMIT $2::INTEGER OFFSET $3::INTEGER;
-- # Django: existence
SELECT (1) AS "a" FROM "Genre" WHERE "Genre"."Name" = 'Rock' LIMIT 1;
-- # Django: upper of icontains
SELECT "Artist"."ArtistId" FROM "Artist" WHERE UPPER("Artist"."Name"::text) LIKE UPPER('%metal%') ORDER BY 1;
-- # dbt: unique test
select count(*) as failures, count(*) != 0 as should_warn, count(*) != 0 as should_error from ( select "TrackId" as unique_field, count(*) as n_records from "Track" where "TrackId" is not null group by "TrackId" having count(*) > 1 ) dbt_internal_test;
-- # dbt: accepted values
with all_values as ( select status as value_field, count(*) as n_records from bookings group by status ) select * from all_values where value_field not in ('open','paid') order by 1, 2;
-- # cohorts
WITH first AS (SELECT "CustomerId", date_trunc('year', min("InvoiceDate")) AS cohort FROM "Invoice" GROUP BY 1) SELECT cohort, extract(year FROM age(date_trunc('year', i."InvoiceDate"), cohort)) AS years, count(DISTINCT i."CustomerId") FROM first f JOIN "Invoice" i USING ("CustomerId") GROUP BY 1, 2 ORDER BY 1, 2, 3;
-- # pivot by FILTER
SELECT extract(year FROM "InvoiceDate")::int AS year, sum("Total") FILTER (WHERE "BillingCountry" = 'USA') AS usa, sum("Total") FILTER (WHERE "BillingCountry" = 'Germany') AS germany FROM "Invoice" GROUP BY 1 ORDER BY 1, 2, 3;
-- # Pareto
SELECT "CustomerId", total, round(100 * sum(total) OVER (ORDER BY total DESC, "CustomerId") / sum(total) OVER (), 2) AS cumulative FROM (SELECT "CustomerId", sum("Total") AS total FROM "Invoice" GROUP BY 1) t ORDER BY total DESC, 1, 3;
-- # gaps filled
SELECT m::date AS month, coalesce(sum("Total"), 0) AS total FROM generate_series('2021-01-01'::timestamp, '2021-12-01', '1 month') AS m LEFT JOIN "Invoice" ON date_trunc('month', "InvoiceDate") = m AND "BillingCountry" = 'Norway' GROUP BY 1 ORDER BY 1, 2;
-- # customers who bought in every year
SELECT "CustomerId" FROM "Invoice" GROUP BY 1 HAVING count(DISTINCT extract(year FROM "InvoiceDate")) = 5 ORDER BY 1;
-- # tracks never sold
SELECT count(*) FROM "Track" t LEFT JOIN "InvoiceLine" l USING ("TrackId") WHERE l."InvoiceLineId" IS NULL;
-- # median by group
SELECT g."Name", percentile_disc(0.5) WITHIN GROUP (ORDER BY t."Milliseconds") FROM "Track" t JOIN "Genre" g USING ("GenreId") GROUP BY 1 ORDER BY 1, 2;
-- # seconds as minutes
SELECT "TrackId", ("Milliseconds" / 1000) / 60 || ':' || lpad((("Milliseconds" / 1000) % 60)::text, 2, '0') AS length FROM "Track" WHERE "TrackId" <= 15 ORDER BY 1, 2;
-- # weekday names
SELECT to_char("InvoiceDate", 'FMDay') AS weekday, count(*) FROM "Invoice" GROUP BY 1, extract(isodow FROM "InvoiceDate") ORDER BY extract(isodow FROM "InvoiceDate"), 1, 2;
-- # last 12 months of the data
SELECT date_trunc('month', "InvoiceDate") AS m, sum("Total") FROM "Invoice" WHERE "InvoiceDate" > (SELECT max("InvoiceDate") FROM "Invoice") - interval '12 months' GROUP BY 1 ORDER BY 1, 2;
