// Lets the conformance suite talk to redask: `node --import start.mjs …/conformance/dist/index.js`.
//
// The suite calls the tools and resources of a server made for it. Where redask has one that does
// what the scenario is about, its name is put in place of the suite's: NAMES (JSON of the
// environment) has them. Nothing of what comes back is changed.
import { register } from "node:module";

register("./hooks.mjs", import.meta.url);

const { tools, resources } = JSON.parse(process.env.NAMES ?? '{"tools":{},"resources":{}}');

function translated(body) {
  const message = JSON.parse(body);
  const { method, params } = message;
  if (method === "tools/call" && tools[params.name])
    message.params = { ...params, ...tools[params.name] };
  if (method === "resources/read" && resources[params.uri])
    message.params = { ...params, uri: resources[params.uri] };
  return JSON.stringify(message);
}

const send = globalThis.fetch;
globalThis.fetch = (url, init) =>
  send(url, typeof init?.body === "string" ? { ...init, body: translated(init.body) } : init);
