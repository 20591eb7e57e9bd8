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
const models = got(await client.GET("/v1/models"));
const model = got(
  await client.GET("/v1/models/{model}", { params: { path: { model: models.data[0].id } } }),
);
const chat = got(
  await client.POST("/v1/chat/completions", {
    body: {
      model: model.id,
      messages: [{ role: "user", content: question }],
      redask: { options: { using: "scripted" } },
    },
  }),
);
if (!("usage" in chat)) throw new Error("a chunk of a stream, which was not asked for");
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
const chain = got(await client.GET("/v1/audit/verify", { params: { query: { log: "ask" } } }));
const collections = got(await client.GET("/v1/collections"));
const table = got(
  await client.POST("/v1/select", { body: { statement: "SELECT id, name FROM islands" } }),
);
const ingested = got(
  await client.POST("/v1/ingest", { body: { name: "note.md", content: btoa("# Note\n\nMoin.\n") } }),
);
const name = { params: { path: { collection: "islands" } } };
const policy = { read: [{ roles: ["*"], show: ["name"] }] };
const previewed = got(
  await client.POST("/v1/policies/{collection}/preview", {
    ...name,
    body: { role: "guest", policy, sample: 1 },
  }),
);
const set = got(await client.PUT("/v1/policies/{collection}", { ...name, body: { policy } }));
const policies = got(await client.GET("/v1/policies"));
got(await client.PUT("/v1/policies/{collection}", { ...name, body: { policy: null } }));
const users = got(await client.GET("/v1/users"));
const session = got(await client.GET("/v1/session"));
const begun = got(await client.POST("/v1/session"));
const ended = got(await client.DELETE("/v1/session"));
const health = got(await client.GET("/healthz"));
const readiness = await client.GET("/readyz");
const metrics = got(await client.GET("/metrics", { parseAs: "text" }));
const document = got(await client.GET("/openapi.json"));
const bad = await client.POST("/v1/ask", { body: { question, options: { limit: 0 } } });

const first = audit.rows[0].row;

console.log(
  JSON.stringify({
    written: written.urns,
    answer: answer.citations.map(({ marker }) => marker),
    chat: [models.data[0].id, model.id, chat.model, JSON.stringify(chat).includes("[^1]")],
    plan: plan.fusion.limit,
    found: found.hits.length,
    rows: rows.rows,
    source: source.payload,
    audit: "question" in first ? first.question : null,
    chain: chain.ok,
    collection: collections.collections.some(({ name }) => name === "islands"),
    table: table.rows,
    ingested: ingested.written > 0,
    previewed: previewed.rows,
    set: set.collection,
    policies: Object.keys(policies.policies).includes("islands"),
    users: users.users.some(({ name }) => name === "olga"),
    session: [session.user, begun.signed_in, ended.signed_in],
    health: health.status,
    ready: readiness.response.status,
    metrics: metrics.includes("redask_asks_total"),
    document: Object.keys(document).includes("openapi"),
    bad: bad.error?.error.kind,
  }),
);
