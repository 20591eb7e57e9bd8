// The calls of the page: the same routes that every client has, signed in by the session's cookie.

const PAGE = { "X-Redask-Page": "1" };

export class Failed extends Error {
  constructor(status, kind, message, validation = null) {
    super(message);
    this.status = status;
    this.kind = kind;
    this.validation = validation;
  }
}

let whenSignedOut = () => {};

export function onSignedOut(act) {
  whenSignedOut = act;
}

// The JSON of a reply; `Failed` for an error.
export async function call(method, path, body, more = {}) {
  const reply = await sent(method, path, body, more);
  return reply.json();
}

async function sent(method, path, body, { signal, headers = {} } = {}) {
  const given = { ...PAGE, ...headers };
  if (body !== undefined) given["Content-Type"] = "application/json";
  let reply;
  try {
    reply = await fetch(path, {
      method,
      headers: given,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      redirect: "error",
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failed(0, "unreachable", "the server cannot be reached");
  }
  if (!reply.ok) throw await failure(reply);
  return reply;
}

async function failure(reply) {
  let told = {};
  try {
    told = await reply.json();
  } catch {
    // no JSON: the status says it
  }
  const error = told.error ?? { kind: "internal", message: `status ${reply.status}` };
  if (reply.status === 401) whenSignedOut();
  return new Failed(reply.status, error.kind, error.message, told.validation ?? null);
}

// Ask with a stream: `hear(name, payload)` gets every frame.
export async function stream(body, hear, signal) {
  const reply = await sent("POST", "/v1/ask", { ...body, stream: true }, { signal });
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    held += value;
    let end;
    while ((end = held.indexOf("\n\n")) >= 0) {
      const frame = framed(held.slice(0, end));
      held = held.slice(end + 2);
      if (frame) hear(frame.name, frame.payload);
    }
  }
}

function framed(block) {
  let name = "";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return name ? { name, payload: JSON.parse(data.join("\n")) } : null;
}

export function select(statement, params = [], maxRows = 100, signal) {
  return call("POST", "/v1/select", { statement, params, max_rows: maxRows }, { signal });
}

// A source by its URN, or null.
export async function source(urn) {
  try {
    return await call("GET", `/v1/sources/${encodeURIComponent(urn)}`);
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

// Send a file in base64, telling how much of it is sent; `fetch` does not tell that.
export function sendFile(body, told) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/v1/ingest");
    request.setRequestHeader("Content-Type", "application/json");
    for (const [name, value] of Object.entries(PAGE)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => told(event.loaded, event.total));
    request.addEventListener("error", () => {
      reject(new Failed(0, "unreachable", "the server cannot be reached"));
    });
    request.addEventListener("load", () => {
      let answer = {};
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        // no JSON: the status says it
      }
      if (request.status === 200) return resolve(answer);
      const error = answer.error ?? { kind: "internal", message: `status ${request.status}` };
      if (request.status === 401) whenSignedOut();
      return reject(new Failed(request.status, error.kind, error.message));
    });
    request.send(JSON.stringify(body));
  });
}
