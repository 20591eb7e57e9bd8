// A client generated from /openapi.json drives every route; schema.d.ts is made beside this file.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

declare const process: { argv: string[] };
type Answer = components["schemas"]["Answer"];

const [baseUrl, token] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

function got<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const question = "When does the ferry leave?";
const written = got(
  await client.PUT("/v1/collections/{collection}/entities", {
    params: { path: { collection: "islands" } },
    body: { rows: [{ id: 1, name: "Amrum" }], kind: "row" },
  }),
);
const whole = got(
  await client.POST("/v1/ask", { body: { question, options: { using: "scripted" } } }),
);
if (!("answer" in whole)) throw new Error("a frame of a stream, which was not asked for");
const answer: Answer = whole;
const plan = got(await client.POST("/v1/explain", { body: { question, options: { limit: 3 } } }));
const found = got(await client.POST("/v1/search", { body: { question, options: {} } }));
const rows = got(
  await client.POST("/v1/query", {
    body: { statement: "SELECT name FROM islands WHERE id = $1", params: [1] },
  }),
);
const source = got(
  await client.GET("/v1/sources/{urn}", { params: { path: { urn: written.urns[0] } } }),
);
const audit = got(await client.GET("/v1/audit", { params: { query: { limit: 1 } } }));
const health = got(await client.GET("/healthz"));
const metrics = got(await client.GET("/metrics", { parseAs: "text" }));
const document = got(await client.GET("/openapi.json"));
const bad = await client.POST("/v1/ask", { body: { question, options: { limit: 0 } } });

console.log(
  JSON.stringify({
    written: written.urns,
    answer: answer.citations.map(({ marker }) => marker),
    plan: plan.fusion.limit,
    found: found.hits.length,
    rows: rows.rows,
    source: source.payload,
    audit: audit.rows[0].row.question,
    health: health.status,
    metrics: metrics.includes("redask_asks_total"),
    document: Object.keys(document).includes("openapi"),
    bad: bad.error?.error.kind,
  }),
);
