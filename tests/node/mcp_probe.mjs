// The TypeScript SDK of MCP as an assistant uses it: reads every kind, gets every kind of error,
// cancels. Standard input is {url, token}; standard output what happened, as JSON.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { url, token } = JSON.parse(readFileSync(0, "utf8"));

async function connected(headers) {
  const client = new Client({ name: "probe", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

const failure = async (work) => {
  try {
    return { result: await work() };
  } catch (error) {
    return { code: error.code ?? null, message: error.message };
  }
};

const found = { refused: {} };
found.refused.nobody = await failure(() => connected({}));
found.refused.stranger = await failure(() => connected({ Authorization: "Bearer redask_x" }));

const client = await connected({ Authorization: `  Bearer   ${token}  ` });
const call = (name, args, more) => client.callTool({ name, arguments: args }, undefined, more);

const { tools } = await client.listTools(); // from here on results are checked by their schemas
found.tools = tools.map(({ name, title, annotations }) => ({ name, title, annotations }));
found.asked = (await call("redask_ask", { question: "When does the ferry leave?", options: { using: "scripted" } })).structuredContent;
found.explained = (await call("redask_explain", { question: "When does the ferry leave?", options: { using: "scripted", seed: "18446744073709551615" } })).structuredContent;
found.planned = (await call("redask_plan", { question: "How many notes are there?" })).structuredContent;
found.searched = (await call("redask_search", { question: "ferry" })).structuredContent;
found.selected = (await call("redask_select", { statement: "SELECT id FROM notes WHERE id >= $1 ORDER BY id", params: [1], max_rows: 1 })).structuredContent;
found.collections = (await call("redask_collections", {})).structuredContent;
found.source = (await call("redask_source", { urn: "urn:reddb:row:notes/1" })).structuredContent;

const { resources } = await client.listResources();
found.resources = resources.map(({ uri }) => uri);
found.templates = (await client.listResourceTemplates()).resourceTemplates.map((each) => each.uriTemplate);
const notes = (await client.readResource({ uri: "redask://collections/notes" })).contents[0].text;
found.notes = JSON.parse(notes);
found.completed = (await client.complete({
  ref: { type: "ref/resource", uri: "redask://collections/{collection}" },
  argument: { name: "collection", value: "no" },
})).completion.values;

const wrong = async (name, args) => {
  const result = await call(name, args);
  return [result.isError, JSON.parse(result.content[0].text).error.kind, "structuredContent" in result];
};
const asking = (options) => wrong("redask_ask", { question: "When does the ferry leave?", options });
found.errors = {
  bad: await asking({ limit: 0 }),
  denied: await asking({ collection: "secrets" }),
  ungrounded: await asking({ using: "openai" }),
  refused: await asking({ using: "groq" }),
  exhausted: await asking({ using: "together" }),
  late: await asking({ using: "venice" }),
  sql: await wrong("redask_select", { statement: "SELECT 1/0" }),
  hidden: await wrong("redask_source", { urn: "urn:reddb:row:secrets/1" }),
};
found.refused.tool = await failure(() => call("redask_drop", {}));
found.refused.resource = await failure(() => client.readResource({ uri: "urn:reddb:row:secrets/1" }));

const stop = new AbortController();
const pieces = [];
const endless = { question: "Does the ferry ever end?", options: { using: "anthropic" } };
found.cancelled = await failure(() =>
  call("redask_ask", endless, {
    signal: stop.signal,
    onprogress: ({ message }) => {
      pieces.push(message);
      if (pieces.length === 2) stop.abort("enough");
    },
  }),
);
found.pieces = pieces.length;
for (let count = 0; count < 500 && !found.ended; count++) {
  // still connected: it was the cancellation that ended the ask
  const [{ text }] = (await client.readResource({ uri: "redask://audit" })).contents;
  found.ended = JSON.parse(text).find(({ row }) => row.question === endless.question)?.row.errors;
  if (!found.ended) await new Promise((resolve) => setTimeout(resolve, 20));
}
console.log(JSON.stringify(found));
process.exit(0);
