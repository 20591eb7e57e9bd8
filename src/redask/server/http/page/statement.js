// An ask as others write it: the ASK statement, a call by curl, Python.

const text = (value) => `'${String(value).replaceAll("'", "''")}'`;
const name = (value) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(value) ? value : `"${value.replaceAll('"', '""')}"`);
const CLAUSES = {
  using: (value) => `USING ${text(value)}`,
  model: (value) => `MODEL ${text(value)}`,
  collection: (value) => `COLLECTION ${[value].flat().map(name).join(", ")}`,
  limit: (value) => `LIMIT ${value}`,
  min_score: (value) => `MIN_SCORE ${value}`,
  depth: (value) => `DEPTH ${value}`,
  strict: (value) => `STRICT ${{ true: "ON", false: "OFF", supported: "SUPPORTED" }[value]}`,
  temperature: (value) => `TEMPERATURE ${value}`,
  seed: (value) => `SEED ${value}`,
  cache: (value) => `CACHE TTL ${text(value.ttl)}`,
  nocache: (value) => (value ? "NOCACHE" : ""),
  plan: (value) => `PLAN ${String(value).toUpperCase()}`,
  steps: (value) => `STEPS ${value}`,
  evidence: (value) => (value ? "EVIDENCE" : ""),
};

// A history stands in no statement.
export function askStatement(question, options) {
  const clauses = Object.entries(options).filter(([key]) => CLAUSES[key]).map(([key, value]) => CLAUSES[key](value));
  return ["ASK " + text(question), ...clauses].filter(Boolean).join("\n  ");
}

export function curlCall(question, options) {
  const body = JSON.stringify({ question, options }).replaceAll("'", "'\\''");
  return `curl -s ${location.origin}/v1/ask \\\n  -H "Authorization: Bearer $REDASK_TOKEN" -H "Content-Type: application/json" \\\n  -d '${body}'`;
}

export function pythonCall(question, options) {
  const given = Object.entries(options).map(([key, value]) => `, ${key}=${python(value)}`).join("");
  return `import redask\n\nwith redask.open("redask-data") as db:\n    print(db.ask(${python(question)}${given}))\n`;
}

function python(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([key, each]) => `${python(key)}: ${python(each)}`).join(", ")}}`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
