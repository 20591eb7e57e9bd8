// What node-postgres, pg-cursor and pg-query-stream make of the tables of the shop: one line a fact.
// node cursor_probe.mjs PORT TOKEN BY_MONTH SLOW FAILING…
import pg from "pg";
import Cursor from "pg-cursor";
import QueryStream from "pg-query-stream";

const [port, password, byMonth, slow, ...failing] = process.argv.slice(2);
const config = { host: "127.0.0.1", port: Number(port), user: "mia", database: "local", password };
const say = (...words) => console.log(words.join(" "));
const client = new pg.Client(config);
await client.connect();
const bound = await client.query(
  "SELECT c.name, o.placed::text FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = $1", [2]);
say("bound", bound.rows[0].name, bound.rows[0].placed);
for (const row of (await client.query(byMonth)).rows) say("month", row.month, row.total);
const state = async (sql) => {
  try {
    await client.query(sql);
    return "none";
  } catch (error) {
    return error.code;
  }
};
for (const sql of failing) say("error", await state(sql));

const series = "SELECT n FROM generate_series(1, $1) AS n ORDER BY n";
const cursor = client.query(new Cursor(series, [25]));
for (let part = await cursor.read(10); part.length; part = await cursor.read(10)) {
  say("part", part.length, part[0].n, part.at(-1).n);
}
await cursor.close();
const left = client.query(new Cursor(series, [25]));
await left.read(2);
await left.close(); // and the rest is never asked for
const wrong = client.query(new Cursor("SELECT 10 / (3 - n) AS q FROM generate_series(1, $1) AS n", [5]));
say("wrong", await wrong.read(10).then(() => "none", (error) => error.code));
let sum = 0;
for await (const row of client.query(new QueryStream(series, [1000], { batchSize: 7 }))) sum += row.n;
say("stream", sum);
for await (const row of client.query(new QueryStream(series, [1000], { batchSize: 7 }))) {
  if (row.n === 3) break; // left in the middle
}

await client.query("SET statement_timeout = '300ms'");
say("timeout", await state(slow));
await client.query("RESET statement_timeout");
const running = new pg.Query(slow);
const ended = new Promise((resolve) => {
  running.on("error", (error) => resolve(error.code));
  running.on("end", () => resolve("none"));
});
client.query(running);
setTimeout(() => new pg.Client(config).cancel(client, running), 500);
say("cancelled", await ended);
say("after", (await client.query("SELECT 1 AS one")).rows[0].one);
await client.end();
