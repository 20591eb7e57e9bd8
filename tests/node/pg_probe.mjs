// What node-postgres makes of the Postgres wire transport, as one JSON object on standard output.
// node pg_probe.mjs < {"config": {…}, "question": "…", "failing": [[sql, params]]}
import { readFileSync } from "node:fs";
import pg from "pg";

const given = JSON.parse(readFileSync(0, "utf8"));
const said = {};
const connect = async (more = {}) => {
  const client = new pg.Client({ ...given.config, ...more });
  await client.connect();
  return client;
};
const heard = (found) => ({
  columns: found.fields.map((field) => [field.name, field.dataTypeID]),
  rows: found.rows,
  command: found.command,
});
const state = async (work) => {
  try {
    await work();
    return "no error";
  } catch (error) {
    return error.code;
  }
};

let client = await connect();
said.ask = heard(await client.query("ASK $1 USING scripted LIMIT 2", [given.question]));
const named = { name: "again", text: "ASK $1 USING scripted LIMIT 2", values: [given.question] };
await client.query(named);
said.prepared = heard(await client.query(named));
said.plan = heard(await client.query("EXPLAIN ASK $1", [given.question]));
said.select = heard(await client.query("SELECT id, title FROM notes WHERE id = $1", [2]));
said.text = heard(await client.query("SELECT id, title FROM notes WHERE id = $1", ["2"]));
said.simple = (await client.query("SELECT 1 AS one; SELECT 2 AS two")).map((each) => each.rows);
said.states = [];
for (const [sql, params] of given.failing) {
  said.states.push(await state(() => client.query(sql, params)));
}
const slow = new pg.Query("ASK 'ferry, cancelled by node' USING anthropic");
const ended = new Promise((resolve) => {
  slow.on("error", (error) => resolve(error.code));
  slow.on("end", () => resolve("no error"));
});
client.query(slow);
setTimeout(() => new pg.Client(given.config).cancel(client, slow), 400);
said.cancelled = await ended;
said.after = (await client.query("SELECT 3 AS three")).rows;
await client.end();
client = await connect();
said.again = (await client.query("SELECT 4 AS four")).rows;
await client.end();
said.stranger = await state(() => connect({ password: "nobody" }));
const pool = new pg.Pool({ ...given.config, max: 3 });
const counted = await Promise.all([1, 2, 3, 4, 5].map((n) => pool.query("SELECT $1::int AS n", [n])));
said.pool = counted.map((each) => each.rows[0].n);
await pool.end();
process.stdout.write(JSON.stringify(said));
